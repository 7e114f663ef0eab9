// Lays graphs out beside the page: hundreds of boxes take a while, and the page answers meanwhile.

import type { Shape } from './graph.ts';
import { layOut } from './graph-layout.ts';

const page = globalThis as unknown as Worker;

page.addEventListener('message', ({ data }: MessageEvent<Shape>) => {
  page.postMessage(layOut(data), []);
});

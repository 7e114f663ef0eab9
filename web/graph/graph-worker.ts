// Computes layouts in a worker: hundreds of boxes take a while, and the page stays responsive.

import type { GraphShape } from './graph.ts';
import { layOut } from './graph-layout.ts';

const page = globalThis as unknown as Worker;

page.addEventListener('message', ({ data }: MessageEvent<GraphShape>) => {
  page.postMessage(layOut(data), []);
});

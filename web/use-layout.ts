// The layout of a shape, made by a worker. What was laid out last stays until the next is there.

import { useEffect, useMemo, useRef, useState } from 'react';
import type { Shape } from './graph.ts';
import type { Layout } from './graph-layout.ts';

/** Null until the first is there. */
export function useLayout(shape: Shape): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  // The same shape in another object is no reason to begin anew.
  const text = useMemo(() => JSON.stringify(shape), [shape]);
  const worker = useRef<Worker | null>(null);
  useEffect(() => {
    const started = new Worker(new URL('graph-worker.ts', import.meta.url), { type: 'module' });
    started.addEventListener('message', ({ data }: MessageEvent<Layout>) => setLayout(data));
    worker.current = started;
    return () => started.terminate();
  }, []);
  // One worker answers in the order in which it is asked, so the last answer is about the last shape.
  useEffect(() => worker.current?.postMessage(JSON.parse(text)), [text]);
  return layout;
}

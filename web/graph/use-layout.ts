// The layout of a shape, computed by a worker. The last layout stays until the next is ready.

import { useEffect, useMemo, useRef, useState } from 'react';
import type { GraphShape } from './graph.ts';
import type { Layout } from './graph-layout.ts';

/** Null until the first layout is ready. */
export function useLayout(shape: GraphShape): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  // An equal shape in another object is no reason to compute the layout again.
  const text = useMemo(() => JSON.stringify(shape), [shape]);
  const worker = useRef<Worker | null>(null);
  useEffect(() => {
    const started = new Worker(new URL('graph-worker.ts', import.meta.url), { type: 'module' });
    started.addEventListener('message', ({ data }: MessageEvent<Layout>) => setLayout(data));
    worker.current = started;
    return () => started.terminate();
  }, []);
  // One worker answers in the order of its messages, so the last answer is about the last shape.
  useEffect(() => worker.current?.postMessage(JSON.parse(text)), [text]);
  return layout;
}

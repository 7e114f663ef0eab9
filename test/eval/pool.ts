// Experiments on all cores; they do not depend on each other.

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Generator, Outcome } from './experiment.ts';

export type Task = { readonly generator: Generator; readonly seed: number };

export async function runAll(tasks: readonly Task[], onOutcome: (outcome: Outcome) => void): Promise<void> {
  const left = [...tasks];
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('worker.ts', import.meta.url));
    try {
      for (let task = left.shift(); task !== undefined; task = left.shift())
        onOutcome(await ask(worker, task));
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(tasks.length, availableParallelism()) }, work));
}

const ask = (worker: Worker, task: Task): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (outcome: Outcome) => {
      worker.off('error', reject);
      resolve(outcome);
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(task);
  });

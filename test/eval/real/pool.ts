// Experiments on all cores; they do not depend on each other.

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { RealOutcome, RealTask } from './experiment.ts';

export async function runReals(
  tasks: readonly RealTask[],
  onOutcome: (outcome: RealOutcome) => void,
): Promise<void> {
  const left = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = left.shift(); task !== undefined; task = left.shift()) onOutcome(await runInThread(task));
  };
  await Promise.all(Array.from({ length: Math.min(tasks.length, availableParallelism()) }, work));
}

/** A thread for each: what one replay held is freed with it. */
const runInThread = (task: RealTask): Promise<RealOutcome> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: task });
    worker.once('error', reject);
    worker.once('message', (outcome: RealOutcome) => {
      worker.off('error', reject);
      resolve(outcome);
    });
  });

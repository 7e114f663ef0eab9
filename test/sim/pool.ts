// Plays scenarios on all cores: each seed of each scenario is a task of its own, and each thread takes the next task when it
// has done one.

import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Summary } from '#tool/simulate/kernel/result.ts';
import { type Row, rowsOf, type Scenario } from './experiment.ts';
import type { Options } from './options.ts';

/** A scenario, by its place in the experiment that the thread builds from the same options, and a seed. */
export type Task = { readonly scenario: number; readonly seed: number };

const threadFile = new URL('./pool-thread.ts', import.meta.url);

export async function playScenarios(options: Options, scenarios: readonly Scenario[]): Promise<Row[]> {
  const { seeds } = options;
  const tasks = scenarios.flatMap((_, scenario) => seeds.map((seed): Task => ({ scenario, seed })));
  const results = new Map<Task, readonly Summary[]>();
  // The largest workloads come last in the list of scenarios: taken first, they do not keep one core waiting at the end.
  const open = [...tasks];
  const work = async () => {
    const thread = new Worker(threadFile, { execArgv: [], workerData: options });
    try {
      for (let task = open.pop(); task !== undefined; task = open.pop()) {
        if (process.stderr.isTTY)
          process.stderr.write(`${scenarios[task.scenario]!.name}, seed ${task.seed}\n`);
        results.set(task, await ask(thread, task));
      }
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(tasks.length, availableParallelism()) }, work));
  return scenarios.flatMap((scenario, at) =>
    rowsOf(
      scenario,
      tasks.filter((task) => task.scenario === at).map((task) => results.get(task)!),
    ),
  );
}

async function ask(thread: Worker, task: Task): Promise<readonly Summary[]> {
  // `once` also rejects if the thread fails.
  const answer = once(thread, 'message');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  thread.postMessage(task);
  const [summaries] = (await answer) as [readonly Summary[]];
  return summaries;
}

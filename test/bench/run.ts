// The frame of a benchmark: it measures, prints what it found and its goals, and ends all that it started, by a signal too.

import { type Goal, printGoals } from './figure.ts';
import { type Cleanup, withCleanup } from './fixture.ts';

type Benchmark<Report extends object> = {
  readonly json: boolean;
  readonly measure: (cleanup: Cleanup) => Promise<Report>;
  readonly goalsOf: (report: Report) => readonly Goal[];
  /** In words, ahead of the goals. */
  readonly print: (report: Report) => void;
};

/** Exits with 1 if a goal is missed. */
export const runBenchmark = <Report extends object>(benchmark: Benchmark<Report>): Promise<void> =>
  withCleanup(async (cleanup) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => void cleanup.run().then(() => process.exit(1)));
    const report = await benchmark.measure(cleanup);
    const goals = benchmark.goalsOf(report);
    if (benchmark.json) console.log(JSON.stringify({ goals, ...report }));
    else {
      benchmark.print(report);
      printGoals(goals);
    }
    process.exitCode = goals.every(({ isMet }) => isMet) ? 0 : 1;
  });

// The runs of the default branch by job. What a job says counts for as long as the job runs: one that was renamed or
// removed while a test failed in it would otherwise fail for ever. It counts no more after three days without a run while
// others run. Runs whose job is not known count until one with a job follows.

import { dayMs } from '#base/duration.ts';
import type { RecentRun } from './recent-run.ts';

const goneMs = 3 * dayMs;

/** The runs of each job that still runs, in order of time. */
export function listCurrentJobs(onDefault: readonly RecentRun[]): readonly (readonly RecentRun[])[] {
  const jobs = new Map<number, RecentRun[]>();
  for (const run of onDefault) {
    const runs = jobs.get(run.job);
    if (runs === undefined) jobs.set(run.job, [run]);
    else runs.push(run);
  }
  const newestAt = onDefault.at(-1)?.at ?? 0;
  return [...jobs].flatMap(([job, runs]) => {
    const lastAt = runs.at(-1)!.at;
    const isGone = job === 0 ? newestAt > lastAt : newestAt - lastAt > goneMs;
    return isGone ? [] : [runs];
  });
}

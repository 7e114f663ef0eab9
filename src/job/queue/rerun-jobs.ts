// Runs the failed jobs of a run again at the Git host, on the same commit. Whatever prevents that is recorded, and the planner
// repeats the whole run instead: a failure here does not count as a Git host that is unreachable.

import { enqueueReconciles, type JobPayloads } from '#db/job/job.ts';
import { loadRerun, recordRerunRefused } from '#db/run/rerun-store.ts';
import { withTransaction } from '#db/transaction.ts';
import { HostError, type RerunAnswer } from '#host/host.ts';
import { atHost, NotYet } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

export async function rerunFailedJobs(deps: TaskDeps, payload: JobPayloads['rerun-jobs']): Promise<void> {
  const { cell, log } = deps;
  const { queueId, number, suites, after } = payload;
  const load = () => loadRerun(cell.db, queueId, number);
  await atHost(deps, 'rerun-jobs', payload, load, async ({ repository, sha, isHostAway }, { host }) => {
    const answer = await host
      .rerunFailedJobs(repository, { sha, suites, after })
      .catch((error: unknown): RerunAnswer => {
        // While the host does not answer at all, no time limit of the run counts.
        if (!(error instanceof HostError) || isHostAway) throw error;
        return { kind: 'cannot', reason: error.message };
      });
    // The planner stops waiting at the start limit.
    if (answer.kind === 'busy') throw new NotYet('The workflow run of the failed jobs has not ended.');
    if (answer.kind === 'requested') return;
    const { reason } = answer;
    log.info({ queue: queueId, run: number, reason }, 'git host does not run the failed jobs again');
    await withTransaction(cell, async (tx) => {
      await recordRerunRefused(tx, queueId, number, reason);
      await enqueueReconciles(tx, [queueId]);
    });
  });
}

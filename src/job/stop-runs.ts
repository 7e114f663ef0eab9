// Stops CI that still works on test branches of runs that were given up: cancelled, out of time, or without a result. It
// is worth runners and minutes, and nothing else: a failure holds up no decision and does not count as a host that is away.

import { recordStopped } from '#db/run-measure-store.ts';
import type { Publishing } from '#db/run-store.ts';
import { withTransaction } from '#db/transaction.ts';
import type { Host } from '#host/host.ts';
import type { TaskDeps } from './deps.ts';

export async function stopDeadRuns(
  { cell, log }: TaskDeps,
  { queue, repository, stale }: Publishing,
  host: Host,
): Promise<void> {
  for (const { id, testBranch: branch, sha, isDead } of stale) {
    if (!isDead) continue;
    try {
      const answer = await host.stopRuns(repository, { branch, sha });
      if (answer.kind === 'cannot') {
        log.info({ queue: queue.id, run: id, reason: answer.reason }, 'ci of an ended run cannot be stopped');
        return;
      }
      await withTransaction(cell, (tx) => recordStopped(tx, queue.id, id, answer.count));
    } catch (err) {
      // The next one would meet the same trouble.
      log.info({ queue: queue.id, run: id, err }, 'ci of an ended run was not stopped');
      return;
    }
  }
}

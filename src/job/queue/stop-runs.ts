// Stops CI on the test branches of runs that were given up: cancelled, timed out, or without a result. This
// only saves runners and minutes: a failure delays no decision, and the host does not count as unreachable.

import { recordStopped } from '#db/run/run-measure-store.ts';
import type { Publishing } from '#db/run/run-store.ts';
import { withTransaction } from '#db/transaction.ts';
import type { Host } from '#host/host.ts';
import type { TaskDeps } from '../deps.ts';

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
        log.info(
          { queue: queue.id, run: id, reason: answer.reason },
          'git host cannot cancel the ci of an ended run',
        );
        return;
      }
      await withTransaction(cell, (tx) => recordStopped(tx, queue.id, id, answer.count));
    } catch (err) {
      // The next call would fail the same way.
      log.info({ queue: queue.id, run: id, err }, 'could not cancel the ci of an ended run');
      return;
    }
  }
}

// Recording what a pull request impacts. The queues of the repository are marked dirty: one may have waited for it.

import type { Cell } from '#db/cell.ts';
import { enqueueReconciles } from '#db/job.ts';
import { listQueueIds } from '#db/queue-view.ts';
import { encodeTargets, saveTargets, type TargetKey } from '#db/target-store.ts';
import { withTransaction } from '#db/transaction.ts';

export async function setImpactedTargets(
  cell: Cell,
  key: TargetKey,
  targets: 'ALL' | readonly string[],
  now: Date,
): Promise<void> {
  const encoded = await encodeTargets(targets);
  await withTransaction(cell, async (tx) => {
    await saveTargets(tx, key, encoded, now);
    await enqueueReconciles(tx, await listQueueIds(tx, key.repositoryId));
  });
}

// Records the impacted targets of a pull request. The queues of the repository are marked dirty, because one of them may
// have waited for the targets.

import type { Cell } from '#db/cell.ts';
import { enqueueReconciles } from '#db/job/job.ts';
import { listQueueIds } from '#db/queue/queue-view.ts';
import { encodeTargets, lockTargets, saveTargets, type TargetKey } from '#db/run/target-store.ts';
import { withTransaction } from '#db/transaction.ts';

/** More than this many are all. */
const targetsMax = 200_000;

/** `onlyWidens`: the targets are added to those that are known of the head, because unreviewed code may have sent them. */
export async function setImpactedTargets(
  cell: Cell,
  key: TargetKey,
  targets: 'ALL' | readonly string[],
  now: Date,
  { onlyWidens = false }: { readonly onlyWidens?: boolean } = {},
): Promise<void> {
  const encoded = await encodeTargets(targets);
  await withTransaction(cell, async (tx) => {
    const known = onlyWidens ? await lockTargets(tx, key) : null;
    const widened = known === null ? encoded : await encodeTargets(union(known, targets));
    await saveTargets(tx, key, widened, now);
    await enqueueReconciles(tx, await listQueueIds(tx, key.repositoryId));
  });
}

function union(a: 'ALL' | readonly string[], b: 'ALL' | readonly string[]): 'ALL' | readonly string[] {
  if (a === 'ALL' || b === 'ALL') return 'ALL';
  const both = [...new Set([...a, ...b])];
  return both.length > targetsMax ? 'ALL' : both;
}

// Classifies tests again after a person changed their settings.

import type { Auditor } from '#db/audit-store.ts';
import type { Tx } from '#db/cell.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { listOverrides } from '#db/health/override-store.ts';
import type { TestsLock } from '#db/transaction.ts';
import { reclassifyTests } from './classify-tests.ts';

/** Tests classified by one round of statements. */
const testsMax = 1_000;

export async function reclassify(
  tx: Tx,
  lock: TestsLock,
  testCaseIds: readonly string[] | 'all',
  { actor, now }: Auditor,
): Promise<void> {
  const settings = await findHealthSettings(tx, lock.repositoryId);
  const rows = await listOverrides(tx, lock.repositoryId, testCaseIds);
  const trigger = { kind: 'person', actor } as const;
  for (let at = 0; at < rows.length; at += testsMax) {
    const ids = rows.slice(at, at + testsMax).map((row) => row.id);
    await reclassifyTests(tx, lock, ids, { settings, trigger, now });
  }
}

// Once an hour: applies changes that only time causes. A flaky test without new evidence for a week is
// healthy again, a mute or an override ends, and pull requests of last week no longer count as impacted. Only
// tests that can be affected are read.

import { reclassifyTests } from '#command/classify-tests.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { listRepositoriesToRevisit, listTestsToRevisit } from '#db/health/revisit-view.ts';
import { listVerifyingRepositories } from '#db/run/fix-store.ts';
import { enqueueForRepository, enqueueIssues } from '#db/job/job.ts';
import { withTestsLock } from '#db/transaction.ts';
import { countImpact } from '#db/health/verdict-store.ts';
import type { TaskDeps } from '../deps.ts';

/** Tests classified by one transaction, so that the lock is not held for long. */
const testsMax = 500;
/** A job that is due earlier stays as it is. */
const fixesDelayMs = 120_000;
const firstId = '00000000-0000-0000-0000-000000000000';

export async function revisitTests({ cell, clock }: Pick<TaskDeps, 'cell' | 'clock'>): Promise<void> {
  const now = clock.now();
  for (const repositoryId of await listRepositoriesToRevisit(cell.db, now)) {
    const settings = await findHealthSettings(cell.db, repositoryId);
    for (let after: string | undefined = firstId; after !== undefined;) {
      const ids = await listTestsToRevisit(cell.db, repositoryId, now, { after, limit: testsMax });
      after = ids.at(-1);
      if (after === undefined) break;
      await withTestsLock(cell, repositoryId, async (tx, lock) => {
        await reclassifyTests(tx, lock, ids, { settings, trigger: { kind: 'time' }, now });
        await countImpact(tx, lock, ids, now);
      });
    }
    // What a Git host refused an hour ago it may accept now.
    if (settings.quarantine.openIssues) await enqueueIssues(cell.db, { repositoryId });
  }
  // After the tests: a verification without a queue ends by what time has changed.
  for (const repositoryId of await listVerifyingRepositories(cell.db))
    await enqueueForRepository(cell.db, 'verify-fixes', { repositoryId }, fixesDelayMs);
}

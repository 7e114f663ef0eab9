// Uploads on the commit of a run that verifies a fix (core/health/fix/fix-verification.ts). Of such an upload only the one test
// counts, whatever else CI ran: as a run of the tip on the default branch, whose files the commit has.

import { countCleanRuns } from '#core/health/fix/fix-verification.ts';
import { binarySearch } from '#core/health/segment.ts';
import type { Tx } from '#db/cell.ts';
import { countFixReports, type FixReport } from '#db/run/fix-store.ts';
import type { FixUpload, WaitingUpload } from '#db/health/ingest-store.ts';
import { enqueueForRepository } from '#db/job/job.ts';
import type { TestsLock } from '#db/transaction.ts';
import type { GuardedUpload } from './ingest-history.ts';
import type { ReadUpload } from './ingest-read.ts';

/** What counts of an upload. `fix` null: there is no such run on its commit, and all of it counts. */
export function narrowToFix(
  read: ReadUpload,
  fix: FixUpload | null,
): Pick<GuardedUpload, 'read' | 'repeats'> {
  if (fix === null) return { read, repeats: 1 };
  const { ordinals, outcomes, attempts, durations } = read.runs;
  const place = binarySearch(ordinals, fix.ordinal);
  const [from, to] = place === -1 ? [0, 0] : [place, place + 1];
  const failure = place === -1 ? undefined : read.failures.get(fix.ordinal);
  const narrowed: ReadUpload = {
    ...read,
    about: { ...read.about, sha: fix.baseSha, branchClass: 'default', prNumber: null },
    runs: {
      ordinals: ordinals.subarray(from, to),
      outcomes: outcomes.subarray(from, to),
      attempts: attempts.subarray(from, to),
      durations: durations.subarray(from, to),
      skipped: new Int32Array(),
    },
    failures: new Map(failure === undefined ? [] : [[fix.ordinal, failure]]),
  };
  const repeats = countCleanRuns({
    asked: fix.repeats,
    said: read.about.repeats,
    attempts: attempts[from] ?? 1,
  });
  return { read: narrowed, repeats };
}

/** Counts what the trusted uploads say about the runs, and has the verifications looked at. */
export async function countReports(
  tx: Tx,
  lock: TestsLock,
  uploads: readonly GuardedUpload[],
  waiting: ReadonlyMap<string, WaitingUpload>,
): Promise<void> {
  const reports = new Map<string, FixReport>();
  for (const { read, repeats } of uploads) {
    const fix = waiting.get(read.upload.id)?.fix ?? null;
    const outcome = read.runs.outcomes[0];
    if (fix === null || outcome === undefined) continue;
    const before = reports.get(fix.runId) ?? { id: fix.runId, reports: 0, cleanRuns: 0, failures: 0 };
    reports.set(fix.runId, {
      ...before,
      reports: before.reports + 1,
      cleanRuns: before.cleanRuns + (outcome === 0 ? repeats : 0),
      failures: before.failures + (outcome === 0 ? 0 : 1),
    });
  }
  if (reports.size === 0) return;
  await countFixReports(tx, lock, [...reports.values()]);
  await enqueueForRepository(tx, 'verify-fixes', { repositoryId: lock.repositoryId });
}

// The rows of what did not pass, each with what is to be told of it: is it the test, or is it the change?

import { flakeFingerprints } from '#core/health/history.ts';
import { placeOf } from '#core/health/segment.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '#db/cell.ts';
import { type FailureRow, findKnownFailures, findWhereFailed, type GroupChange } from '#db/failure-store.ts';
import type { TestsLock } from '#db/transaction.ts';
import type { FailureVerdict } from '#db/upload-view.ts';
import type { Standing } from '#db/verdict-store.ts';
import type { FoundFailure, ReadUpload } from './ingest-read.ts';
import type { ChangedHistory, GuardedUpload } from './ingest-history.ts';
import { outcomeOf } from './ingest-run.ts';

/** What is known when failures are written: histories and statuses as they are now, standings as they were. */
export type Judged = {
  readonly histories: ReadonlyMap<number, ChangedHistory>;
  readonly statuses: ReadonlyMap<string, HealthStatus>;
  readonly standings: ReadonlyMap<string, Standing>;
};

/** How far back other places of the same failure are looked for. */
const elsewhereMs = 14 * 86_400_000;

export type FailureWrites = {
  readonly rows: readonly FailureRow[];
  readonly groups: readonly GroupChange[];
  /** Of each upload, how many of its failed tests were quarantined. */
  readonly quarantined: ReadonlyMap<string, number>;
};

export async function failuresOf(
  tx: Tx,
  { repositoryId }: TestsLock,
  uploads: readonly GuardedUpload[],
  judged: Judged,
): Promise<FailureWrites> {
  const ids = [
    ...new Set(uploads.flatMap(({ read }) => [...read.failures.values()].map((found) => found.testCaseId))),
  ];
  const first = uploads[0]?.read.upload.uploaded_at ?? new Date(0);
  const known = await findKnownFailures(tx, repositoryId, ids);
  const since = new Date(first.getTime() - elsewhereMs);
  const places = await findWhereFailed(tx, repositoryId, known.size === 0 ? [] : ids, since);
  const rows: FailureRow[] = [];
  const groups: GroupChange[] = [];
  const quarantined = new Map<string, number>();
  for (const { read, isSuspect } of uploads) {
    for (const [ordinal, found] of read.failures) {
      const row = rowOf(read, ordinal, found, isSuspect, judged, { known, places });
      if (row === null) continue;
      rows.push(row);
      if (row.was_quarantined && row.outcome === 'failed')
        quarantined.set(read.upload.id, (quarantined.get(read.upload.id) ?? 0) + 1);
      if (!row.is_trusted) continue;
      groups.push(groupOf(row));
      const key = `${found.testCaseId} ${found.fingerprint}`;
      known.set(key, known.get(key) ?? 0);
      places.set(key, (places.get(key) ?? new Set()).add(read.about.prNumber));
    }
  }
  return { rows, groups: [...groups, ...flakesOf(judged.histories)], quarantined };
}

type Known = {
  readonly known: ReadonlyMap<string, number>;
  readonly places: ReadonlyMap<string, ReadonlySet<number | null>>;
};

function rowOf(
  read: ReadUpload,
  ordinal: number,
  found: FoundFailure,
  isSuspect: boolean,
  judged: Judged,
  { known, places }: Known,
): FailureRow | null {
  const { upload, about, runs } = read;
  const place = placeOf(runs.ordinals, ordinal);
  const outcome = outcomeOf(runs.outcomes[place] ?? 0);
  const standing = judged.standings.get(found.testCaseId);
  // A case that failed may be of a run that passed all the same, if its other cases say so: that is flaky.
  if (outcome === 'passed' || standing === undefined) return null;
  const key = `${found.testCaseId} ${found.fingerprint}`;
  const status = judged.statuses.get(found.testCaseId) ?? standing.status;
  const changed = judged.histories.get(ordinal);
  const isTrusted = upload.trust === 'full';
  const facts = {
    status,
    isFlake:
      (isTrusted && outcome === 'flaky') ||
      (known.get(key) ?? 0) > 0 ||
      (changed !== undefined && flakeFingerprints(changed.test.history).includes(found.fingerprint)),
    isSeen: changed === undefined ? known.size > 0 || standing.status !== 'healthy' : changed.isSeenBefore,
    isElsewhere: [...(places.get(key) ?? [])].some((prNumber) => prNumber !== about.prNumber),
  };
  return {
    upload_id: upload.id,
    failed_at: upload.uploaded_at,
    test_case_id: found.testCaseId,
    fingerprint: found.fingerprint,
    summary: found.summary,
    text_hash: found.textHash?.toString('hex') ?? null,
    pr_number: about.prNumber,
    sha: about.sha,
    branch_class: about.branchClass,
    outcome,
    attempts: runs.attempts[place] ?? 1,
    is_suspect: isSuspect,
    is_trusted: isTrusted,
    was_unhealthy: standing.status !== 'healthy' || status !== 'healthy',
    was_quarantined: standing.quarantined_at !== null,
    verdict: verdictOf(facts),
    is_known: known.has(key),
  };
}

type VerdictFacts = {
  readonly status: HealthStatus;
  /** It was contradicted before, or is in this very run. */
  readonly isFlake: boolean;
  /** The test ran before. */
  readonly isSeen: boolean;
  /** The same failure was seen on something else than this pull request. */
  readonly isElsewhere: boolean;
};

function verdictOf({ status, isFlake, isSeen, isElsewhere }: VerdictFacts): FailureVerdict {
  if (status === 'broken') return 'broken';
  if (status === 'flaky' || isFlake) return 'flaky';
  return isSeen && !isElsewhere ? 'new' : 'unknown';
}

const groupOf = (row: FailureRow): GroupChange => ({
  test_case_id: row.test_case_id,
  fingerprint: row.fingerprint,
  summary: row.summary,
  occurrences: 1,
  flakes: 0,
  last_occurrence: row.failed_at,
  text_hash: row.text_hash,
});

/** Failures that are contradicted now and were not before. */
function flakesOf(histories: ReadonlyMap<number, ChangedHistory>): readonly GroupChange[] {
  return [...histories.values()].flatMap(({ test, before }) => {
    if (test.history.flakes === before.flakes) return [];
    const knownAt = new Map(before.flakes.map((flake) => [flake.fingerprint, flake.lastAt]));
    return test.history.flakes
      .filter(({ fingerprint, lastAt }) => lastAt > (knownAt.get(fingerprint) ?? -1))
      .map(({ fingerprint, lastAt }) => ({
        test_case_id: test.testCaseId,
        fingerprint,
        summary: '',
        occurrences: 0,
        flakes: 1,
        last_occurrence: new Date(lastAt),
        text_hash: null,
      }));
  });
}

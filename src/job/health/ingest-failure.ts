// Builds the rows of failed tests, each with a verdict: is it the test, or is it the change?

import { dayMs } from '#base/duration.ts';
import { findNewFlakes, flakeFingerprints } from '#core/health/history.ts';
import { binarySearch } from '#core/health/segment.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '#db/cell.ts';
import {
  type FailureRow,
  findKnownFailures,
  findWhereFailed,
  type GroupChange,
} from '#db/health/failure-store.ts';
import type { TestsLock } from '#db/transaction.ts';
import type { FailureVerdict } from '#db/health/upload-view.ts';
import type { TestHealthRow } from '#db/health/verdict-store.ts';
import type { FoundFailure, ReadUpload } from './ingest-read.ts';
import type { ChangedHistory, GuardedUpload } from './ingest-history.ts';
import { decodeOutcome } from './ingest-run.ts';

/** The input for failure rows: histories and statuses as they are now, `standings` as they were before. */
export type ClassifiedTests = {
  readonly histories: ReadonlyMap<number, ChangedHistory>;
  readonly statuses: ReadonlyMap<string, HealthStatus>;
  readonly standings: ReadonlyMap<string, TestHealthRow>;
};

/** How far back the same failure is searched for in other places. */
const elsewhereMs = 14 * dayMs;

export type FailureWrites = {
  readonly rows: readonly FailureRow[];
  readonly groups: readonly GroupChange[];
  /** How many failed tests of each upload were quarantined. */
  readonly quarantined: ReadonlyMap<string, number>;
};

export async function prepareFailureWrites(
  tx: Tx,
  { repositoryId }: TestsLock,
  uploads: readonly GuardedUpload[],
  classified: ClassifiedTests,
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
      const row = buildFailureRow(read, ordinal, found, isSuspect, classified, { known, places });
      if (row === null) continue;
      rows.push(row);
      if (row.was_quarantined && row.outcome === 'failed')
        quarantined.set(read.upload.id, (quarantined.get(read.upload.id) ?? 0) + 1);
      if (!row.is_trusted) continue;
      groups.push(toGroupChange(row));
      const key = `${found.testCaseId} ${found.fingerprint}`;
      known.set(key, known.get(key) ?? 0);
      places.set(key, (places.get(key) ?? new Set()).add(read.about.prNumber));
    }
  }
  return { rows, groups: [...groups, ...toFlakeChanges(classified.histories)], quarantined };
}

type KnownFailures = {
  readonly known: ReadonlyMap<string, number>;
  readonly places: ReadonlyMap<string, ReadonlySet<number | null>>;
};

function buildFailureRow(
  read: ReadUpload,
  ordinal: number,
  found: FoundFailure,
  isSuspect: boolean,
  classified: ClassifiedTests,
  { known, places }: KnownFailures,
): FailureRow | null {
  const { upload, about, runs } = read;
  const place = binarySearch(runs.ordinals, ordinal);
  const outcome = decodeOutcome(runs.outcomes[place] ?? 0);
  const knownTest = classified.standings.get(found.testCaseId);
  // A test with failed and passed cases is flaky, so a test that passed has no failure row.
  if (outcome === 'passed' || knownTest === undefined) return null;
  const key = `${found.testCaseId} ${found.fingerprint}`;
  const status = classified.statuses.get(found.testCaseId) ?? knownTest.status;
  const changed = classified.histories.get(ordinal);
  const isTrusted = upload.trust === 'full';
  const facts = {
    status,
    isFlake:
      (isTrusted && outcome === 'flaky') ||
      (known.get(key) ?? 0) > 0 ||
      (changed !== undefined && flakeFingerprints(changed.test.history).includes(found.fingerprint)),
    isSeen: changed === undefined ? known.size > 0 || knownTest.status !== 'healthy' : changed.isSeenBefore,
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
    was_unhealthy: knownTest.status !== 'healthy' || status !== 'healthy',
    was_quarantined: knownTest.quarantined_at !== null,
    verdict: classifyFailure(facts),
    is_known: known.has(key),
  };
}

type VerdictFacts = {
  readonly status: HealthStatus;
  /** The failure was known as flaky before, or is flaky in this very run. */
  readonly isFlake: boolean;
  /** The test ran before. */
  readonly isSeen: boolean;
  /** The same failure occurred outside of this pull request. */
  readonly isElsewhere: boolean;
};

function classifyFailure({ status, isFlake, isSeen, isElsewhere }: VerdictFacts): FailureVerdict {
  if (status === 'broken') return 'broken';
  if (status === 'flaky' || isFlake) return 'flaky';
  return isSeen && !isElsewhere ? 'new' : 'unknown';
}

const toGroupChange = (row: FailureRow): GroupChange => ({
  test_case_id: row.test_case_id,
  fingerprint: row.fingerprint,
  summary: row.summary,
  occurrences: 1,
  flakes: 0,
  last_occurrence: row.failed_at,
  text_hash: row.text_hash,
});

/** Failures with new evidence of flakiness. */
function toFlakeChanges(histories: ReadonlyMap<number, ChangedHistory>): readonly GroupChange[] {
  return [...histories.values()].flatMap(({ test, before }) =>
    findNewFlakes(before, test.history).map(({ fingerprint, lastAt }) => ({
      test_case_id: test.testCaseId,
      fingerprint,
      summary: '',
      occurrences: 0,
      flakes: 1,
      last_occurrence: new Date(lastAt),
      text_hash: null,
    })),
  );
}

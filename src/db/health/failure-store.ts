// Writes test_failure, test_failure_group and failure_text from uploads (for sandboxes: test-store.ts).

import { hash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import type { RepositoryId } from '#base/id.ts';
import type { BranchClass } from '#core/health/branch.ts';
import type { ReportedFailure } from '#core/health/reported-case.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import type { FailureVerdict } from './upload-view.ts';

export type FailureText = { readonly hash: Buffer; readonly body: Buffer };

/** The texts of all failed attempts of a run, ready to be stored. */
export function packFailureText(failures: readonly ReportedFailure[]): FailureText {
  const json = JSON.stringify(failures);
  return { hash: hash('sha256', json, 'buffer').subarray(0, 16), body: zstdCompressSync(json) };
}

const insertTexts = statement<
  [repositoryId: string, hashes: readonly Buffer[], bodies: readonly Buffer[], at: Date]
>(`
  insert into failure_text (repository_id, hash, body, last_used_at)
  select distinct on (hash) $1::uuid, hash, body, $4::timestamptz from unnest($2::bytea[], $3::bytea[]) as given (hash, body) order by hash
  on conflict (repository_id, hash) do update set last_used_at = excluded.last_used_at
  where failure_text.last_used_at < excluded.last_used_at - interval '1 day'`);

export async function putTexts(
  tx: Tx,
  { repositoryId }: TestsLock,
  texts: readonly FailureText[],
  at: Date,
): Promise<void> {
  if (texts.length === 0) return;
  await insertTexts(
    tx,
    repositoryId,
    texts.map((text) => text.hash),
    texts.map((text) => text.body),
    at,
  );
}

export type FailureRow = {
  readonly upload_id: string;
  readonly failed_at: Date;
  readonly test_case_id: string;
  /** Of the last failed attempt; empty: it has no text. */
  readonly fingerprint: string;
  readonly summary: string;
  readonly text_hash: string | null;
  readonly pr_number: number | null;
  readonly sha: string;
  readonly branch_class: BranchClass;
  readonly outcome: 'failed' | 'flaky';
  readonly attempts: number;
  readonly is_suspect: boolean;
  readonly is_trusted: boolean;
  readonly was_unhealthy: boolean;
  readonly was_quarantined: boolean;
  readonly verdict: FailureVerdict;
  readonly is_known: boolean;
};

const insertFailures = statement<[repositoryId: string, rows: string]>(`
  insert into test_failure (repository_id, failed_at, test_case_id, fingerprint, pr_number, upload_id, sha, branch_class,
    outcome, attempts, summary, text_hash, is_suspect, is_trusted, was_unhealthy, was_quarantined, verdict, is_known)
  select $1::uuid, failed_at, test_case_id, convert_to(fingerprint, 'utf8'), pr_number, upload_id, sha, branch_class, outcome,
    attempts, summary, decode(text_hash, 'hex'), is_suspect, is_trusted, was_unhealthy, was_quarantined, verdict, is_known
  from jsonb_to_recordset($2::jsonb) as r (failed_at timestamptz, test_case_id uuid, fingerprint text, pr_number bigint,
    upload_id uuid, sha text, branch_class text, outcome text, attempts int, summary text, text_hash text, is_suspect boolean,
    is_trusted boolean, was_unhealthy boolean, was_quarantined boolean, verdict text, is_known boolean)`);

/** Rows per statement, which limits the length of its parameters. */
const rowsMax = 2_000;

export async function putFailures(
  tx: Tx,
  { repositoryId }: TestsLock,
  rows: readonly FailureRow[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsMax)
    await insertFailures(tx, repositoryId, JSON.stringify(rows.slice(at, at + rowsMax)));
}

export type GroupChange = {
  readonly test_case_id: string;
  readonly fingerprint: string;
  readonly summary: string;
  readonly occurrences: number;
  /** How many of its failures were flakes: a pass on the same source contradicts them. */
  readonly flakes: number;
  readonly last_occurrence: Date;
  readonly text_hash: string | null;
};

const upsertGroups = statement<[repositoryId: string, rows: string]>(`
  insert into test_failure_group as g (repository_id, test_case_id, fingerprint, summary, occurrence_count, flake_count,
    last_occurrence, text_hash)
  select $1::uuid, test_case_id, convert_to(fingerprint, 'utf8'), max(summary), sum(occurrences), sum(flakes),
    max(last_occurrence), decode(max(text_hash), 'hex')
  from jsonb_to_recordset($2::jsonb) as r (test_case_id uuid, fingerprint text, summary text, occurrences int, flakes int,
    last_occurrence timestamptz, text_hash text)
  group by test_case_id, fingerprint
  on conflict (repository_id, test_case_id, fingerprint) do update set
    occurrence_count = g.occurrence_count + excluded.occurrence_count,
    flake_count = g.flake_count + excluded.flake_count,
    last_occurrence = greatest(g.last_occurrence, excluded.last_occurrence),
    text_hash = coalesce(excluded.text_hash, g.text_hash)`);

/** Counts what failed in which way; flakes of a way that has no row are none. */
export async function countFailures(
  tx: Tx,
  { repositoryId }: TestsLock,
  changes: readonly GroupChange[],
): Promise<void> {
  for (let at = 0; at < changes.length; at += rowsMax)
    await upsertGroups(tx, repositoryId, JSON.stringify(changes.slice(at, at + rowsMax)));
}

const selectKnown = statement<
  [repositoryId: string, ids: readonly string[]],
  { test_case_id: string; fingerprint: Buffer; flake_count: number }
>(`
  select test_case_id, fingerprint, flake_count from test_failure_group
  where repository_id = $1 and test_case_id = any ($2::uuid[])`);

/** The known failure groups of tests, as `test fingerprint`, with the number of flakes of each. */
export async function findKnownFailures(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseIds: readonly string[],
): Promise<Map<string, number>> {
  if (testCaseIds.length === 0) return new Map();
  const rows = await selectKnown(db, repositoryId, testCaseIds);
  return new Map(
    rows.map((row) => [`${row.test_case_id} ${row.fingerprint.toString('utf8')}`, row.flake_count]),
  );
}

const selectElsewhere = statement<
  [repositoryId: string, ids: readonly string[], since: Date],
  { test_case_id: string; fingerprint: Buffer; pr_number: number | null }
>(`
  select distinct test_case_id, fingerprint, pr_number from test_failure
  where repository_id = $1 and test_case_id = any ($2::uuid[]) and failed_at >= $3 and is_trusted`);

/** Recent failures: `test fingerprint` to pull requests; null: the failure was not on a pull request. */
export async function findWhereFailed(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseIds: readonly string[],
  since: Date,
): Promise<Map<string, Set<number | null>>> {
  const places = new Map<string, Set<number | null>>();
  if (testCaseIds.length === 0) return places;
  for (const row of await selectElsewhere(db, repositoryId, testCaseIds, since)) {
    const key = `${row.test_case_id} ${row.fingerprint.toString('utf8')}`;
    const known = places.get(key) ?? new Set();
    places.set(key, known.add(row.pr_number));
  }
  return places;
}

// Writes fix_verification and fix_verification_run: fixes of tests that are verified, and the CI runs for that.

import type { RepositoryId } from '#base/id.ts';
import type { FixEnd, FixRunEnd, FixWait } from '#core/health/fix/fix-verification.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';

export type NewVerification = {
  readonly id: string;
  readonly testCaseId: string;
  readonly startedBy: string;
  readonly fixSha: string | null;
  readonly endsAt: Date;
};

const insertVerification = statement<
  [
    repositoryId: string,
    id: string,
    testCaseId: string,
    now: Date,
    by: string,
    fixSha: string | null,
    endsAt: Date,
  ]
>(`
  insert into fix_verification (repository_id, id, test_case_id, started_at, started_by, fix_sha, ends_at, examined_at)
  values ($1, $2, $3, $4, $5, $6, $7, $4)`);

export const addVerification = (
  tx: Tx,
  { repositoryId }: TestsLock,
  { id, testCaseId, startedBy, fixSha, endsAt }: NewVerification,
  now: Date,
): Promise<unknown> => insertVerification(tx, repositoryId, id, testCaseId, now, startedBy, fixSha, endsAt);

/** A verification that has not ended, with the test as it is now. */
export type OpenVerification = {
  readonly id: string;
  readonly testCaseId: string;
  readonly startedAt: Date;
  readonly fixSha: string | null;
  readonly endsAt: Date;
  /** The first tip that was seen to contain the fix; null: none was. */
  readonly sinceSha: string | null;
  /** Failures up to then were examined. */
  readonly examinedAt: Date;
  readonly waitsFor: FixWait | null;
  readonly status: HealthStatus;
  readonly manualStatus: HealthStatus | null;
  readonly isAnyMonitorActive: boolean;
  readonly name: string;
  readonly classname: string;
  readonly file: string;
};

const selectOpen = statement<[repositoryId: string], OpenVerification>(`
  select v.id, v.test_case_id as "testCaseId", v.started_at as "startedAt", v.fix_sha as "fixSha", v.ends_at as "endsAt",
    v.since_sha as "sinceSha", v.examined_at as "examinedAt", v.waits_for as "waitsFor", c.status,
    c.manual_status as "manualStatus", coalesce(h.active_monitors, '{}') <> '{}' as "isAnyMonitorActive", c.name,
    coalesce(c.classname, '') as classname, coalesce(c.file_path, '') as file
  from fix_verification v
  join test_case c on c.repository_id = v.repository_id and c.id = v.test_case_id
  left join test_history h on h.repository_id = v.repository_id and h.test_case_id = v.test_case_id
  where v.repository_id = $1 and v.ended_at is null order by v.started_at, v.id`);

export const listOpenVerifications = (
  db: Tx,
  repositoryId: RepositoryId,
): Promise<readonly OpenVerification[]> => selectOpen(db, repositoryId);

const updateEnded = statement<
  [repositoryId: string, id: string, now: Date, outcome: string, failedSha: string | null],
  { test_case_id: string }
>(`
  update fix_verification set ended_at = $3, outcome = $4, failed_sha = $5, waits_for = null
  where repository_id = $1 and id = $2 and ended_at is null returning test_case_id`);

/** False: it has ended already. */
export async function endVerification(
  tx: Tx,
  { repositoryId }: TestsLock,
  id: string,
  { outcome, failedSha }: { readonly outcome: FixEnd; readonly failedSha: string | null },
  now: Date,
): Promise<boolean> {
  return (await updateEnded(tx, repositoryId, id, now, outcome, failedSha)).length > 0;
}

const updateSeen = statement<
  [repositoryId: string, id: string, sinceSha: string | null, examinedAt: Date, waitsFor: string | null]
>(`
  update fix_verification set since_sha = $3, examined_at = $4, waits_for = $5
  where repository_id = $1 and id = $2 and ended_at is null`);

/** What was seen of it at the Git host, and why it has no run. */
export const putVerificationSeen = (
  tx: Tx,
  repositoryId: RepositoryId,
  {
    id,
    sinceSha,
    examinedAt,
    waitsFor,
  }: Pick<OpenVerification, 'id' | 'sinceSha' | 'examinedAt' | 'waitsFor'>,
): Promise<unknown> => updateSeen(tx, repositoryId, id, sinceSha, examinedAt, waitsFor);

const selectRepositories = statement<[], { repository_id: RepositoryId }>(
  'select distinct repository_id from fix_verification where ended_at is null',
);

export async function listVerifyingRepositories(db: Tx): Promise<readonly RepositoryId[]> {
  return (await selectRepositories(db)).map((row) => row.repository_id);
}

/** A failure of a test on the default branch. */
export type FixFailure = { readonly sha: string; readonly failedAt: Date; readonly isKnown: boolean };

/** Failures that are examined in one turn. */
const failuresMax = 50;

const selectFailures = statement<[repositoryId: string, testCaseId: string, after: Date], FixFailure>(`
  select sha, failed_at as "failedAt", is_known as "isKnown" from test_failure
  where repository_id = $1 and test_case_id = $2 and failed_at > $3 and branch_class = 'default' and is_trusted
    and not is_suspect
  order by failed_at, seq limit ${failuresMax}`);

/** The oldest first. A mass failure says nothing about one test, and a report of a fork nothing at all. */
export const listFixFailures = (
  db: Tx,
  repositoryId: RepositoryId,
  { testCaseId, examinedAt }: Pick<OpenVerification, 'testCaseId' | 'examinedAt'>,
): Promise<readonly FixFailure[]> => selectFailures(db, repositoryId, testCaseId, examinedAt);

export type FixRunRow = {
  readonly id: string;
  readonly verificationId: string;
  readonly baseSha: string;
  readonly sha: string;
  readonly testBranch: string;
  readonly repeats: number;
  readonly startedAt: Date;
  readonly pushedAt: Date | null;
  readonly endedAt: Date | null;
  readonly outcome: FixRunEnd | null;
  readonly reports: number;
  readonly cleanRuns: number;
  readonly failures: number;
  readonly isRemoved: boolean;
};

const runColumns = `r.id, r.verification_id as "verificationId", r.base_sha as "baseSha", r.sha, r.test_branch as "testBranch",
  r.repeats, r.started_at as "startedAt", r.pushed_at as "pushedAt", r.ended_at as "endedAt", r.outcome, r.reports,
  r.clean_runs as "cleanRuns", r.failures, r.is_removed as "isRemoved"`;

const selectRuns = statement<[repositoryId: string], FixRunRow>(`
  select ${runColumns} from fix_verification_run r
  join fix_verification v on v.repository_id = r.repository_id and v.id = r.verification_id
  where r.repository_id = $1 and v.ended_at is null
  union all
  select ${runColumns} from fix_verification_run r
  join fix_verification v on v.repository_id = r.repository_id and v.id = r.verification_id
  where r.repository_id = $1 and v.ended_at is not null and not r.is_removed
  order by "startedAt"`);

/** The runs of the verifications that have not ended, and the others of which something is left; the oldest first. */
export const listFixRuns = (db: Tx, repositoryId: RepositoryId): Promise<readonly FixRunRow[]> =>
  selectRuns(db, repositoryId);

const insertRun = statement<
  [
    repositoryId: string,
    id: string,
    verificationId: string,
    baseSha: string,
    sha: string,
    testBranch: string,
    repeats: number,
    now: Date,
  ]
>(`
  insert into fix_verification_run (repository_id, id, verification_id, base_sha, sha, test_branch, repeats, started_at)
  select $1::uuid, $2::uuid, $3::uuid, $4::text, $5::text, $6::text, $7::int, $8::timestamptz
  where exists (select from fix_verification where repository_id = $1 and id = $3 and ended_at is null)`);

type NewFixRun = Pick<FixRunRow, 'id' | 'verificationId' | 'baseSha' | 'sha' | 'testBranch' | 'repeats'>;

/** Recorded before the push: from now on reports for its commit count, and its branch is no stray. */
export const addFixRun = (
  tx: Tx,
  repositoryId: RepositoryId,
  { id, verificationId, baseSha, sha, testBranch, repeats }: NewFixRun,
  now: Date,
): Promise<unknown> =>
  insertRun(tx, repositoryId, id, verificationId, baseSha, sha, testBranch, repeats, now);

const updatePushed = statement<[repositoryId: string, id: string, now: Date]>(
  'update fix_verification_run set pushed_at = $3 where repository_id = $1 and id = $2',
);

export const recordFixRunPushed = (
  tx: Tx,
  repositoryId: RepositoryId,
  id: string,
  now: Date,
): Promise<unknown> => updatePushed(tx, repositoryId, id, now);

const updateRunEnded = statement<[repositoryId: string, id: string, now: Date, outcome: string]>(`
  update fix_verification_run set ended_at = $3, outcome = $4
  where repository_id = $1 and id = $2 and ended_at is null`);

export const endFixRun = (
  tx: Tx,
  repositoryId: RepositoryId,
  id: string,
  outcome: FixRunEnd,
  now: Date,
): Promise<unknown> => updateRunEnded(tx, repositoryId, id, now, outcome);

const updateRemoved = statement<[repositoryId: string, ids: readonly string[]]>(
  'update fix_verification_run set is_removed = true where repository_id = $1 and id = any ($2::uuid[])',
);

export const recordFixRunsRemoved = (
  tx: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<unknown> => updateRemoved(tx, repositoryId, ids);

const updateReported = statement<[repositoryId: string, rows: string]>(`
  update fix_verification_run r set reports = r.reports + n.reports, clean_runs = r.clean_runs + n."cleanRuns",
    failures = r.failures + n.failures
  from jsonb_to_recordset($2) as n (id uuid, reports int, "cleanRuns" int, failures int)
  where r.repository_id = $1 and r.id = n.id`);

/** What the reports on its commit say. */
export type FixReport = {
  readonly id: string;
  readonly reports: number;
  readonly cleanRuns: number;
  readonly failures: number;
};

/** Each run once. */
export async function countFixReports(
  tx: Tx,
  { repositoryId }: TestsLock,
  reports: readonly FixReport[],
): Promise<void> {
  if (reports.length > 0) await updateReported(tx, repositoryId, JSON.stringify(reports));
}

// Reads of one test over time. All of it is bounded: the newest failures of some days, the most common ways to fail, the
// last pull requests that were hit, the newest changes.

import { zstdDecompressSync } from 'node:zlib';
import type { RepositoryId } from '#base/id.ts';
import type { BranchClass } from '#core/health/branch.ts';
import type { ReportedFailure } from '#core/health/reported-case.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { FailureVerdict } from './upload-view.ts';
import type { FactTrigger, TestFact } from './verdict-store.ts';

export const failuresMax = 20_000;
const groupsMax = 20;
const pullRequestsMax = 50;
const changesMax = 50;

/** The newest failures of the test $2 since $3, from fully trusted uploads only. */
const recent = `(
  select f.failed_at, f.fingerprint, f.pr_number, f.branch_class, f.outcome, f.is_suspect, f.verdict, f.was_quarantined,
    f.upload_id
  from test_failure f
  where f.repository_id = $1 and f.test_case_id = $2 and f.failed_at >= $3 and f.is_trusted
  order by f.failed_at desc limit ${failuresMax})`;

type TestFailureQueryArgs = [repositoryId: string, testCaseId: string, since: Date];

export type FailureDay = {
  readonly day: string;
  readonly branch_class: BranchClass;
  readonly failed: number;
  readonly flaky: number;
  readonly suspect: number;
};

const selectDays = statement<TestFailureQueryArgs, FailureDay>(`
  select to_char(f.failed_at at time zone 'UTC', 'YYYY-MM-DD') as day, f.branch_class,
    count(*) filter (where f.outcome = 'failed' and not f.is_suspect) as failed,
    count(*) filter (where f.outcome = 'flaky' and not f.is_suspect) as flaky,
    count(*) filter (where f.is_suspect) as suspect
  from ${recent} f group by 1, 2 order by 1, 2`);

export const listFailureDays = (
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  since: Date,
): Promise<readonly FailureDay[]> => selectDays(db, repositoryId, testCaseId, since);

type GroupRow = {
  readonly fingerprint: Buffer;
  readonly summary: string;
  readonly occurrence_count: number;
  readonly last_occurrence: Date;
  readonly flake_count: number;
  readonly body: Buffer | null;
  readonly pull_requests: number;
};

const selectGroups = statement<TestFailureQueryArgs, GroupRow>(`
  select g.fingerprint, g.summary, g.occurrence_count, g.last_occurrence, g.flake_count, t.body,
    coalesce(hit.pull_requests, 0) as pull_requests
  from (
    select * from test_failure_group where repository_id = $1 and test_case_id = $2 and occurrence_count > 0
    order by occurrence_count desc, last_occurrence desc limit ${groupsMax}) g
  left join failure_text t on t.repository_id = $1 and t.hash = g.text_hash
  left join (select f.fingerprint, count(distinct f.pr_number) as pull_requests from ${recent} f group by 1) hit
    on hit.fingerprint = g.fingerprint
  order by g.occurrence_count desc, g.last_occurrence desc`);

export type FailureGroup = Omit<GroupRow, 'body' | 'fingerprint'> & {
  readonly fingerprint: string;
  readonly text: string | null;
};

/** Characters of a text that are shown, and the most that one is unpacked to. */
const textLengthMax = 4_000;
const unpackedMax = 16 * 1_048_576;

/** What the first failed attempt says. */
function unpackFailureText(body: Buffer | null): string | null {
  if (body === null) return null;
  const [failure] = JSON.parse(
    zstdDecompressSync(body, { maxOutputLength: unpackedMax }).toString('utf8'),
  ) as readonly ReportedFailure[];
  if (failure === undefined) return null;
  const head = [failure.type, failure.message].filter((part) => part !== '').join(': ');
  return `${head}\n${failure.body}`.trim().slice(0, textLengthMax);
}

export async function listFailureGroups(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  since: Date,
): Promise<readonly FailureGroup[]> {
  const rows = await selectGroups(db, repositoryId, testCaseId, since);
  return rows.map(({ body, fingerprint, ...row }) => ({
    ...row,
    fingerprint: fingerprint.toString('hex'),
    text: unpackFailureText(body),
  }));
}

export type HitPullRequest = {
  readonly number: number;
  readonly failures: number;
  readonly last_failed_at: Date;
  readonly verdict: FailureVerdict;
  readonly was_quarantined: boolean;
  readonly upload_id: string | null;
  readonly target_branches: readonly string[];
};

const selectPullRequests = statement<TestFailureQueryArgs, HitPullRequest>(`
  select hit.*, array(
      select q.branch from queue q join queue_entry e on e.queue_id = q.id and e.pr_number = hit.number
      where q.repository_id = $1 and q.deleted_at is null order by q.branch limit 3) as target_branches
  from (
    select f.pr_number as number, count(*) as failures, max(f.failed_at) as last_failed_at,
      (array_agg(f.verdict order by f.failed_at desc))[1] as verdict,
      (array_agg(f.was_quarantined order by f.failed_at desc))[1] as was_quarantined,
      (array_agg(f.upload_id order by f.failed_at desc))[1] as upload_id
    from ${recent} f where f.pr_number is not null
    group by f.pr_number order by max(f.failed_at) desc, f.pr_number limit ${pullRequestsMax}) hit
  order by hit.last_failed_at desc, hit.number`);

export const listHitPullRequests = (
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  since: Date,
): Promise<readonly HitPullRequest[]> => selectPullRequests(db, repositoryId, testCaseId, since);

export type ChangeRow = Pick<TestFact, 'kind' | 'before' | 'after'> & {
  readonly recorded_at: Date;
  readonly trigger: FactTrigger;
};

const selectChanges = statement<[repositoryId: string, testCaseId: string], ChangeRow>(`
  select recorded_at, kind, before, after, trigger from test_fact
  where repository_id = $1 and test_case_id = $2 order by recorded_at desc, seq desc limit ${changesMax}`);

export const listTestChanges = (
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
): Promise<readonly ChangeRow[]> => selectChanges(db, repositoryId, testCaseId);

export type TestMute = { readonly monitor: string; readonly until: Date; readonly reason: string };

const selectMutes = statement<[repositoryId: string, testCaseId: string, now: Date], TestMute>(`
  select monitor, until, reason from test_mute where repository_id = $1 and test_case_id = $2 and until > $3`);

export const listTestMutes = (
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  now: Date,
): Promise<readonly TestMute[]> => selectMutes(db, repositoryId, testCaseId, now);

// What the queue landed between two commits of a branch, and how tests failed before: for the culprit of a broken test.

import type { RepositoryId } from '#base/id.ts';
import type { EarlierFailure, LandedCommit } from '#core/health/monitor/culprit.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { runMembersSql } from './run-member.ts';

type LandedRow = {
  sha: string;
  pr_number: number;
  title: string;
  url: string;
  queue_id: string;
  method: LandedCommit['method'];
  before: string;
  landed_at: Date;
};

const landedColumns = `m.commit_sha as sha, m.pr_number, coalesce(e.pr_title, '') as title, coalesce(e.pr_url, '') as url, m.queue_id,
  l.method, l.concluded_at as landed_at, coalesce((select p.commit_sha from landing_pull_request p
    where p.queue_id = m.queue_id and p.number = m.number and p.position < m.position and p.commit_sha is not null
    order by p.position desc limit 1), l.base_sha) as before`;

const landedJoins = `landing_pull_request m join landing l on l.queue_id = m.queue_id and l.number = m.number
  left join queue_entry e on e.queue_id = m.queue_id and e.pr_number = m.pr_number`;

const toLandedCommit = (row: LandedRow): LandedCommit => ({
  sha: row.sha,
  prNumber: row.pr_number,
  title: row.title,
  url: row.url,
  queueId: row.queue_id,
  method: row.method,
  before: row.before,
  landedAt: row.landed_at.getTime(),
});

const selectLanded = statement<[repositoryId: string, shas: readonly string[]], LandedRow>(`
  select ${landedColumns} from ${landedJoins} join queue q on q.id = m.queue_id
  where q.repository_id = $1 and m.commit_sha = any ($2::text[]) and l.status = 'landed'`);

/** The commits among these that queues of the repository landed, by their names. */
export async function findLandedCommits(
  db: Tx,
  repositoryId: RepositoryId,
  shas: readonly string[],
): Promise<ReadonlyMap<string, LandedCommit>> {
  const rows = await selectLanded(db, repositoryId, shas);
  return new Map(rows.map((row) => [row.sha, toLandedCommit(row)]));
}

// A commit that no landing made is the base of the landing after it.
const landingOf = (sha: string, offset: string): string => `coalesce(
  (select max(m.number) from landing_pull_request m where m.queue_id = $1 and m.commit_sha = ${sha}),
  (select min(l.number) ${offset} from landing l where l.queue_id = $1 and l.base_sha = ${sha} and l.status = 'landed'))`;

const selectBetween = statement<
  [queueId: string, passedSha: string, failedSha: string, limit: number],
  LandedRow
>(`
  select ${landedColumns} from ${landedJoins}
  where m.queue_id = $1 and l.status = 'landed' and m.commit_sha is not null
    and m.number between ${landingOf('$2', '')} and ${landingOf('$3', '- 1')}
  order by m.number, m.position limit $4`);

/** The landings of a queue between two commits, in order; empty: the commits are not known, or nothing landed. */
export async function listLandingsBetween(
  db: Tx,
  queueId: string,
  passedSha: string,
  failedSha: string,
  limit: number,
): Promise<readonly LandedCommit[]> {
  return (await selectBetween(db, queueId, passedSha, failedSha, limit)).map(toLandedCommit);
}

type EarlierFailureRow = { test_case_id: string; at: Date; pr_numbers: readonly number[] };

const failuresMax = 2_000;

// In the same way as on the first failing commit, unless that is a known flake. A run of the queue has members; an upload of
// a pull request has its number.
const selectEarlierFailures = statement<
  [repositoryId: string, failedSha: string, ids: readonly string[], brokenAt: Date],
  EarlierFailureRow
>(`
  select f.test_case_id, f.failed_at as at, to_json(coalesce(run.pr_numbers, array[f.pr_number])) as pr_numbers
  from (select distinct d.test_case_id, d.fingerprint from test_failure d
    where d.repository_id = $1 and d.test_case_id = any ($3::uuid[]) and d.sha = $2 and d.branch_class = 'default'
      and d.failed_at > $4::timestamptz - interval '16 days' and d.outcome = 'failed' and d.is_trusted) seen
  join test_failure f on f.repository_id = $1 and f.test_case_id = seen.test_case_id and f.fingerprint = seen.fingerprint
    and f.failed_at between $4::timestamptz - interval '14 days' and $4 and f.outcome = 'failed' and f.is_trusted
    and not f.is_suspect and f.branch_class in ('pull_request', 'queue') and f.verdict in ('new', 'unknown')
  left join lateral (
    select array_agg(distinct m.pr_number) as pr_numbers from queue q
    join test_run t on t.queue_id = q.id and t.test_branch_sha = f.sha
    cross join lateral ${runMembersSql('t')} m
    where q.repository_id = $1 and f.sha <> '') run on true
  where (run.pr_numbers is not null or f.pr_number is not null) and not exists (
    select from test_failure_group g where g.repository_id = $1 and g.test_case_id = f.test_case_id
      and g.fingerprint = f.fingerprint and g.flake_count > 0)
  order by f.failed_at limit ${failuresMax}`);

/** How these tests failed with pull requests before, by the tests' ids. */
export async function findEarlierFailures(
  db: Tx,
  repositoryId: RepositoryId,
  failedSha: string,
  testCaseIds: readonly string[],
  brokenAt: Date,
): Promise<ReadonlyMap<string, readonly EarlierFailure[]>> {
  const failures = new Map<string, EarlierFailure[]>();
  for (const row of await selectEarlierFailures(db, repositoryId, failedSha, testCaseIds, brokenAt)) {
    const known = failures.get(row.test_case_id) ?? [];
    known.push({ at: row.at.getTime(), prNumbers: row.pr_numbers });
    failures.set(row.test_case_id, known);
  }
  return failures;
}

const selectExplained = statement<
  [repositoryId: string, failedSha: string, ids: readonly string[], brokenAt: Date],
  { test_case_id: string }
>(`
  select f.test_case_id from test_failure f
  where f.repository_id = $1 and f.test_case_id = any ($3::uuid[]) and f.sha = $2 and f.branch_class = 'default'
    and f.failed_at > $4::timestamptz - interval '16 days' and f.outcome = 'failed' and f.is_trusted
  group by f.test_case_id
  having bool_or(f.is_suspect) or bool_or(exists (
    select from test_failure_group g where g.repository_id = $1 and g.test_case_id = f.test_case_id
      and g.fingerprint = f.fingerprint and g.flake_count > 0))`);

/** The tests whose first failure a mass failure or a known flake explains. */
export async function findExplainedTests(
  db: Tx,
  repositoryId: RepositoryId,
  failedSha: string,
  testCaseIds: readonly string[],
  brokenAt: Date,
): Promise<ReadonlySet<string>> {
  const rows = await selectExplained(db, repositoryId, failedSha, testCaseIds, brokenAt);
  return new Set(rows.map((row) => row.test_case_id));
}

// Reads of test runs.

import type { QueueId, RunId } from '#base/id.ts';
import type { RequiredCheck } from '#core/queue/check.ts';
import type { FailedTests } from '#core/queue/failed-test.ts';
import type { RuleChange } from '#core/queue/rule.ts';
import { sql, type Selectable } from 'kysely';
import type { Tx } from './cell.ts';
import type { TestRun } from './database.ts';
import { failedTestsOf } from './failed-test-view.ts';
import { requiredChecksColumn, wireState } from './required-view.ts';
import { membersOf } from './run-member.ts';

export type RunMember = {
  readonly prNumber: number;
  readonly headSha: string;
  readonly underTest: boolean;
  readonly title: string;
  readonly url: string;
};

type PlannerColumns =
  | 'number'
  | 'phase'
  | 'composition'
  | 'ahead'
  | 'outcome'
  | 'outcome_detail'
  | 'pushed_at'
  | 'started_at'
  | 'required_sources'
  | 'rule_changes';

export type RunRow = Omit<Selectable<TestRun>, 'queue_id' | PlannerColumns> & {
  readonly members: readonly RunMember[];
  readonly required: readonly RequiredCheck[];
  readonly rule_changes: readonly RuleChange[];
  readonly failed_tests: FailedTests;
};

type RunFilter =
  | { readonly kind: 'one'; readonly runId: string }
  /** The run that the pull request is in now, else its latest. */
  | { readonly kind: 'ofPullRequest'; readonly prNumber: number; readonly current: RunId | null }
  | { readonly kind: 'active' }
  | {
      readonly kind: 'between';
      readonly since: Date;
      readonly until: Date | undefined;
      readonly offset: number;
      readonly take: number;
    };

const members = sql.raw(`(
  select coalesce(json_agg(json_build_object('prNumber', m.pr_number, 'headSha', m.head_sha, 'underTest', m.under_test,
    'title', coalesce(e.pr_title, ''), 'url', coalesce(e.pr_url, '')) order by m.position), '[]')
  from ${membersOf('t')} m left join entry e on e.queue_id = t.queue_id and e.pr_number = m.pr_number) as members`);

// While a run is under way what CI says of it is in commit_check; a concluded one keeps its own.
const liveChecks = sql.raw(`
  case when t.status <> 'in_progress' then t.status_checks else coalesce((
    select jsonb_agg(jsonb_build_object('context', c.name, 'url', c.body ->> 'url', 'state', ${wireState},
      'creator', c.body ->> 'creator') order by c.name)
    from commit_check c join queue q on q.id = t.queue_id and q.repository_id = c.repository_id
    where c.sha = t.test_branch_sha and c.kind = 'status'), t.status_checks) end as status_checks,
  case when t.status <> 'in_progress' then t.check_suites else coalesce((
    select jsonb_agg(jsonb_build_object('checkRuns', s.runs)) from (
      select jsonb_agg(jsonb_build_object('name', c.body ->> 'name', 'url', c.body ->> 'url',
        'status', upper(c.body ->> 'status'), 'conclusion', upper(c.body ->> 'conclusion'),
        'app', c.body ->> 'app') order by c.name) as runs
      from commit_check c join queue q on q.id = t.queue_id and q.repository_id = c.repository_id
      where c.sha = t.test_branch_sha and c.kind = 'check' group by c.body ->> 'suite') s), t.check_suites)
  end as check_suites`);

export async function listRuns(db: Tx, queueId: QueueId, filter: RunFilter): Promise<readonly RunRow[]> {
  const { rows } = await sql<RunRow>`
    select t.id, t.kind, t.status, t.created_at, t.concluded_at, t.test_branch, t.test_branch_sha, t.test_tree_sha,
      t.base_sha, t.required_statuses, t.required_statuses_source,
      ${sql.raw(requiredChecksColumn('t'))} as required, t.rule_changes, ${liveChecks}, ${members},
      ${sql.raw(failedTestsOf('(select q.repository_id from queue q where q.id = t.queue_id)'))} as failed_tests
    from test_run t where t.queue_id = ${queueId} and ${condition(queueId, filter)}`.execute(db);
  return rows;
}

function condition(queueId: QueueId, filter: RunFilter) {
  switch (filter.kind) {
    case 'one':
      return sql`t.id = ${filter.runId}`;
    case 'ofPullRequest':
      return sql`t.id = coalesce(${filter.current}::uuid, (select m.test_run_id from test_run_member m
        where m.queue_id = ${queueId} and m.pr_number = ${filter.prNumber} and m.under_test
        order by m.test_run_id desc limit 1))`;
    case 'active':
      return sql`t.status = 'in_progress' order by t.created_at, t.id limit 1000`;
    case 'between':
      return sql`${window(filter)} order by t.created_at desc, t.id desc limit ${filter.take} offset ${filter.offset}`;
  }
}

const window = ({ since, until }: { readonly since: Date; readonly until: Date | undefined }) =>
  until === undefined
    ? sql`t.created_at >= ${since}`
    : sql`t.created_at >= ${since} and t.created_at < ${until}`;

export async function countRuns(
  db: Tx,
  queueId: QueueId,
  since: Date,
  until: Date | undefined,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from test_run t where t.queue_id = ${queueId} and ${window({ since, until })}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

// Reads of test runs.

import type { QueueId, RunId } from '#base/id.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import type { FailedTests } from '#core/queue/rule/failed-test.ts';
import type { RuleChange } from '#core/queue/rule.ts';
import type { Tx } from '../cell.ts';
import { failedTestsSql } from './failed-test-view.ts';
import { type KeptChecks, presentChecks } from './kept-check.ts';
import { requiredChecksColumn } from '../host/required-view.ts';
import { runMembersSql } from './run-member.ts';
import { filteredStatement, statement } from '../statement.ts';

export type RunMember = {
  readonly prNumber: number;
  readonly headSha: string;
  readonly underTest: boolean;
  readonly title: string;
  readonly url: string;
};

export type RunRow = {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly created_at: Date;
  readonly concluded_at: Date | null;
  readonly test_branch: string;
  readonly test_branch_sha: string | null;
  readonly test_tree_sha: string | null;
  readonly base_sha: string | null;
  readonly required_statuses: readonly string[];
  readonly required_statuses_source: string;
  readonly members: readonly RunMember[];
  readonly required: readonly RequiredCheck[];
  readonly rule_changes: readonly RuleChange[];
  readonly failed_tests: FailedTests;
  /** How many tests it runs; null: all. */
  readonly selected_tests: number | null;
} & KeptChecks;

/** `checks`: the check results of an unfinished run, if any. A run that has ended keeps its own. */
type ReadRow = RunRow & { readonly checks: readonly Check[] | null };

const presentRow = ({ checks, ...row }: ReadRow): RunRow =>
  checks === null ? row : { ...row, ...presentChecks(checks) };

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

const members = `(
  select coalesce(json_agg(json_build_object('prNumber', m.pr_number, 'headSha', m.head_sha, 'underTest', m.under_test,
    'title', coalesce(e.pr_title, ''), 'url', coalesce(e.pr_url, '')) order by m.position), '[]')
  from ${runMembersSql('t')} m left join queue_entry e on e.queue_id = t.queue_id and e.pr_number = m.pr_number) as members`;

const liveChecks = `case when t.status = 'in_progress' then (
    select json_agg(c.body) from commit_check c join queue q on q.id = t.queue_id and q.repository_id = c.repository_id
    where c.sha = t.test_branch_sha) end as checks`;

const runsWhere = (condition: string): string => `
  select t.id, t.kind, t.status, t.created_at, t.concluded_at, t.test_branch, t.test_branch_sha, t.test_tree_sha,
    t.base_sha, t.required_statuses, t.required_statuses_source,
    ${requiredChecksColumn('t')} as required, t.rule_changes, t.status_checks, t.check_suites,
    ${liveChecks}, ${members},
    ${failedTestsSql('(select q.repository_id from queue q where q.id = t.queue_id)')} as failed_tests,
    cardinality(t.selected_tests) as selected_tests
  from test_run t where t.queue_id = $1 and ${condition}`;

const isWithin = 't.created_at >= $2 and ($3::timestamptz is null or t.created_at < $3)';

const selectOne = statement<[queueId: string, runId: string], ReadRow>(runsWhere('t.id = $2'));
const selectOfPullRequest = statement<[queueId: string, prNumber: number, current: string | null], ReadRow>(
  runsWhere(`t.id = coalesce($3::uuid, (select m.test_run_id from test_run_member m
    where m.queue_id = $1 and m.pr_number = $2 and m.under_test order by m.test_run_id desc limit 1))`),
);
const selectActive = statement<[queueId: string], ReadRow>(
  runsWhere(`t.status = 'in_progress' order by t.created_at, t.id limit 1000`),
);
const selectBetween = filteredStatement<
  [queueId: string, since: Date, until: Date | null, take: number, offset: number],
  ReadRow
>(runsWhere(`${isWithin} order by t.created_at desc, t.id desc limit $4 offset $5`));

export async function listRuns(db: Tx, queueId: QueueId, filter: RunFilter): Promise<readonly RunRow[]> {
  return (await readRuns(db, queueId, filter)).map(presentRow);
}

function readRuns(db: Tx, queueId: QueueId, filter: RunFilter): Promise<readonly ReadRow[]> {
  switch (filter.kind) {
    case 'one':
      return selectOne(db, queueId, filter.runId);
    case 'ofPullRequest':
      return selectOfPullRequest(db, queueId, filter.prNumber, filter.current);
    case 'active':
      return selectActive(db, queueId);
    case 'between':
      return selectBetween(db, queueId, filter.since, filter.until ?? null, filter.take, filter.offset);
  }
}

const selectCount = filteredStatement<[queueId: string, since: Date, until: Date | null], { count: number }>(
  `select count(*) from test_run t where t.queue_id = $1 and ${isWithin}`,
);

export async function countRuns(
  db: Tx,
  queueId: QueueId,
  since: Date,
  until: Date | undefined,
): Promise<number> {
  return (await selectCount(db, queueId, since, until ?? null))[0]?.count ?? 0;
}

// Writes test_run as its test branch comes and goes; plan-store.ts writes what a reconcile decides.

import type { QueueId, RunId } from '#base/id.ts';
import type { RequiredCheck } from '#core/queue/check.ts';
import type { RunReport } from '#core/queue/engine/reconcile-input.ts';
import type { RuleChange } from '#core/queue/rule.ts';
import type { HeadReview } from '#core/queue/model.ts';
import type { Tx } from '../cell.ts';
import { type CommitIdentity, identityColumn } from './commit-identity-store.ts';
import { isForgottenRun } from '../host/host-store.ts';
import { type AtHostRow, atHostColumns, type QueueAtHost, toQueueAtHost } from '../host/host-view.ts';
import { longPhase, runMembersSql, targetedPhase } from './run-member.ts';
import { statement } from '../statement.ts';
import type { QueueLock } from '../transaction.ts';
import { hasWebhookEndpointsColumn, recordTestsBegin } from '../webhook/webhook-event.ts';

/** A pull request as its commit is built: none of this changes during the attempt. */
export type MemberRecord = {
  readonly number: number;
  readonly headSha: string;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly author: string;
  /** The fork that its head comes from; null: the repository itself. */
  readonly fork: string | null;
  /** The review of one of its heads; not always of this one. */
  readonly headReview: HeadReview | null;
  readonly submittedAt: Date;
  /** Null until its commits are first built in this attempt. */
  readonly identity: CommitIdentity | null;
  /** Submitted with force: it lands even if the host would refuse to merge it. */
  readonly forced: boolean;
};

/** The tests that a run of some tests runs. */
type TestSelection = {
  readonly count: number;
  /** As their reports name them; a part that the report did not have is empty. Fewer than `count`: the others are not known. */
  readonly tests: readonly { readonly file: string; readonly classname: string; readonly name: string }[];
};

export type AskedRun = {
  readonly id: RunId;
  readonly baseSha: string;
  readonly testBranch: string;
  readonly members: readonly MemberRecord[];
  /**
   * Earlier runs of the same base and heads, of all tests or of some as this one: the last commit is dated at least this many
   * seconds later.
   */
  readonly repeats: number;
  /** The tests that it runs; null: all. */
  readonly selection: TestSelection | null;
};

type StaleRun = {
  readonly id: RunId;
  readonly testBranch: string;
  readonly sha: string;
  /** The run was given up, and CI may still be working on it. */
  readonly isDead: boolean;
};

export type Publishing = QueueAtHost & {
  readonly asked: readonly AskedRun[];
  readonly stale: readonly StaleRun[];
};

export const memberColumns = `json_build_object('number', e.pr_number, 'headSha', m.head_sha, 'title', e.commit_title,
  'body', e.pr_body, 'url', e.pr_url, 'author', e.pr_author, 'fork', e.pr_fork, 'headReview', e.head_review,
  'submittedAt', e.submitted_at, 'forced', e.forced, 'identity', ${identityColumn})`;

export const parseMemberRecord = (member: MemberRecord): MemberRecord => ({
  ...member,
  submittedAt: new Date(member.submittedAt),
});

const selectQueue = statement<[queueId: string], AtHostRow>(`
  select ${atHostColumns} from queue q join repository r on r.id = q.repository_id where q.id = $1`);

type OpenRunRow = {
  id: string;
  status: string;
  phase: string;
  base_sha: string;
  test_branch: string;
  test_branch_sha: string | null;
  is_dead: boolean | null;
  repeats: number;
  members: MemberRecord[] | null;
  selection: TestSelection | null;
};

/** The selected tests of the run `t` as TestSelection; null: it runs all. */
const selectionSql = `case when t.selected_tests is not null then (
    select json_build_object('count', cardinality(t.selected_tests), 'tests', coalesce(json_agg(json_build_object(
      'file', coalesce(c.file_path, ''), 'classname', coalesce(c.classname, ''), 'name', c.name) order by s.n), '[]'))
    from unnest(t.selected_tests) with ordinality as s (id, n)
    join test_case c on c.repository_id = (select repository_id from queue where id = $1) and c.id = s.id) end`;

const selectOpenRuns = statement<[queueId: string], OpenRunRow>(`
  select t.id, t.status, t.phase, t.base_sha, t.test_branch, t.test_branch_sha,
    t.outcome in ('cancelled', 'timed_out', 'infrastructure') and t.stopped_count is null as is_dead,
    (select count(*) from test_run o where o.queue_id = $1 and o.number < t.number
      and sha256(o.composition::bytea) = sha256(t.composition::bytea)
      and (o.selected_tests is null) = (t.selected_tests is null)) as repeats,
    case when t.status = 'in_progress' then (
      select json_agg(${memberColumns} order by m.position) from ${runMembersSql('t')} m
      join queue_entry e on e.queue_id = $1 and e.pr_number = m.pr_number) end as members,
    case when t.status = 'in_progress' then ${selectionSql} end as selection
  from test_run t where t.queue_id = $1 and t.phase <> 'closed' and t.outcome is distinct from 'conflict'
  order by t.number`);

const askedPhases: ReadonlySet<string> = new Set(['asked', longPhase, targetedPhase]);

const isAsked = ({ phase }: OpenRunRow): boolean => askedPhases.has(phase);

/** The runs of a queue to push to the host, and those to remove from it, also for a deleted queue. */
export async function loadPublishing(db: Tx, queueId: QueueId): Promise<Publishing | null> {
  const [queues, runs] = await Promise.all([selectQueue(db, queueId), selectOpenRuns(db, queueId)]);
  const [queue] = queues;
  if (queue === undefined) return null;
  return {
    ...toQueueAtHost(queue),
    asked: runs
      .filter((run) => run.status === 'in_progress' && isAsked(run))
      .map((run) => ({
        id: run.id as RunId,
        baseSha: run.base_sha,
        testBranch: run.test_branch,
        members: run.members?.map(parseMemberRecord) ?? [],
        repeats: run.repeats,
        selection: run.selection,
      })),
    stale: runs.flatMap(({ id, status, test_branch: testBranch, test_branch_sha: sha, is_dead }) =>
      status !== 'in_progress' && sha !== null
        ? [{ id: id as RunId, testBranch, sha, isDead: is_dead === true }]
        : [],
    ),
  };
}

const selectTested = statement<[queueId: string, id: string, sha: string], { found: boolean }>(`
  select exists (select from test_run where queue_id = $1 and id <> $2 and test_branch_sha = $3) as found`);

/** Whether another run of the queue has this commit: what CI reported for that run must not decide this one. */
export async function wasTested(db: Tx, queueId: QueueId, id: RunId, sha: string): Promise<boolean> {
  const [row] = await selectTested(db, queueId, id, sha);
  return row?.found ?? false;
}

export type BuiltRun = {
  readonly id: RunId;
  readonly sha: string;
  readonly tree: string;
  readonly required: readonly RequiredCheck[];
  readonly ruleChanges: readonly RuleChange[];
  readonly source: 'queue' | 'repository_file' | 'branch_protection';
};

const selectForUpdate = statement<[queueId: string], { id: string }>(`
  select id from test_run where queue_id = $1 and phase <> 'closed' order by id for no key update`);

/** A writer of several runs locks them first, in rising order, as check-store.ts does for check updates. */
export const holdRuns = (tx: Tx, queueId: QueueId): Promise<unknown> => selectForUpdate(tx, queueId);

const updateBuilt = statement<[queueId: string, runs: string]>(`
  update test_run t set test_branch_sha = r.sha, test_tree_sha = r.tree, required_statuses_source = r.source,
    required_statuses = array(select e ->> 'name' from jsonb_array_elements(r.required) as e),
    required_sources = array(select e ->> 'source' from jsonb_array_elements(r.required) as e),
    rule_changes = r."ruleChanges"
  from jsonb_to_recordset($2) as r (id uuid, sha text, tree text, source text, required jsonb, "ruleChanges" jsonb)
  where t.queue_id = $1 and t.id = r.id`);

/** Recorded before the push: from now on check updates for these commits count. */
export async function recordBuilt(tx: Tx, queueId: QueueId, runs: readonly BuiltRun[]): Promise<void> {
  await holdRuns(tx, queueId);
  await updateBuilt(tx, queueId, JSON.stringify(runs));
}

const updatePushed = statement<[queueId: string, runs: string, at: Date], { has_endpoints: boolean }>(`
  update test_run t set phase = 'pushed', pushed_at = $3, test_pr_number = r."testPr"
  from jsonb_to_recordset($2) as r (id uuid, "testPr" bigint) where t.queue_id = $1 and t.id = r.id
  returning ${hasWebhookEndpointsColumn('(select repository_id from queue where id = $1)')} as has_endpoints`);

/** `testPr`: the draft pull request that shows the run; null: there is none. */
type PushedRun = { readonly id: RunId; readonly testPr: number | null };

export async function recordPushed(
  tx: Tx,
  queueId: QueueId,
  runs: readonly PushedRun[],
  at: Date,
): Promise<void> {
  const pushed = await updatePushed(tx, queueId, JSON.stringify(runs), at);
  if (pushed.some((run) => run.has_endpoints)) await recordTestsBegin(tx, queueId, runs, at);
}

type UnstartedRunOutcome = { readonly id: RunId; readonly outcome: NonNullable<RunReport['outcome']> };

const updateOutcome = statement<[queueId: string, runs: string]>(`
  update test_run t set outcome = r.kind, outcome_detail = r.detail
  from jsonb_to_recordset($2) as r (id uuid, kind text, detail jsonb)
  where t.queue_id = $1 and t.id = r.id and t.status = 'in_progress'`);

/** Runs that will not be tested, each with its reason. */
export async function recordUnstarted(
  tx: Tx,
  queueId: QueueId,
  runs: readonly UnstartedRunOutcome[],
): Promise<void> {
  const rows = runs.map(({ id, outcome: { kind, ...detail } }) => ({ id, kind, detail }));
  await updateOutcome(tx, queueId, JSON.stringify(rows));
}

const updateForgotten = statement<[queueId: string, at: Date]>(`
  update test_run t set status = 'cancelled', concluded_at = $2, outcome = coalesce(t.outcome, 'cancelled')
  where t.queue_id = $1 and ${isForgottenRun}`);

/** Ends the runs that no plan waits for, so that their test branches are removed. */
export const concludeForgottenRuns = (tx: Tx, { queueId }: QueueLock, at: Date): Promise<unknown> =>
  updateForgotten(tx, queueId, at);

const updateClosed = statement<[queueId: string, ids: string]>(`
  update test_run set phase = 'closed' where queue_id = $1 and status <> 'in_progress' and phase <> 'closed'
    and (test_branch_sha is null or id = any ($2::uuid[]))`);

/** Nothing of these runs is left on the host. */
export async function recordClosed(tx: Tx, queueId: QueueId, ids: readonly RunId[]): Promise<void> {
  await updateClosed(tx, queueId, `{${ids.join(',')}}`);
}

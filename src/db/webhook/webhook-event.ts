// Writes webhook_delivery as facts are recorded: in the same statement, joined with the endpoints that want
// the event. An event exists if and only if its fact does. Whether the organization has an endpoint is read
// with the changed rows; without one, facts are recorded by a statement without events.
//
// Values that only the process knows (the dashboard URL) are added when an event is sent
// (event/webhook-payload.ts).

import type { QueueId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** How long delivery is attempted. */
export const deliveryHours = 24;

export const isoColumn = (instant: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const repositoryColumn = `jsonb_build_object('host', w.host, 'owner', w.owner, 'name', w.name)`;

/** The endpoints of a repository's organization, as a table; `repository`: an expression for its id. */
export const repositoryEndpointsSql = (repository: string): string => `
  select w.id, w.event_types, r.host, r.owner, r.name
  from repository r join webhook_endpoint w on w.organization_id = r.organization_id
    and w.disabled_at is null and w.deleted_at is null
    and (w.repository_ids is null or r.id = any (w.repository_ids))
  where r.id = ${repository}`;

const reasons = `case h.action when 'queued' then jsonb_build_object('queued_reason', h.reason)
    when 'failed' then jsonb_build_object('failure_reason', h.reason)
    when 'canceled' then jsonb_build_object('cancellation_reason', h.reason)
    when 'merged' then jsonb_build_object('merged_reason', h.reason) else '{}'::jsonb end`;

const underTest = `case when h.test_branch is null then '{}'::jsonb else jsonb_build_object('test_branch', h.test_branch,
    'test_branch_sha', h.test_branch_sha, 'test_pr_number', h.test_pr_number, 'batched', h.batched,
    'is_bisection', h.is_bisection) end`;

const common = `'action', h.action, 'status', h.state, 'timestamp', ${isoColumn('h.recorded_at')}`;

/**
 * The run of an event, for `left join lateral`; `queue` and `run`: expressions for their ids. Batched: it tests several
 * pull requests together.
 */
export const eventRunSql = (queue: string, run: string): string => `(
  select t.id as run_id, t.test_branch, t.test_branch_sha, t.test_pr_number, t.kind = 'bisection' as is_bisection,
    (select count(*) from test_run_member m
      where m.queue_id = t.queue_id and m.test_run_id = t.id and m.under_test) > 1 as batched
  from test_run t where t.queue_id = ${queue} and t.id = ${run})`;

/**
 * Common table expressions and the insertion that end a statement. It must have `wanted` (repositoryEndpointsSql, and the branch as
 * `target_branch`) and `happened`: n (the order), action, queue_id, pr_number, author, state, reason, recorded_at, and
 * the columns of eventRunSql.
 */
export const insertDeliveries = `
  events as (
    select h.n, h.recorded_at, h.queue_id || '#' || h.pr_number as subject, 'pull_request.' || h.action as type,
      jsonb_build_object(${common}, 'author', h.author, 'pr_number', h.pr_number)
        || jsonb_strip_nulls(${reasons} || ${underTest}) as body
    from happened h
    union all
    select h.n, h.recorded_at, 'run ' || h.run_id, 'pull_request_batch.' || h.action,
      jsonb_build_object(${common}, 'pr_numbers', h.pr_numbers) || jsonb_strip_nulls(${reasons} || ${underTest})
    from (select max(n) as n, max(recorded_at) as recorded_at, run_id, action, state, reason, test_branch,
        test_branch_sha, test_pr_number, batched, is_bisection, jsonb_agg(pr_number order by n) as pr_numbers
      from happened where batched
      group by run_id, action, state, reason, test_branch, test_branch_sha, test_pr_number, batched, is_bisection
      having count(*) > 1) h
  )
  insert into webhook_delivery (endpoint_id, subject, type, payload, created_at, due_at, expires_at)
  select w.id, t.subject, t.type,
    t.body || jsonb_build_object('repository', ${repositoryColumn}, 'target_branch', w.target_branch),
    t.recorded_at, t.recorded_at, t.recorded_at + interval '${deliveryHours} hours'
  from wanted w cross join events t
  where w.event_types = '{}' or t.type = any (w.event_types)
  order by t.n, t.type`;

/** Whether any endpoint may want events of a repository; `repository`: an expression for its id. */
export const hasWebhookEndpointsColumn = (repository: string): string => `exists (
  select from repository sender join webhook_endpoint w on w.organization_id = sender.organization_id
    and w.disabled_at is null and w.deleted_at is null
  where sender.id = ${repository})`;

/** `queue`: an expression for its id. */
export const wantedInQueue = (queue: string): string => `
  select e.*, q.branch as target_branch from queue q cross join lateral (${repositoryEndpointsSql('q.repository_id')}) e
  where q.id = ${queue}`;

// Entries whose tests start: before the push there is no commit and no pull request to name.
const insertTesting = statement<[queueId: string, runs: string, at: Date]>(`
  with wanted as (${wantedInQueue('$1')}),
  happened as (
    select m.position as n, 'testing' as action, e.queue_id, e.pr_number, e.pr_author as author, e.state,
      null::text as reason, $3::timestamptz as recorded_at, t.*
    from jsonb_to_recordset($2) as r (id uuid)
    join test_run_member m on m.queue_id = $1 and m.test_run_id = r.id
    join queue_entry e on e.queue_id = $1 and e.pr_number = m.pr_number and e.test_run_id = r.id and e.state = 'testing'
    cross join lateral ${eventRunSql('e.queue_id', 'r.id')} t
    where exists (select from wanted)
  ), ${insertDeliveries}`);

export const recordTestsBegin = (
  tx: Tx,
  queueId: QueueId,
  runs: readonly { readonly id: string }[],
  at: Date,
): Promise<unknown> => insertTesting(tx, queueId, JSON.stringify(runs), at);

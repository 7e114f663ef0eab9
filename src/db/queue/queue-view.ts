// Reads of entries for the API and the dashboard.

import type { QueueId, RepositoryId, RunId } from '#base/id.ts';
import type { Entry, EntryState, Queue } from '#core/queue/model.ts';
import type { BranchRuleChange, RuleChange } from '#core/queue/rule.ts';
import type { Reason } from '#core/queue/reason.ts';
import type { EntryStatus } from '#core/queue/text/entry-status.ts';
import type { Tx } from '../cell.ts';
import { entryColumns, toEntry, type EntryRow, queueColumns, toQueue, type QueueRow } from '../row.ts';
import {
  toEntryStatus,
  hasTargetsColumn,
  positionColumn,
  statusColumns,
  type StatusRow,
} from '../account/scope-view.ts';
import { ruleChangeSql } from '../host/required-view.ts';
import { filteredStatement, statement } from '../statement.ts';

export const enqueuedStatement = `
  select ${entryColumns} from queue_entry e
  where e.queue_id = $1 and e.line_rank is not null
  order by e.line_rank, e.line_major, e.line_minor`;

const selectEnqueued = statement<[queueId: string], EntryRow>(enqueuedStatement);

/** Every live entry, in queue order. */
export async function listEnqueued(db: Tx, queueId: QueueId): Promise<readonly Entry[]> {
  return (await selectEnqueued(db, queueId)).map(toEntry);
}

type StatusOfEntryRow = EntryRow & StatusRow;

// Planning takes longer than reading. PostgreSQL would plan an array parameter for each call, because the
// length of the array changes its estimate; for this form the estimate is constant, and PostgreSQL keeps the
// plan.
const selectEntries = statement<[queueId: string, prNumbers: string], StatusOfEntryRow>(`
  select ${entryColumns}, ${hasTargetsColumn}, ${positionColumn}, ${statusColumns}
  from jsonb_array_elements_text($2) as wanted (pr)
  cross join lateral (select * from queue_entry where queue_id = $1 and pr_number = wanted.pr::bigint limit 1) e
  join queue q on q.id = e.queue_id join repository r on r.id = q.repository_id`);

export async function listEntries(
  db: Tx,
  queueId: QueueId,
  prNumbers: readonly number[],
): Promise<readonly EntryStatus[]> {
  return (await selectEntries(db, queueId, JSON.stringify([...new Set(prNumbers)]))).map(toEntryStatus);
}

export type EntryFilter = {
  readonly state?: EntryState | undefined;
  readonly concludedFrom?: Date | undefined;
  readonly concludedBefore?: Date | undefined;
};

/** Where a page ended: entries are listed by conclusion when a window is asked for, by submission otherwise. */
export type EntryCursor = { readonly seniority: number; readonly concludedAt: Date | null };

const newestColumns = `select ${entryColumns}, e.concluded_at, ${hasTargetsColumn}, ${positionColumn}, ${statusColumns}
  from queue_entry e join queue q on q.id = e.queue_id join repository r on r.id = q.repository_id
  where e.queue_id = $1 and ($2::text is null or e.state = $2)`;

type NewestRow = StatusOfEntryRow & { concluded_at: Date | null };

const selectNewestSubmitted = filteredStatement<
  [queueId: string, state: EntryState | null, after: number | null, take: number],
  NewestRow
>(`${newestColumns} and ($3::bigint is null or e.seniority < $3) order by e.seniority desc limit $4`);

const selectNewestConcluded = filteredStatement<
  [
    queueId: string,
    state: EntryState | null,
    from: Date | null,
    before: Date | null,
    afterTime: Date | null,
    afterSeniority: number | null,
    take: number,
  ],
  NewestRow
>(`${newestColumns} and e.concluded_at is not null
    and ($3::timestamptz is null or e.concluded_at >= $3) and ($4::timestamptz is null or e.concluded_at < $4)
    and ($6::bigint is null or (e.concluded_at, e.seniority) < ($5::timestamptz, $6))
  order by e.concluded_at desc, e.seniority desc limit $7`);

export async function listNewest(
  db: Tx,
  queueId: QueueId,
  { state, concludedFrom: from, concludedBefore: before }: EntryFilter,
  after: EntryCursor | null,
  take: number,
): Promise<readonly (EntryStatus & { readonly cursor: EntryCursor })[]> {
  const seniority = after?.seniority ?? null;
  const rows =
    from === undefined && before === undefined
      ? await selectNewestSubmitted(db, queueId, state ?? null, seniority, take)
      : await selectNewestConcluded(
          db,
          queueId,
          state ?? null,
          from ?? null,
          before ?? null,
          after?.concludedAt ?? null,
          seniority,
          take,
        );
  return rows.map((row) => ({
    ...toEntryStatus(row),
    cursor: { seniority: row.seniority, concludedAt: row.concluded_at },
  }));
}

export type TimelineRow = {
  readonly recorded_at: Date;
  readonly state: EntryState;
  readonly reason: Reason | null;
  readonly actor: string;
  readonly test_run_id: RunId | null;
  readonly attempt: number;
  /** The rules that the pull request changes, if it is being tested or has landed. */
  readonly rule_change: RuleChange | null;
  /** How the rules of the branch changed, if that restarted the tests of the pull request. */
  readonly branch_rule_change: BranchRuleChange | null;
};

const selectTimeline = statement<[queueId: string, prNumber: number], TimelineRow>(`
  select f.recorded_at, f.state, f.reason, f.actor, f.test_run_id, f.attempt,
    case f.state when 'testing' then (select ${ruleChangeSql('t', '$2')} from test_run t
        where t.queue_id = $1 and t.id = f.test_run_id)
      when 'merged' then (select ${ruleChangeSql('l', '$2')} from landing_pull_request m
        join landing l on l.queue_id = m.queue_id and l.number = m.number and l.status = 'landed'
        where m.queue_id = $1 and m.pr_number = $2 and m.attempt = f.attempt order by l.number desc limit 1) end as rule_change,
    case f.kind when 'restart_requested' then f.payload -> 'ruleChange' end as branch_rule_change
  from queue_fact f
  where f.queue_id = $1 and f.pr_number = $2 and f.state is not null
  order by f.recorded_at desc, f.seq desc limit 1000`);

/** The state changes of an entry over all its attempts, newest first; at most the newest 1,000. */
export const listTimeline = (db: Tx, queueId: QueueId, prNumber: number): Promise<readonly TimelineRow[]> =>
  selectTimeline(db, queueId, prNumber);

const selectQueuesOf = statement<[repositoryId: string], { id: string }>(
  `select id from queue where repository_id = $1 and deleted_at is null order by id`,
);

/** The queues of a repository, in a fixed order, so that transactions that mark several never deadlock. */
export async function listQueueIds(db: Tx, repositoryId: RepositoryId): Promise<readonly QueueId[]> {
  return (await selectQueuesOf(db, repositoryId)).map((row) => row.id as QueueId);
}

const selectQueues = statement<[repositoryId: string], QueueRow>(
  `select ${queueColumns} from queue q where q.repository_id = $1 and q.deleted_at is null order by q.id`,
);

export async function listQueues(db: Tx, repositoryId: RepositoryId): Promise<readonly Queue[]> {
  return (await selectQueues(db, repositoryId)).map(toQueue);
}

const selectQueuesOnBranch = statement<
  [repositoryId: string, branch: string, sha: string | null],
  { id: string }
>(`
  select id from queue q where repository_id = $1 and branch = $2 and deleted_at is null
    and branch_sha is distinct from $3
    and not exists (select from landing l where l.queue_id = q.id and l.status = 'intended')`);

/** The queue of a branch, unless it already knows this head or is landing: then the push is its own. */
export async function listQueuesOnBranch(
  db: Tx,
  repositoryId: RepositoryId,
  branch: string,
  sha: string | null,
): Promise<readonly QueueId[]> {
  return (await selectQueuesOnBranch(db, repositoryId, branch, sha)).map((row) => row.id as QueueId);
}

const selectQueuesWith = statement<
  [repositoryId: string, prNumber: number],
  { id: string; is_host_away: boolean }
>(`
  select q.id, q.host_away_at is not null as is_host_away
  from queue q join queue_entry e on e.queue_id = q.id and e.pr_number = $2
  where q.repository_id = $1 and q.deleted_at is null and e.line_rank is not null and not e.landing`);

/** The queues in which a pull request is live. While it is landing, only the branch has news of it. */
export async function listQueuesWithPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  prNumber: number,
): Promise<readonly { readonly queueId: QueueId; readonly isHostAway: boolean }[]> {
  const rows = await selectQueuesWith(db, repositoryId, prNumber);
  return rows.map((row) => ({ queueId: row.id as QueueId, isHostAway: row.is_host_away }));
}

// Reads of entries for screens and answers.

import type { QueueId, RepositoryId, RunId } from '#base/id.ts';
import type { Entry, EntryState, Queue } from '#core/queue/model.ts';
import type { BranchRuleChange, RuleChange } from '#core/queue/rule.ts';
import type { Reason } from '#core/queue/reason.ts';
import { sql } from 'kysely';
import type { Standing } from '#core/queue/standing.ts';
import type { Tx } from './cell.ts';
import { entryColumns, entryOf, type EntryRow, queueColumns, queueOf, type QueueRow } from './row.ts';
import { hasTargetsColumn, lineColumns, lineFactsOf, type LineRow, positionColumn } from './scope-view.ts';
import { ruleChangeOf } from './required-view.ts';
import { statement } from './statement.ts';

export const enqueuedStatement = `
  select ${entryColumns} from entry e
  where e.queue_id = $1 and e.line_rank is not null
  order by e.line_rank, e.line_major, e.line_minor`;

const selectEnqueued = statement<[queueId: string], EntryRow>(enqueuedStatement);

/** Every live entry, in queue order. */
export async function listEnqueued(db: Tx, queueId: QueueId): Promise<readonly Entry[]> {
  return (await selectEnqueued(db, queueId)).map(entryOf);
}

type ScopedRow = EntryRow & LineRow & { has_impacted_targets: boolean; position: number | null };

const scopedOf = (row: ScopedRow): Standing => ({
  entry: entryOf(row),
  hasImpactedTargets: row.has_impacted_targets,
  position: row.position,
  line: lineFactsOf(row),
});

// Planning takes longer than reading. For an array PostgreSQL would plan anew each time, because how long it is changes
// what it expects; of this it expects the same each time, and keeps the plan.
const selectEntries = statement<[queueId: string, prNumbers: string], ScopedRow>(`
  select ${entryColumns}, ${hasTargetsColumn}, ${positionColumn}, ${lineColumns}
  from jsonb_array_elements_text($2) as wanted (pr)
  cross join lateral (select * from entry where queue_id = $1 and pr_number = wanted.pr::bigint limit 1) e
  join queue q on q.id = e.queue_id join repository r on r.id = q.repository_id`);

export async function listEntries(
  db: Tx,
  queueId: QueueId,
  prNumbers: readonly number[],
): Promise<readonly Standing[]> {
  return (await selectEntries(db, queueId, JSON.stringify([...new Set(prNumbers)]))).map(scopedOf);
}

export type EntryFilter = {
  readonly state?: EntryState | undefined;
  readonly concludedFrom?: Date | undefined;
  readonly concludedBefore?: Date | undefined;
};

/** Where a page ended: entries are listed by conclusion when a window is asked for, by submission otherwise. */
export type EntryCursor = { readonly seniority: number; readonly concludedAt: Date | null };

export async function listNewest(
  db: Tx,
  queueId: QueueId,
  filter: EntryFilter,
  after: EntryCursor | null,
  take: number,
): Promise<readonly (Standing & { readonly cursor: EntryCursor })[]> {
  const windowed = filter.concludedFrom !== undefined || filter.concludedBefore !== undefined;
  const conditions = [sql`e.queue_id = ${queueId}`];
  if (filter.state !== undefined) conditions.push(sql`e.state = ${filter.state}`);
  if (windowed) conditions.push(sql`e.concluded_at is not null`);
  if (filter.concludedFrom !== undefined) conditions.push(sql`e.concluded_at >= ${filter.concludedFrom}`);
  if (filter.concludedBefore !== undefined) conditions.push(sql`e.concluded_at < ${filter.concludedBefore}`);
  if (after !== null)
    conditions.push(
      windowed
        ? sql`(e.concluded_at, e.seniority) < (${after.concludedAt}, ${after.seniority})`
        : sql`e.seniority < ${after.seniority}`,
    );
  const order = windowed ? sql`e.concluded_at desc, e.seniority desc` : sql`e.seniority desc`;
  const { rows } = await sql<ScopedRow & { concluded_at: Date | null }>`
    select ${sql.raw(entryColumns)}, e.concluded_at, ${sql.raw(hasTargetsColumn)}, ${sql.raw(positionColumn)},
      ${sql.raw(lineColumns)}
    from entry e join queue q on q.id = e.queue_id join repository r on r.id = q.repository_id
    where ${sql.join(conditions, sql` and `)} order by ${order} limit ${take}`.execute(db);
  return rows.map((row) => ({
    ...scopedOf(row),
    cursor: { seniority: row.seniority, concludedAt: row.concluded_at },
  }));
}

export type TimelineRow = {
  readonly recorded_at: Date;
  readonly state: EntryState;
  readonly reason: Reason | null;
  readonly actor: string;
  readonly test_run_id: RunId | null;
  readonly trip: number;
  /** What the pull request changes in the rules, where it is tested or has landed. */
  readonly rule_change: RuleChange | null;
  /** How the rules of the branch changed, where its tests were started again for that. */
  readonly branch_rule_change: BranchRuleChange | null;
};

const selectTimeline = statement<[queueId: string, prNumber: number], TimelineRow>(`
  select f.recorded_at, f.state, f.reason, f.actor, f.test_run_id, f.trip,
    case f.state when 'testing' then (select ${ruleChangeOf('t', '$2')} from test_run t
        where t.queue_id = $1 and t.id = f.test_run_id)
      when 'merged' then (select ${ruleChangeOf('l', '$2')} from landing_member m
        join landing l on l.queue_id = m.queue_id and l.number = m.number and l.status = 'landed'
        where m.queue_id = $1 and m.pr_number = $2 and m.trip = f.trip order by l.number desc limit 1) end as rule_change,
    case f.kind when 'restart_requested' then f.payload -> 'ruleChange' end as branch_rule_change
  from fact f
  where f.queue_id = $1 and f.pr_number = $2 and f.state is not null
  order by f.recorded_at desc, f.seq desc limit 1000`);

/** What moved an entry, newest first, over all its trips; at most the newest 1,000. */
export const listTimeline = (db: Tx, queueId: QueueId, prNumber: number): Promise<readonly TimelineRow[]> =>
  selectTimeline(db, queueId, prNumber);

const selectQueuesOf = statement<[repositoryId: string], { id: string }>(
  `select id from queue where repository_id = $1 and deleted_at is null order by id`,
);

/** The queues of a repository, in a fixed order so that whoever marks several of them never waits in a circle. */
export async function listQueueIds(db: Tx, repositoryId: RepositoryId): Promise<readonly QueueId[]> {
  return (await selectQueuesOf(db, repositoryId)).map((row) => row.id as QueueId);
}

const selectQueues = statement<[repositoryId: string], QueueRow>(
  `select ${queueColumns} from queue q where q.repository_id = $1 and q.deleted_at is null order by q.id`,
);

export async function listQueues(db: Tx, repositoryId: RepositoryId): Promise<readonly Queue[]> {
  return (await selectQueues(db, repositoryId)).map(queueOf);
}

const selectQueuesOnBranch = statement<
  [repositoryId: string, branch: string, sha: string | null],
  { id: string }
>(`
  select id from queue q where repository_id = $1 and branch = $2 and deleted_at is null
    and branch_sha is distinct from $3
    and not exists (select from landing l where l.queue_id = q.id and l.status = 'intended')`);

/** The queue of a branch, unless it knows the branch to be there, or is landing: then it is its own push that it hears of. */
export async function listQueuesOnBranch(
  db: Tx,
  repositoryId: RepositoryId,
  branch: string,
  sha: string | null,
): Promise<readonly QueueId[]> {
  return (await selectQueuesOnBranch(db, repositoryId, branch, sha)).map((row) => row.id as QueueId);
}

const selectQueuesWith = statement<[repositoryId: string, prNumber: number], { id: string; branch: string }>(`
  select q.id, q.branch from queue q join entry e on e.queue_id = q.id and e.pr_number = $2
  where q.repository_id = $1 and q.deleted_at is null and e.line_rank is not null and not e.landing`);

/** The queues in which a pull request is live. While it is being put on the branch only the branch has news of it. */
export async function listQueuesOf(
  db: Tx,
  repositoryId: RepositoryId,
  prNumber: number,
): Promise<readonly { readonly queueId: QueueId; readonly branch: string }[]> {
  const rows = await selectQueuesWith(db, repositoryId, prNumber);
  return rows.map((row) => ({ queueId: row.id as QueueId, branch: row.branch }));
}

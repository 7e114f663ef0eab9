// Reads and writes queue_trouble and queue_usual: the troubles of a queue that are reported, and what is usual for it.

import type { QueueId } from '#base/id.ts';
import type { OpenTrouble, TroubleKind, ObservedQueue } from '#core/queue/watch/trouble.ts';
import type { Tx } from '../cell.ts';
import { queueColumns, type QueueRow, toQueue } from '../row.ts';
import { statement } from '../statement.ts';
import {
  endedProgressColumns,
  endedWithinDay,
  liveProgressColumns,
  type ProgressRow,
  toQueueProgress,
} from './queue-progress.ts';

/** So many merges say how long a queue takes, within these times. */
const recentMerges = 10;
const recentHours = 6;
const usualMerges = 50;
const usualDays = 14;

const mergedSql = (since: string, count: number, order: 'asc' | 'desc'): string => `(
  select count(*) as merges, percentile_cont(0.5) within group (order by m.in_queue_ms) as median from (
    select t.in_queue_ms from attempt t
    where t.queue_id = q.id and t.conclusion = 'merged' and t.concluded_at > ${since} and t.concluded_at <= $1
    order by t.concluded_at ${order} limit ${count}) m)`;

const recentSql = mergedSql(`$1::timestamptz - interval '${recentHours} hours'`, recentMerges, 'desc');

const usualSql = mergedSql(
  `case when u.in_queue_ms is null
    then greatest(coalesce(u.since, '-infinity'), $1::timestamptz - interval '${usualDays} days') else 'infinity' end`,
  usualMerges,
  'asc',
);

type WatchedRow = QueueRow &
  ProgressRow & {
    readonly host: string;
    readonly recent_merges: number;
    readonly recent_ms: number | null;
    readonly pinned_ms: number | null;
    readonly usual_merges: number;
    readonly usual_ms: number | null;
    readonly troubles: readonly { readonly kind: TroubleKind; readonly clear_since: string | null }[];
  };

// The queues are chosen first: most have no entry, and what is read of the others takes longer.
const selectWatched = statement<[now: Date, after: string, take: number], WatchedRow>(`
  with chosen as materialized (
    select q.* from queue q
    where q.deleted_at is null and q.id > $2
      and (exists (select from queue_entry e where e.queue_id = q.id and e.line_rank < 2)
        or exists (select from queue_trouble o where o.queue_id = q.id and o.ended_at is null))
    order by q.id limit $3)
  select ${queueColumns}, r.host, q.host_away_at, live.*, ended.*, recent.merges as recent_merges,
    recent.median as recent_ms, u.in_queue_ms as pinned_ms, usual.merges as usual_merges, usual.median as usual_ms,
    open.troubles
  from chosen q join repository r on r.id = q.repository_id
  cross join lateral (select coalesce(jsonb_agg(jsonb_build_object('kind', o.kind, 'clear_since', o.clear_since)), '[]')
    as troubles from queue_trouble o where o.queue_id = q.id and o.ended_at is null) open
  cross join lateral (select ${liveProgressColumns}
    from queue_entry e where e.queue_id = q.id and e.line_rank is not null) live
  cross join lateral (select ${endedProgressColumns} from attempt t where ${endedWithinDay('$1')}) ended
  cross join lateral ${recentSql} recent
  left join queue_usual u on u.queue_id = q.id
  cross join lateral ${usualSql} usual
  order by q.id`);

export type Watched = {
  readonly queueId: QueueId;
  readonly observed: ObservedQueue;
  readonly open: readonly OpenTrouble[];
  /** What is usual, if it can be pinned now; null: it is pinned, or there are too few merges. */
  readonly toPin: number | null;
};

/** Queues in which pull requests wait, or that have an open trouble, after the given one. */
export async function listWatched(
  db: Tx,
  now: Date,
  after: string,
  take: number,
): Promise<readonly Watched[]> {
  const rows = await selectWatched(db, now, after, take);
  return rows.map((row) => ({
    queueId: row.queue_id as QueueId,
    observed: {
      queue: toQueue(row),
      host: row.host,
      ...toQueueProgress(row),
      recentInQueueMs: row.recent_merges < recentMerges ? null : row.recent_ms,
      usualInQueueMs: row.pinned_ms,
    },
    open: row.troubles.map(({ kind, clear_since: since }) => ({
      kind,
      clearSince: since === null ? null : new Date(since),
    })),
    toPin: row.usual_merges < usualMerges ? null : row.usual_ms,
  }));
}

const insertTrouble = statement<[queueId: string, kind: string, reason: string, at: Date], { kind: string }>(`
  insert into queue_trouble (queue_id, kind, reason, began_at) values ($1, $2, $3, $4)
  on conflict do nothing returning kind`);

/** False: it has begun already. */
export const beginTrouble = async (
  tx: Tx,
  queueId: QueueId,
  kind: TroubleKind,
  reason: string,
  at: Date,
): Promise<boolean> => (await insertTrouble(tx, queueId, kind, reason, at)).length > 0;

const updateTrouble = statement<[queueId: string, kind: string, clearSince: Date | null]>(`
  update queue_trouble set clear_since = $3 where queue_id = $1 and kind = $2 and ended_at is null`);

export const markTrouble = (
  tx: Tx,
  queueId: QueueId,
  kind: TroubleKind,
  clearSince: Date | null,
): Promise<unknown> => updateTrouble(tx, queueId, kind, clearSince);

const closeTrouble = statement<[queueId: string, kind: string, at: Date], { began_at: Date }>(`
  update queue_trouble set ended_at = $3 where queue_id = $1 and kind = $2 and ended_at is null returning began_at`);

/** When it began; null: it has ended already. */
export const endTrouble = async (
  tx: Tx,
  queueId: QueueId,
  kind: TroubleKind,
  at: Date,
): Promise<Date | null> => (await closeTrouble(tx, queueId, kind, at))[0]?.began_at ?? null;

const insertUsual = statement<[queueId: string, at: Date, inQueueMs: number]>(`
  insert into queue_usual (queue_id, since, in_queue_ms) values ($1, $2, $3)
  on conflict (queue_id) do update set in_queue_ms = excluded.in_queue_ms where queue_usual.in_queue_ms is null`);

export const pinUsual = (tx: Tx, queueId: QueueId, inQueueMs: number, at: Date): Promise<unknown> =>
  insertUsual(tx, queueId, at, Math.round(inQueueMs));

const resetUsual = statement<[queueId: string, at: Date]>(`
  insert into queue_usual (queue_id, since) values ($1, $2)
  on conflict (queue_id) do update set since = excluded.since, in_queue_ms = null`);

/** With other settings something else is usual: it is measured again from now on. */
export const forgetUsual = (tx: Tx, queueId: QueueId, at: Date): Promise<unknown> =>
  resetUsual(tx, queueId, at);

const deleteEnded = statement<[before: Date]>(`
  delete from queue_trouble t where t.began_at < $1 and (t.ended_at < $1
    or exists (select from queue q where q.id = t.queue_id and q.deleted_at is not null))`);

export const forgetTroubles = (db: Tx, before: Date): Promise<unknown> => deleteEnded(db, before);

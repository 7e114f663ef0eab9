// All queues of an organization with their entries and the outcomes of the last day.

import type { OrganizationId, QueueId } from '#base/id.ts';
import type { Queue } from '#core/queue/model.ts';
import type { Progress } from '#core/queue/text/stall.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import { queueColumns, toQueue, type QueueRow } from '../row.ts';
import { statement } from '../statement.ts';
import {
  endedProgressColumns,
  endedWithinDay,
  liveProgressColumns,
  type ProgressRow,
  toQueueProgress,
} from './queue-progress.ts';

/** The hours of the last day, oldest first, and what is usual. */
type LastDay = {
  readonly mergedByHour: readonly number[];
  readonly timeInQueueP50SecondsByHour: readonly (number | null)[];
  readonly mergedWeekEarlier: number;
  readonly usualTimeInQueueSeconds: number | null;
  readonly isSlow: boolean;
};

export type ListedQueue = {
  readonly repository: RepositoryName;
  readonly queue: Queue;
  readonly testing: number;
  readonly notReady: number;
  readonly oldestEntryAt: Date | null;
  readonly mergedLast24h: number;
  readonly failedLast24h: number;
  readonly timeInQueueP50Seconds: number | null;
  /** Null: not requested. */
  readonly lastDay: LastDay | null;
} & Omit<Progress, 'queue' | 'host'>;

type ListedRow = QueueRow & {
  host: string;
  owner: string;
  name: string;
  testing: number;
  not_ready: number;
  oldest_entry_at: Date | null;
  merged: number;
  failed: number;
  time_in_queue_p50: number | null;
  hours: readonly { readonly hour: number; readonly merged: number; readonly ms: number }[] | null;
  merged_week_earlier: number | null;
  usual_in_queue_ms: number | null;
  is_slow: boolean | null;
} & ProgressRow;

const order = 'r.owner_key, r.name_key, r.host_key, q.branch, q.id';

// The last queue of the previous page may be deleted since: its row, and so its position, still exist.
const selectQueues = statement<
  [
    organizationId: string,
    after: string | null,
    take: number,
    now: Date,
    query: string | null,
    includeLastDay: boolean,
  ],
  ListedRow
>(`
  with page as (
    select r.host, r.owner, r.name, r.owner_key, r.name_key, r.host_key, q.*
    from repository r join queue q on q.repository_id = r.id
    where r.organization_id = $1 and q.deleted_at is null
      and ($5::text is null or position(lower($5) in lower(r.owner || '/' || r.name || ' ' || q.branch)) > 0)
      and ($2::uuid is null or (${order}) > (
      select ${order} from queue q join repository r on r.id = q.repository_id
      where q.id = $2 and r.organization_id = $1))
    order by ${order} limit $3
  )
  select ${queueColumns}, q.host, q.owner, q.name, q.host_away_at, live.*, ended.*, past.*
  from page q
  cross join lateral (
    select count(*) filter (where e.state = 'testing') as testing, count(*) filter (where e.line_rank = 2) as not_ready,
      min(e.queued_at) filter (where e.line_rank < 2) as oldest_entry_at, ${liveProgressColumns}
    from queue_entry e where e.queue_id = q.id and e.line_rank is not null
  ) live
  cross join lateral (
    select count(*) filter (where t.conclusion = 'merged') as merged,
      count(*) filter (where t.conclusion = 'failed') as failed,
      percentile_cont(0.5) within group (order by t.in_queue_ms / 1000.0)
        filter (where t.conclusion = 'merged' and t.queued_at is not null) as time_in_queue_p50, ${endedProgressColumns}
    from attempt t where ${endedWithinDay('$4')}
  ) ended
  cross join lateral (
    select case when $6 then (select coalesce(jsonb_agg(h), '[]') from (
        select floor(extract(epoch from $4 - t.concluded_at) / 3600) as hour, count(*) as merged,
          percentile_cont(0.5) within group (order by t.in_queue_ms) as ms
        from attempt t where ${endedWithinDay('$4')} and t.conclusion = 'merged' group by 1) h) end as hours,
      case when $6 then (select count(*) from attempt t
        where ${endedWithinDay("($4::timestamptz - interval '168 hours')")} and t.conclusion = 'merged')
        end as merged_week_earlier,
      case when $6 then (select u.in_queue_ms from queue_usual u where u.queue_id = q.id) end as usual_in_queue_ms,
      case when $6 then exists (select from queue_trouble o
        where o.queue_id = q.id and o.kind = 'slow' and o.ended_at is null) end as is_slow
  ) past
  order by q.owner_key, q.name_key, q.host_key, q.branch, q.id`);

type QueueListRequest = {
  readonly organizationId: OrganizationId;
  readonly query: string | null;
  readonly includeLastDay: boolean;
};

/** By repository and branch, after the given queue; never queues of another organization. */
export async function listQueuesAfter(
  db: Tx,
  { organizationId, query, includeLastDay }: QueueListRequest,
  after: QueueId | null,
  take: number,
  now: Date,
): Promise<readonly ListedQueue[]> {
  const rows = await selectQueues(db, organizationId, after, take, now, query, includeLastDay);
  return rows.map((row) => ({
    repository: { host: row.host, owner: row.owner, name: row.name },
    queue: toQueue(row),
    ...toQueueProgress(row),
    testing: row.testing,
    notReady: row.not_ready,
    oldestEntryAt: row.oldest_entry_at,
    mergedLast24h: row.merged,
    failedLast24h: row.failed,
    timeInQueueP50Seconds: row.time_in_queue_p50,
    lastDay: row.hours === null ? null : toLastDay(row.hours, row),
  }));
}

const hoursOfDay = 24;

function toLastDay(
  hours: NonNullable<ListedRow['hours']>,
  { merged_week_earlier: mergedWeekEarlier, usual_in_queue_ms: usualMs, is_slow: isSlow }: ListedRow,
): LastDay {
  const byHoursAgo = new Map(hours.map((each) => [each.hour, each]));
  const oldestFirst = Array.from({ length: hoursOfDay }, (_, index) =>
    byHoursAgo.get(hoursOfDay - 1 - index),
  );
  return {
    mergedByHour: oldestFirst.map((each) => each?.merged ?? 0),
    timeInQueueP50SecondsByHour: oldestFirst.map((each) => (each === undefined ? null : each.ms / 1_000)),
    mergedWeekEarlier: mergedWeekEarlier ?? 0,
    usualTimeInQueueSeconds: usualMs === null ? null : usualMs / 1_000,
    isSlow: isSlow ?? false,
  };
}

type NamedRow = { id: string; host: string; owner: string; name: string; branch: string };

const selectNames = statement<[organizationId: string, take: number], NamedRow>(`
  select q.id, r.host, r.owner, r.name, q.branch from repository r join queue q on q.repository_id = r.id
  where r.organization_id = $1 and q.deleted_at is null order by q.id limit $2`);

type NamedQueue = {
  readonly id: QueueId;
  readonly repository: RepositoryName;
  readonly branch: string;
};

/** The queues of an organization, the oldest `take` of them. */
export async function listQueueNames(
  db: Tx,
  organizationId: string,
  take: number,
): Promise<readonly NamedQueue[]> {
  const rows = await selectNames(db, organizationId, take);
  return rows.map(({ id, branch, host, owner, name }) => ({
    id: id as QueueId,
    repository: { host, owner, name },
    branch,
  }));
}

/** A queue, named by the lower-case forms of its repository. */
export type QueuePlace = RepositoryName & { readonly branch: string };

const selectIds = statement<[organizationId: string, places: string], { place: number; id: string }>(`
  select p.place, q.id
  from jsonb_to_recordset($2) as p (place int, host text, owner text, name text, branch text)
  join repository r on r.organization_id = $1 and r.host_key = p.host and r.owner_key = p.owner and r.name_key = p.name
  join queue q on q.repository_id = r.id and q.branch = p.branch and q.deleted_at is null`);

/** In the order of the places; null where there is no queue. */
export async function findQueueIds(
  db: Tx,
  organizationId: string,
  places: readonly QueuePlace[],
): Promise<readonly (QueueId | null)[]> {
  const asked = places.map((place, index) => ({ ...place, place: index }));
  const rows = await selectIds(db, organizationId, JSON.stringify(asked));
  const ids = new Map(rows.map((row) => [row.place, row.id as QueueId]));
  return places.map((_, index) => ids.get(index) ?? null);
}

// All queues of an organization with what is in them and what became of it within a day.

import type { OrganizationId, QueueId } from '#base/id.ts';
import type { Queue } from '#core/queue/model.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import { queueColumns, queueOf, type QueueRow } from './row.ts';
import { statement } from './statement.ts';

export type ListedQueue = {
  readonly repository: RepositoryName;
  readonly queue: Queue;
  readonly isHostAway: boolean;
  readonly depth: number;
  readonly testing: number;
  readonly notReady: number;
  readonly oldestEntryAt: Date | null;
  readonly mergedLast24h: number;
  readonly failedLast24h: number;
  readonly timeInQueueP50Seconds: number | null;
};

type ListedRow = QueueRow & {
  host: string;
  owner: string;
  name: string;
  is_host_away: boolean;
  depth: number;
  testing: number;
  not_ready: number;
  oldest_entry_at: Date | null;
  merged: number;
  failed: number;
  time_in_queue_p50: number | null;
};

const order = 'r.owner_key, r.name_key, r.host_key, q.branch, q.id';

// The queue a page ended with may be deleted since: its row and so its place are still there.
const selectQueues = statement<
  [organizationId: string, after: string | null, take: number, now: Date],
  ListedRow
>(`
  with page as (
    select r.host, r.owner, r.name, r.owner_key, r.name_key, r.host_key, q.*
    from repository r join queue q on q.repository_id = r.id
    where r.organization_id = $1 and q.deleted_at is null and ($2::uuid is null or (${order}) > (
      select ${order} from queue q join repository r on r.id = q.repository_id
      where q.id = $2 and r.organization_id = $1))
    order by ${order} limit $3
  )
  select ${queueColumns}, q.host, q.owner, q.name, q.host_away_at is not null as is_host_away,
    live.depth, live.testing, live.not_ready, live.oldest_entry_at, ended.merged, ended.failed, ended.time_in_queue_p50
  from page q
  cross join lateral (
    select count(*) filter (where e.line_rank < 2) as depth, count(*) filter (where e.state = 'testing') as testing,
      count(*) filter (where e.line_rank = 2) as not_ready,
      min(e.queued_at) filter (where e.line_rank < 2) as oldest_entry_at
    from entry e where e.queue_id = q.id and e.line_rank is not null
  ) live
  cross join lateral (
    select count(*) filter (where t.conclusion = 'merged') as merged,
      count(*) filter (where t.conclusion = 'failed') as failed,
      percentile_cont(0.5) within group (order by t.in_queue_ms / 1000.0)
        filter (where t.conclusion = 'merged' and t.queued_at is not null) as time_in_queue_p50
    from trip t where t.queue_id = q.id
      and t.concluded_at > $4::timestamptz - interval '24 hours' and t.concluded_at <= $4
  ) ended
  order by q.owner_key, q.name_key, q.host_key, q.branch, q.id`);

/** By repository and branch, from after a queue on; what another organization has is never among them. */
export async function listQueuesAfter(
  db: Tx,
  organizationId: OrganizationId,
  after: QueueId | null,
  take: number,
  now: Date,
): Promise<readonly ListedQueue[]> {
  const rows = await selectQueues(db, organizationId, after, take, now);
  return rows.map((row) => ({
    repository: { host: row.host, owner: row.owner, name: row.name },
    queue: queueOf(row),
    isHostAway: row.is_host_away,
    depth: row.depth,
    testing: row.testing,
    notReady: row.not_ready,
    oldestEntryAt: row.oldest_entry_at,
    mergedLast24h: row.merged,
    failedLast24h: row.failed,
    timeInQueueP50Seconds: row.time_in_queue_p50,
  }));
}

/** Where a queue is, by the lower-case forms of its repository. */
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

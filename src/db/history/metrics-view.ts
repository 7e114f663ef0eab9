// The data behind getMergeQueueMetrics: what is in each queue now, and what ended within the last hour.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** Upper bounds of the histograms, in seconds; the last bucket is +Inf. */
export const bucketBounds = [60, 300, 600, 900, 1800, 3600, 5400, 7200] as const;

export type DurationKind = 'wait' | 'test' | 'in_queue';

export type QueueNumbers = {
  readonly owner: string;
  readonly name: string;
  readonly branch: string;
  readonly depth: number;
  readonly not_ready: number;
  readonly testing: number;
  readonly merged: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly restarts: number;
  /** 0 while the host answers. */
  readonly host_away_seconds: number;
  /** Cumulative counts up to each bound, then all; with the sum in seconds. */
  readonly durations: Readonly<
    Record<DurationKind, { readonly buckets: readonly number[]; readonly sum: number }>
  >;
};

const histogram = (column: string, counted: string) => {
  const buckets = bucketBounds.map(
    (bound) => `count(*) filter (where ${counted} and ${column} <= ${bound * 1000})`,
  );
  return `json_build_object(
    'buckets', json_build_array(${[...buckets, `count(*) filter (where ${counted})`].join(', ')}),
    'sum', coalesce(sum(${column}) filter (where ${counted}), 0) / 1000.0)`;
};

// A branch may have had several queues (deleted and created again): their metrics are one series.
const selectNumbers = statement<
  [organizationId: string, repositoryId: string | null, now: Date],
  QueueNumbers
>(`
  with queues as (
    select q.id, q.deleted_at, q.host_away_at, r.owner, r.name, q.branch
    from repository r join queue q on q.repository_id = r.id
    where r.organization_id = $1 and ($2::uuid is null or r.id = $2)
  ), live as (
    select q.owner, q.name, q.branch,
      count(*) filter (where e.line_rank < 2) as depth,
      count(*) filter (where e.line_rank = 2) as not_ready,
      count(*) filter (where e.state = 'testing') as testing
    from queues q join queue_entry e on e.queue_id = q.id and e.line_rank is not null
    group by 1, 2, 3
  ), ended as (
    select q.owner, q.name, q.branch,
      count(*) filter (where t.conclusion = 'merged') as merged,
      count(*) filter (where t.conclusion = 'failed') as failed,
      count(*) filter (where t.conclusion = 'cancelled') as cancelled,
      json_build_object(
        'wait', ${histogram('t.wait_ms', 't.queued_at is not null')},
        'test', ${histogram('t.test_ms', 't.test_ms > 0')},
        'in_queue', ${histogram('t.in_queue_ms', 't.queued_at is not null')}) as durations
    from queues q join attempt t on t.queue_id = q.id
      and t.concluded_at > $3::timestamptz - interval '1 hour' and t.concluded_at <= $3
    group by 1, 2, 3
  ), restarted as (
    select q.owner, q.name, q.branch, count(*) as restarts
    from queues q join queue_fact f on f.queue_id = q.id and f.restart
      and f.recorded_at > $3::timestamptz - interval '1 hour' and f.recorded_at <= $3
    group by 1, 2, 3
  ), away as (
    select owner, name, branch, extract(epoch from $3::timestamptz - min(host_away_at))::float8 as seconds
    from queues where deleted_at is null and host_away_at is not null
    group by 1, 2, 3
  ), branches as (
    select owner, name, branch from queues where deleted_at is null
    union select owner, name, branch from ended
  )
  select b.owner, b.name, b.branch,
    coalesce(live.depth, 0) as depth, coalesce(live.not_ready, 0) as not_ready, coalesce(live.testing, 0) as testing,
    coalesce(ended.merged, 0) as merged, coalesce(ended.failed, 0) as failed,
    coalesce(ended.cancelled, 0) as cancelled, coalesce(restarted.restarts, 0) as restarts,
    greatest(coalesce(away.seconds, 0), 0) as host_away_seconds, ended.durations
  from branches b left join live using (owner, name, branch) left join ended using (owner, name, branch)
    left join restarted using (owner, name, branch) left join away using (owner, name, branch)
  order by b.owner, b.name, b.branch`);

const noDurations = { buckets: Array.from({ length: bucketBounds.length + 1 }, () => 0), sum: 0 };

export async function readQueueNumbers(
  db: Tx,
  organizationId: OrganizationId,
  repositoryId: RepositoryId | null,
  now: Date,
): Promise<readonly QueueNumbers[]> {
  const rows = await selectNumbers(db, organizationId, repositoryId, now);
  return rows.map((row) => ({
    ...row,
    durations: row.durations ?? { wait: noDurations, test: noDurations, in_queue: noDurations },
  }));
}

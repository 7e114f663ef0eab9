// The outcomes of a queue's pull requests over time. They are read from attempt, one row per attempt that ended,
// and from the times of runs, which an index holds.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { BucketSize } from '#core/queue/history-range.ts';
import type { Reason } from '#core/queue/reason.ts';
import { hashTarget } from '#core/queue/rule/target-hash.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type Conclusion = 'merged' | 'failed' | 'cancelled';

/** Attempts that ended in this window, from the first instant to before the second. */
export type HistoryWindow = {
  readonly queueId: QueueId;
  readonly repositoryId: RepositoryId;
  readonly since: Date;
  readonly until: Date;
  /** Only attempts that impact this target. */
  readonly target: string | undefined;
};

const selectHours = statement<[since: Date, until: Date, zone: string], { at: Date }>(`
  select at from generate_series(date_trunc('hour', $1::timestamptz, $3), $2::timestamptz, '1 hour') as at order by at`);

// The length of a day depends on the time zone, so days are counted in local time.
const selectDays = statement<[since: Date, until: Date, zone: string, size: string], { at: Date }>(`
  select at at time zone $3 as at from generate_series(
    date_trunc($4, $1::timestamptz at time zone $3), $2::timestamptz at time zone $3, ('1 ' || $4)::interval) as at
  order by at`);

/** The starts of the buckets. The first one starts with the window, also in the middle of an hour or day. */
export async function listEdges(
  db: Tx,
  { since, until }: HistoryWindow,
  size: BucketSize,
  zone: string,
): Promise<readonly Date[]> {
  const rows =
    size === 'hour'
      ? await selectHours(db, since, until, zone)
      : await selectDays(db, since, until, zone, size);
  return [since, ...rows.map(({ at }) => at).filter((at) => at > since && at < until)];
}

/** The stored form of a target: see target-store.ts. */
const encodeTargetHash = (target: string | undefined): Buffer | null =>
  target === undefined ? null : Buffer.from(new Float64Array([hashTarget(target)]).buffer);

// A match counts only at a multiple of 8 bytes. An earlier match across two hashes hides the right one, but
// is less likely than two names with the same hash. It is a value and not "exists", which PostgreSQL may
// answer by reading every list.
const impacts = (hash: string, repositoryId: string) => `(
  select i.impacts_all or position(${hash} in i.hashes) % 8 = 1 from impacted_targets i
  where i.repository_id = ${repositoryId} and i.pr_number = t.pr_number and i.head_sha = t.head_sha)`;

export const isInWindow = `
  t.queue_id = $1 and t.concluded_at >= $2 and t.concluded_at < $3
    and ($4::bytea is null or ${impacts('$4', '$5')})`;

export type Narrowed = [queueId: string, since: Date, until: Date, hash: Buffer | null, repositoryId: string];

export const narrowed = ({ queueId, since, until, target, repositoryId }: HistoryWindow): Narrowed => [
  queueId,
  since,
  until,
  encodeTargetHash(target),
  repositoryId,
];

const selectTargetCount = statement<
  [queueId: string, since: Date, until: Date, repositoryId: string],
  { count: number }
>(`
  select coalesce(sum(i.target_count), 0)::bigint as count from attempt t join impacted_targets i
    on i.repository_id = $4 and i.pr_number = t.pr_number and i.head_sha = t.head_sha
  where t.queue_id = $1 and t.concluded_at >= $2 and t.concluded_at < $3`);

/** How many targets must be read to find one of them. */
export async function countTargets(db: Tx, window: HistoryWindow): Promise<number> {
  const { queueId, since, until, repositoryId } = window;
  const [row] = await selectTargetCount(db, queueId, since, until, repositoryId);
  return row?.count ?? 0;
}

/** `n`: the number of the bucket, from 1. */
export type OutcomeRow = {
  readonly n: number;
  readonly conclusion: Conclusion;
  readonly reason: Reason | null;
  readonly count: number;
  readonly restarts: number;
};

const outcomesStatement = `
  select width_bucket(t.concluded_at, $6::timestamptz[]) as n, t.conclusion, t.reason, count(*) as count,
    sum(t.restarts) as restarts
  from attempt t where ${isInWindow} group by 1, 2, 3`;

const selectOutcomes = statement<[...Narrowed, edges: readonly Date[]], OutcomeRow>(outcomesStatement);

export const listOutcomes = (db: Tx, window: HistoryWindow, edges: readonly Date[]) =>
  selectOutcomes(db, ...narrowed(window), edges);

/** In milliseconds; null where nothing merged. */
export type SpanRow = {
  readonly n: number;
  readonly in_queue: readonly number[] | null;
  readonly wait: readonly number[] | null;
  readonly test: readonly number[] | null;
};

const percentiles = `
  percentile_cont(array[0.5, 0.95, 0.99]) within group (order by in_queue) as in_queue,
  percentile_cont(array[0.5, 0.95]) within group (order by wait) as wait,
  percentile_cont(array[0.5, 0.95]) within group (order by test) as test`;

// Read once for the buckets and for the total.
const spansStatement = `
  with merged as materialized (
    select width_bucket(t.concluded_at, $6::timestamptz[]) as n, t.in_queue_ms::float8 as in_queue,
      t.wait_ms::float8 as wait, t.test_ms::float8 as test
    from attempt t where ${isInWindow} and t.conclusion = 'merged' and t.queued_at is not null)
  select n, ${percentiles} from merged group by n union all select 0, ${percentiles} from merged`;

const selectSpans = statement<[...Narrowed, edges: readonly Date[]], SpanRow>(spansStatement);

/** For each bucket in which a pull request merged, and with `n` 0 for the whole window. */
export const listSpans = (db: Tx, window: HistoryWindow, edges: readonly Date[]) =>
  selectSpans(db, ...narrowed(window), edges);

const ciStatement = `
  select width_bucket(r.created_at, $4::timestamptz[]) as n, sum(greatest(0,
    extract(epoch from coalesce(r.concluded_at, $5) - coalesce(r.pushed_at, r.created_at))))::float8 / 60 as minutes
  from test_run r where r.queue_id = $1 and r.created_at >= $2 and r.created_at < $3 group by 1`;

const selectCi = statement<
  [queueId: string, since: Date, until: Date, edges: readonly Date[], now: Date],
  { n: number; minutes: number }
>(ciStatement);

/** CI minutes of the runs that started in each bucket; unfinished runs count until now. */
export const listCiMinutes = (
  db: Tx,
  { queueId, since, until }: HistoryWindow,
  edges: readonly Date[],
  now: Date,
) => selectCi(db, queueId, since, until, edges, now);

const selectSaved = statement<
  [queueId: string, since: Date, until: Date, edges: readonly Date[]],
  { n: number; minutes: number }
>(`
  select width_bucket(r.created_at, $4::timestamptz[]) as n, sum(r.saved_ms)::float8 / 60000 as minutes
  from test_run r
  where r.queue_id = $1 and r.created_at >= $2 and r.created_at < $3 and r.saved_ms > 0 group by 1`);

/** CI minutes saved by stopping runs that were given up, for the runs that started in each bucket. */
export const listSavedMinutes = (db: Tx, { queueId, since, until }: HistoryWindow, edges: readonly Date[]) =>
  selectSaved(db, queueId, since, until, edges);

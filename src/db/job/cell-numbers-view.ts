// The health of a cell for its operator: workers and jobs, unreachable hosts, and webhook deliveries. The
// counts are of the whole cell and show nothing about a single organization.

import type { Tx } from '../cell.ts';
import { formerTasks } from './former-task.ts';
import { stoppedMs } from './heartbeat-store.ts';
import { taskNames } from './job.ts';
import { statement } from '../statement.ts';

export type TaskNumbers = {
  readonly task: string;
  /** Due jobs that no worker has taken. */
  readonly due: number;
  /** How long the oldest due job has been due. */
  readonly lagSeconds: number;
  /** Jobs that failed and will be retried. */
  readonly retrying: number;
  /** Jobs without attempts left that no other job replaces: they have a key. */
  readonly failed: number;
};

export type CellNumbers = {
  /** Jobs of the last day that blocked the event loop of a process twice, and are set aside. */
  readonly jobs_set_aside: number;
  readonly workers: number;
  readonly tasks: readonly TaskNumbers[];
  /** Queues whose host is unreachable, and for how long the first of them has been. */
  readonly queues_away: number;
  readonly host_away_seconds: number;
  readonly endpoints_active: number;
  readonly endpoints_failing: number;
  readonly endpoints_disabled: number;
  readonly deliveries_due: number;
  /** Of endpoints that accept deliveries: a failing endpoint delays only its own. */
  readonly delivery_lag_seconds: number;
};

/** Most rows that are counted; the counts stop there. */
const jobsMax = 100_000;
const deliveriesMax = 20_000;

const secondsSince = (instant: string) =>
  `coalesce(greatest(extract(epoch from now() - ${instant})::float8, 0), 0)`;

const selectNumbers = statement<
  [stoppedMs: number, tasks: readonly string[], formerTasks: string],
  CellNumbers
>(`
  with job as (
    select coalesce($3::jsonb ->> task_identifier, task_identifier) as task, run_at, is_available and run_at <= now() as is_due,
      is_available and last_error is not null as is_retrying, not is_available and key is not null as is_failed
    from (select *, attempts < max_attempts as is_available from graphile_worker.jobs where locked_at is null
      limit ${jobsMax}) as unlocked
  ), of_task as (
    select task, count(*) filter (where is_due) as due, ${secondsSince('min(run_at) filter (where is_due)')} as lag,
      count(*) filter (where is_retrying) as retrying, count(*) filter (where is_failed) as failed
    from job group by task
  ), delivery as (
    select count(*) as due, ${secondsSince('min(d.due_at) filter (where w.failing_since is null)')} as lag
    from (select endpoint_id, due_at from webhook_delivery
      where status = 'pending' and due_at <= now() and (claimed_until is null or claimed_until <= now())
      order by due_at limit ${deliveriesMax}) d
    join webhook_endpoint w on w.id = d.endpoint_id
    where w.disabled_at is null and (w.paused_until is null or w.paused_until <= now())
  ), endpoint as (
    select count(*) filter (where disabled_at is null and failing_since is null) as active,
      count(*) filter (where disabled_at is null and failing_since is not null) as failing,
      count(*) filter (where disabled_at is not null) as disabled
    from webhook_endpoint where deleted_at is null
  ), away as (
    select count(*) as queues, ${secondsSince('min(host_away_at)')} as seconds
    from queue where host_away_at is not null and deleted_at is null
  )
  select
    (select count(*)::int from job_strike where strikes >= 2 and struck_at > now() - interval '1 day') as jobs_set_aside,
    (select count(*) from worker_heartbeat
      where beat_at >= now() - make_interval(secs => $1::float8 / 1000)) as workers,
    (select coalesce(json_agg(json_build_object('task', t.name, 'due', coalesce(o.due, 0),
        'lagSeconds', coalesce(o.lag, 0), 'retrying', coalesce(o.retrying, 0), 'failed', coalesce(o.failed, 0))
        order by t.name), '[]')
      from unnest($2::text[]) as t (name) left join of_task o on o.task = t.name) as tasks,
    away.queues as queues_away, away.seconds as host_away_seconds,
    endpoint.active as endpoints_active, endpoint.failing as endpoints_failing,
    endpoint.disabled as endpoints_disabled,
    delivery.due as deliveries_due, delivery.lag as delivery_lag_seconds
  from delivery, endpoint, away`);

export async function readCellNumbers(db: Tx): Promise<CellNumbers> {
  const [row] = await selectNumbers(db, stoppedMs, taskNames, JSON.stringify(formerTasks));
  return row!;
}

// Writes how long CI takes for the runs of a queue, how often attempts fail, and how often runs fail by chance: columns of
// queue_plan, and of test_run if CI was stopped. Runs of some tests are left out: they take less time, and run again what has just
// failed. Runs whose failed jobs ran again are left out of the durations. Which runs failed by chance: planner/history.ts.

import type { QueueId, RunId } from '#base/id.ts';
import type { Queue } from '#core/queue/model.ts';
import { attemptsMax, durationsMin, flakeRunsMax, historyMax } from '#core/queue/planner/history.ts';
import { speculates } from '#core/queue/planner/strategies.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

const updateMeasures = statement<[queueId: string, at: Date, countsChance: boolean]>(`
  update queue_plan p set measured_at = $2, start_p99_ms = m.start_p99, test_p99_ms = m.test_p99, test_p50_ms = m.test_p50,
    ended_count = a.ended, failed_count = a.failed, passed_count = f.passed, flaky_count = f.flaky
  from (
    select percentile_disc(0.99) within group (order by start_ms) as start_p99,
      case when count(test_ms) >= ${durationsMin} then percentile_disc(0.99) within group (order by test_ms) end as test_p99,
      percentile_disc(0.5) within group (order by test_ms) as test_p50
    from (
      select greatest(0, extract(epoch from t.started_at - t.pushed_at) * 1000)::bigint as start_ms,
        case when t.outcome in ('passed', 'failed', 'flaky') and t.rerun_at is null
          then greatest(0, extract(epoch from t.concluded_at - t.started_at) * 1000)::bigint end as test_ms
      from test_run t
      where t.queue_id = $1 and t.status <> 'in_progress' and t.started_at is not null and t.pushed_at is not null
        and t.selected_tests is null
      order by t.number desc limit ${historyMax}) times) m, (
    select count(*) filter (where conclusion <> 'cancelled') as ended,
      count(*) filter (where conclusion = 'failed') as failed
    from (
      select conclusion from attempt where queue_id = $1 and concluded_at > $2::timestamptz - interval '30 days'
      order by concluded_at desc limit ${attemptsMax}) last) a, (
    select count(*) filter (where outcome = 'passed') as passed,
      count(*) filter (where case when outcome = 'passed' then is_rerun else is_sound or are_merged end) as flaky
    from (
      select r.outcome, r.is_rerun, m.are_merged,
        m.count = 1 and bool_or(r.outcome = 'passed') over (partition by m.count, m.pr_number, m.head_sha order by r.number
          rows between 1 following and unbounded following) as is_sound
      from (
        select t.id, t.number, t.outcome, t.rerun_at is not null as is_rerun from test_run t
        where $3::boolean and t.queue_id = $1 and t.outcome in ('passed', 'failed', 'flaky') and t.outcome_detail is null
          and t.ahead is null
          and t.selected_tests is null and t.created_at > $2::timestamptz - interval '30 days'
        order by t.number desc limit ${flakeRunsMax}) r
      cross join lateral (
        select count(*) as count, min(x.pr_number) as pr_number, min(x.head_sha) as head_sha,
          bool_and(e.state is not distinct from 'merged' and e.reason is distinct from 'MANUAL_MERGE') as are_merged
        from test_run_member x
        left join queue_entry e on e.queue_id = $1 and e.pr_number = x.pr_number and e.pr_sha = x.head_sha
        where x.queue_id = $1 and x.test_run_id = r.id) m) runs) f
  where p.queue_id = $1`);

/** Often enough for a new queue to learn within its first runs, and rarely enough to cost nothing. */
const measuredForMs = 60_000;

/** Computes the percentiles over the last runs and the counts of the last attempts again, unless that was done a moment ago. */
export async function measureRuns(
  tx: Tx,
  { id, settings }: Pick<Queue, 'id' | 'settings'>,
  measuredAt: Date | null,
  now: Date,
): Promise<void> {
  if (measuredAt !== null && now.getTime() - measuredAt.getTime() < measuredForMs) return;
  // Only in parallel lanes does anything depend on how often runs fail by chance.
  await updateMeasures(tx, id, now, speculates(settings));
}

const updateStopped = statement<[queueId: string, id: string, count: number]>(`
  update test_run t set stopped_count = $3,
    saved_ms = case when $3 > 0 and t.selected_tests is null then greatest(0, coalesce(p.test_p50_ms, 0)
      - extract(epoch from t.concluded_at - coalesce(t.started_at, t.pushed_at)) * 1000)::bigint end
  from queue_plan p where p.queue_id = $1 and t.queue_id = $1 and t.id = $2`);

/**
 * CI of a run that was given up was stopped: the queue's median gives an estimate of the saved time, except for a run of some
 * tests.
 */
export const recordStopped = (tx: Tx, queueId: QueueId, id: RunId, count: number): Promise<unknown> =>
  updateStopped(tx, queueId, id, count);

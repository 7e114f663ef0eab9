// What says whether a queue makes progress: columns of statements, and what they mean.

import type { Progress } from '#core/queue/text/stall.ts';

/** Of the entries `e` of a queue that have not ended. */
export const liveProgressColumns = `
  count(*) filter (where e.line_rank < 2) as depth,
  (array_agg(e.pr_number order by e.state_changed_at, e.pr_number) filter (where e.state = 'testing'))[1] as longest_test,
  min(e.state_changed_at) filter (where e.state = 'testing') as longest_test_since,
  max(e.state_changed_at) filter (where e.line_rank < 2) as moved_at`;

/** Of the attempts `t` that ended within a day. */
export const endedProgressColumns = `
  percentile_cont(0.5) within group (order by t.test_ms) filter (where t.conclusion = 'merged' and t.test_ms > 0)
    as usual_test_ms,
  max(t.concluded_at) as ended_at`;

/** Whether such an attempt of the queue `q` ended within the day before; `now`: an expression. */
export const endedWithinDay = (now: string): string => `t.queue_id = q.id
  and t.concluded_at > ${now}::timestamptz - interval '24 hours' and t.concluded_at <= ${now}`;

export type ProgressRow = {
  readonly host_away_at: Date | null;
  readonly depth: number;
  readonly longest_test: number | null;
  readonly longest_test_since: Date | null;
  readonly moved_at: Date | null;
  readonly ended_at: Date | null;
  readonly usual_test_ms: number | null;
};

export const toQueueProgress = (row: ProgressRow): Omit<Progress, 'queue' | 'host'> => ({
  hostAwayAt: row.host_away_at,
  depth: row.depth,
  longestTest:
    row.longest_test === null ? null : { number: row.longest_test, since: row.longest_test_since! },
  movedAt: latest(row.moved_at, row.ended_at),
  usualTestMs: row.usual_test_ms,
});

const latest = (one: Date | null, other: Date | null): Date | null =>
  one === null || (other !== null && other > one) ? other : one;

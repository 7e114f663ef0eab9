// The data behind landing estimates: the current queue and its recent history.

import type { QueueId } from '#base/id.ts';
import { type LineEntry, placesMax } from '#core/queue/estimate/estimate-group.ts';
import type { TestHistory } from '#core/queue/estimate/estimate.ts';
import type { EntryState } from '#core/queue/model.ts';
import type { Tx } from '../cell.ts';
import { runMembersSql } from '../run/run-member.ts';
import { statement } from '../statement.ts';

/** How far back the history is read. */
const historyMs = 14 * 24 * 3_600_000;

type QueueHistoryRow = {
  durations: readonly number[] | null;
  merged: number;
  left: number;
  oldest_at: Date | null;
};

// The passed runs among the newest 400, and the newest 200 attempts, however many there are.
export const historyStatement = `
  select (
      select json_agg(extract(epoch from t.concluded_at - t.created_at) * 1000)
      from (select status, kind, created_at, concluded_at, selected_tests from test_run
        where queue_id = $1 and created_at > $2 order by created_at desc, id desc limit 400) t
      where t.status = 'succeeded' and t.kind = 'main' and t.selected_tests is null and t.concluded_at >= t.created_at
    ) as durations, attempts.*
  from (
    select count(*) filter (where t.conclusion = 'merged') as merged,
      count(*) filter (where t.conclusion <> 'merged' and t.test_ms > 0) as left, min(t.concluded_at) as oldest_at
    from (select conclusion, test_ms, concluded_at from attempt
      where queue_id = $1 and concluded_at > $2 order by concluded_at desc limit 200) t) attempts`;

const selectHistory = statement<[queueId: string, since: Date], QueueHistoryRow>(historyStatement);

export async function readTestHistory(db: Tx, queueId: QueueId, now: Date): Promise<TestHistory> {
  const [row] = await selectHistory(db, queueId, new Date(now.getTime() - historyMs));
  const { durations = null, merged = 0, left = 0, oldest_at: oldestAt = null } = row ?? {};
  return {
    durationsMs: durations ?? [],
    mergedCount: merged,
    leftCount: left,
    arrivalGapMs:
      oldestAt === null ? historyMs : (now.getTime() - oldestAt.getTime()) / Math.max(1, merged + left),
  };
}

type QueuedEntryRow = {
  pr_number: number;
  state: string;
  no_batch: boolean;
  priority: number;
  state_changed_at: Date;
  restarts: number;
  is_screened: boolean;
  is_beside: boolean;
  test_run_id: string | null;
  kind: string | null;
  status: string | null;
  created_at: Date | null;
  behind: readonly number[] | null;
};

// The nearest eight entries ahead of a run are enough: they depend on the others. One more row than is used
// shows whether there are more.
export const lineStatement = `
  select e.pr_number, e.state, e.no_batch, e.priority, e.state_changed_at, e.restarts,
    coalesce(e.plan ->> 'screen' in ('passed', 'confirmed'), false) as is_screened,
    coalesce(e.plan -> 'place' ->> 'kind' = 'search', false) as is_beside, t.id as test_run_id, t.kind,
    t.status, t.created_at,
    case when $2 then (
      select json_agg(m.pr_number) from (
        select m.pr_number from ${runMembersSql('t')} m where not m.under_test
        order by m.position desc limit 8) m) end as behind
  from queue_entry e left join test_run t on e.line_rank = 0 and t.queue_id = e.queue_id and t.id = e.test_run_id
  where e.queue_id = $1 and e.line_rank < 2
  order by e.line_rank, e.line_major, e.line_minor limit ${placesMax + 1}`;

const selectLine = statement<[queueId: string, isParallel: boolean], QueuedEntryRow>(lineStatement);

/** The front of the queue: the places that are used, and one more. */
export async function readLine(db: Tx, queueId: QueueId, isParallel: boolean): Promise<readonly LineEntry[]> {
  return (await selectLine(db, queueId, isParallel)).map((row) => ({
    prNumber: row.pr_number,
    state: row.state as EntryState,
    run:
      row.test_run_id === null
        ? null
        : {
            id: row.test_run_id,
            isBisection: row.kind === 'bisection',
            isScreen: row.is_beside && row.kind === 'main',
            isUnderWay: row.status === 'in_progress',
            createdAt: row.created_at!,
          },
    behind: row.behind ?? [],
    isScreened: row.is_screened,
    noBatch: row.no_batch,
    priority: row.priority,
    stateChangedAt: row.state_changed_at,
    restarts: row.restarts,
  }));
}

// How the time of a pull request in its queue is spent: its state changes, the pull requests that restarted
// its tests, and when the queue was paused.

import type { QueueId } from '#base/id.ts';
import type { Moment, Pause } from '#core/queue/text/time-spent.ts';
import type { Tx } from '../cell.ts';
import { runMembersSql } from '../run/run-member.ts';
import { statement } from '../statement.ts';

const momentsMax = 2_000;

type MomentRow = {
  readonly recorded_at: Date;
  readonly kind: string;
  readonly state: Moment['state'];
  readonly reason: Moment['reason'];
  readonly actor: string;
  readonly test_run_id: string | null;
  readonly restart: boolean;
  readonly attempt: number;
};

const selectMoments = statement<[queueId: string, prNumber: number], MomentRow>(`
  select recorded_at, kind, state, reason, actor, test_run_id, restart, attempt from queue_fact
  where queue_id = $1 and pr_number = $2
    and kind in ('submitted', 'moved', 'restart_requested', 'landing_begun', 'landing_ended')
  order by recorded_at desc, seq desc limit ${momentsMax}`);

/** For each restart, the member of its run whose attempt last ended meanwhile, as the reason says. */
const selectCulprits = statement<
  [queueId: string, prNumber: number, restarts: string],
  { n: number; pr_number: number }
>(`
  select w.n, c.pr_number
  from jsonb_to_recordset($3) as w (n int, run_id uuid, at timestamptz, reason text)
  join test_run r on r.queue_id = $1 and r.id = w.run_id
  cross join lateral (
    select t.pr_number from attempt t join ${runMembersSql('r')} m on m.pr_number = t.pr_number
    where t.queue_id = $1 and t.concluded_at between r.created_at and w.at and t.pr_number <> $2
      and case w.reason
        when 'PREREQUISITE_MERGE_ITEM_FAILED' then t.conclusion = 'failed'
        when 'PREREQUISITE_MERGE_ITEM_CANCELLED' then t.conclusion = 'cancelled'
        when 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED' then t.reason = 'MANUAL_MERGE' end
    order by t.concluded_at desc, m.position limit 1) c`);

/** Restarts whose cause is read; the newest ones. */
const restartsMax = 50;

export type AttemptMoments = { readonly attempt: number; readonly moments: readonly Moment[] };

/** The attempts of a pull request, newest first, each with its moments in order; at most 2,000 moments. */
export async function listAttemptMoments(
  db: Tx,
  queueId: QueueId,
  prNumber: number,
): Promise<readonly AttemptMoments[]> {
  const rows = (await selectMoments(db, queueId, prNumber)).toReversed();
  const culprits = await readCulprits(db, queueId, prNumber, rows);
  const moments = rows.map((row, index) => ({
    attempt: row.attempt,
    moment: toMoment(row, culprits.get(index)),
  }));
  return (
    [...Map.groupBy(moments, ({ attempt }) => attempt)]
      .map(([attempt, list]) => ({ attempt, moments: list.map(({ moment }) => moment) }))
      // An attempt whose submission is not among the rows read would give a wrong sum.
      .filter(({ moments: [first] }) => first?.kind === 'submitted')
      .toReversed()
  );
}

async function readCulprits(
  db: Tx,
  queueId: QueueId,
  prNumber: number,
  rows: readonly MomentRow[],
): Promise<ReadonlyMap<number, number>> {
  let runId: string | null = null;
  const restarts: object[] = [];
  for (const [n, row] of rows.entries()) {
    if (row.restart && runId !== null && row.reason?.startsWith('PREREQUISITE_') === true)
      restarts.push({ n, run_id: runId, at: row.recorded_at, reason: row.reason });
    runId = row.test_run_id ?? runId;
  }
  if (restarts.length === 0) return new Map();
  const asked = JSON.stringify(restarts.slice(-restartsMax));
  const found = await selectCulprits(db, queueId, prNumber, asked);
  return new Map(found.map((row) => [row.n, row.pr_number]));
}

const toMoment = (row: MomentRow, culprit: number | undefined): Moment => ({
  at: row.recorded_at,
  kind: row.kind,
  state: row.state,
  reason: row.reason,
  actor: row.actor,
  runId: row.test_run_id,
  culprit: culprit ?? null,
});

const selectStates = statement<[queueId: string, since: Date], { recorded_at: Date; state: string }>(`
  (select recorded_at, payload ->> 'state' as state from queue_fact
    where queue_id = $1 and pr_number is null and kind = 'queue_changed' and payload ? 'state' and recorded_at < $2
    order by recorded_at desc limit 1)
  union all
  (select recorded_at, payload ->> 'state' from queue_fact
    where queue_id = $1 and pr_number is null and kind = 'queue_changed' and payload ? 'state' and recorded_at >= $2
    order by recorded_at limit 1000)
  order by 1`);

/** The pauses of the queue since then. */
export async function listPauses(db: Tx, queueId: QueueId, since: Date): Promise<readonly Pause[]> {
  const pauses: Pause[] = [];
  let from: Date | null = null;
  for (const { recorded_at: at, state } of await selectStates(db, queueId, since)) {
    if (state === 'PAUSED') from ??= at;
    else if (from !== null) {
      pauses.push({ from, to: at });
      from = null;
    }
  }
  return from === null ? pauses : [...pauses, { from, to: null }];
}

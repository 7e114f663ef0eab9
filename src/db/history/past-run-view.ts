// The test runs of a queue over time, in a short form for callers that read many of them.

import type { QueueId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { isByFlakyTests } from '../run/failed-test-view.ts';
import { runMembersSql } from '../run/run-member.ts';
import { statement } from '../statement.ts';

export type PastRunWindow = { readonly queueId: QueueId; readonly since: Date; readonly until: Date };

/** The position of a run in the list. */
export type PastRunCursor = { readonly createdAt: Date; readonly id: string };

export type PastRunRow = {
  readonly id: string;
  readonly kind: 'main' | 'bisection';
  readonly status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled';
  readonly created_at: Date;
  readonly pushed_at: Date | null;
  readonly concluded_at: Date | null;
  readonly tested: readonly number[];
  readonly ahead: readonly number[];
  readonly failed_by_flaky_tests: boolean | null;
  readonly selected_tests: number | null;
};

const selectPastRuns = statement<
  [queueId: string, since: Date, until: Date, createdAt: Date | null, id: string | null, take: number],
  PastRunRow
>(`
  select t.id, t.kind, t.status, t.created_at, t.pushed_at, t.concluded_at, m.tested, m.ahead,
    case when t.status = 'failed' then ${isByFlakyTests} end as failed_by_flaky_tests,
    cardinality(t.selected_tests) as selected_tests
  from (
    select * from test_run t
    where t.queue_id = $1 and t.created_at >= $2 and t.created_at < $3
      and ($4::timestamptz is null or (t.created_at, t.id) < ($4, $5::uuid))
    order by t.created_at desc, t.id desc limit $6) t,
  lateral (
    select coalesce(json_agg(m.pr_number order by m.position) filter (where m.under_test), '[]') as tested,
      coalesce(json_agg(m.pr_number order by m.position) filter (where not m.under_test), '[]') as ahead
    from ${runMembersSql('t')} m) m
  order by t.created_at desc, t.id desc`);

/** Newest first, after the cursor. */
export const listPastRuns = (
  db: Tx,
  { queueId, since, until }: PastRunWindow,
  after: PastRunCursor | null,
  take: number,
): Promise<readonly PastRunRow[]> =>
  selectPastRuns(db, queueId, since, until, after?.createdAt ?? null, after?.id ?? null, take);

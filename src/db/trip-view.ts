// The trips that a figure of a queue's history counts, one by one.

import { priorities } from '#core/queue/priority.ts';
import type { Reason } from '#core/queue/reason.ts';
import type { Tx } from './cell.ts';
import {
  type Conclusion,
  type HistoryWindow,
  isInWindow,
  type Narrowed,
  narrowed,
} from './queue-history-view.ts';
import { statement } from './statement.ts';

export type TripFilter = {
  readonly conclusion?: Conclusion | undefined;
  readonly reason?: Reason | undefined;
};

/** A trip's place in the list. */
export type TripCursor = { readonly concludedAt: Date; readonly prNumber: number; readonly trip: number };

export type TripRow = {
  readonly pr_number: number;
  readonly pr_title: string;
  readonly pr_author: string;
  readonly trip: number;
  readonly conclusion: Conclusion;
  readonly reason: Reason | null;
  readonly submitted_at: Date;
  readonly concluded_at: Date;
  readonly in_queue_ms: number;
  readonly wait_ms: number;
  readonly test_ms: number;
  readonly restarts: number;
  readonly head_sha: string;
  readonly priority: number;
  readonly no_batch: boolean;
};

type Place = [concludedAt: Date | null, prNumber: number | null, trip: number | null];

const order = 't.concluded_at desc, t.pr_number desc, t.trip desc';

const selectTrips = statement<
  [...Narrowed, conclusion: string | null, reason: string | null, ...Place, take: number],
  TripRow
>(`
  select t.pr_number, coalesce(e.pr_title, '') as pr_title, coalesce(e.pr_author, '') as pr_author, t.trip,
    t.conclusion, t.reason, t.submitted_at, t.concluded_at, t.in_queue_ms, t.wait_ms, t.test_ms, t.restarts, t.head_sha,
    coalesce(e.priority, ${priorities.medium})::int as priority, coalesce(e.no_batch, false) as no_batch
  from (
    select * from trip t
    where ${isInWindow} and ($6::text is null or t.conclusion = $6) and ($7::text is null or t.reason = $7)
      and ($8::timestamptz is null or (t.concluded_at, t.pr_number, t.trip) < ($8, $9::bigint, $10::int))
    order by ${order} limit $11) t
  left join entry e on e.queue_id = t.queue_id and e.pr_number = t.pr_number
  order by ${order}`);

/** The last to conclude first, those after the cursor. */
export const listTrips = (
  db: Tx,
  window: HistoryWindow,
  { conclusion, reason }: TripFilter,
  after: TripCursor | null,
  take: number,
): Promise<readonly TripRow[]> =>
  selectTrips(
    db,
    ...narrowed(window),
    conclusion ?? null,
    reason ?? null,
    after?.concludedAt ?? null,
    after?.prNumber ?? null,
    after?.trip ?? null,
    take,
  );

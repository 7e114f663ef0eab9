// The attempts behind a number of a queue's history, one by one.

import { priorities } from '#core/queue/priority.ts';
import type { Reason } from '#core/queue/reason.ts';
import type { Tx } from '../cell.ts';
import {
  type Conclusion,
  type HistoryWindow,
  isInWindow,
  type Narrowed,
  narrowed,
} from './queue-history-view.ts';
import { statement } from '../statement.ts';

export type AttemptFilter = {
  readonly conclusion?: Conclusion | undefined;
  readonly reason?: Reason | undefined;
};

/** The position of an attempt in the list. */
export type AttemptCursor = {
  readonly concludedAt: Date;
  readonly prNumber: number;
  readonly attempt: number;
};

export type ConcludedAttemptRow = {
  readonly pr_number: number;
  readonly pr_title: string;
  readonly pr_author: string;
  readonly attempt: number;
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

type AttemptPageCursor = [concludedAt: Date | null, prNumber: number | null, attempt: number | null];

const order = 't.concluded_at desc, t.pr_number desc, t.attempt desc';

const selectAttempts = statement<
  [...Narrowed, conclusion: string | null, reason: string | null, ...AttemptPageCursor, take: number],
  ConcludedAttemptRow
>(`
  select t.pr_number, coalesce(e.pr_title, '') as pr_title, coalesce(e.pr_author, '') as pr_author, t.attempt,
    t.conclusion, t.reason, t.submitted_at, t.concluded_at, t.in_queue_ms, t.wait_ms, t.test_ms, t.restarts, t.head_sha,
    coalesce(e.priority, ${priorities.medium})::int as priority, coalesce(e.no_batch, false) as no_batch
  from (
    select * from attempt t
    where ${isInWindow} and ($6::text is null or t.conclusion = $6) and ($7::text is null or t.reason = $7)
      and ($8::timestamptz is null or (t.concluded_at, t.pr_number, t.attempt) < ($8, $9::bigint, $10::int))
    order by ${order} limit $11) t
  left join queue_entry e on e.queue_id = t.queue_id and e.pr_number = t.pr_number
  order by ${order}`);

/** The last to conclude first, those after the cursor. */
export const listAttempts = (
  db: Tx,
  window: HistoryWindow,
  { conclusion, reason }: AttemptFilter,
  after: AttemptCursor | null,
  take: number,
): Promise<readonly ConcludedAttemptRow[]> =>
  selectAttempts(
    db,
    ...narrowed(window),
    conclusion ?? null,
    reason ?? null,
    after?.concludedAt ?? null,
    after?.prNumber ?? null,
    after?.attempt ?? null,
    take,
  );

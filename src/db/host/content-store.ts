// Writes content_use: how much all processes together have written to a host within the last hour.

import { contentRoom, type ContentUse } from '#core/content-budget.ts';
import type { Cell, Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { withTransaction } from '../transaction.ts';

// Held until the transaction ends: two processes never use the same part of the budget.
const lock = statement<[budget: string]>(
  `select pg_advisory_xact_lock(hashtextextended('content ' || $1, 0))`,
);

const selectUse = statement<
  [budget: string, at: Date],
  { hour: number; minute: number; hour_from: Date | null; minute_from: Date | null }
>(`
  select coalesce(sum(count), 0)::int as hour,
    coalesce(sum(count) filter (where at > $2::timestamptz - interval '70 seconds'), 0)::int as minute,
    min(at) as hour_from,
    min(at) filter (where at > $2::timestamptz - interval '70 seconds') as minute_from
  from content_use where budget = $1 and at > $2::timestamptz - interval '1 hour 10 seconds'`);

const insertUse = statement<[budget: string, at: Date, count: number]>(`
  insert into content_use (budget, at, count) values ($1, date_bin('10 seconds', $2, 'epoch'), $3)
  on conflict (budget, at) do update set count = content_use.count + excluded.count`);

const deleteOld = statement<[budget: string, at: Date]>(
  `delete from content_use where budget = $1 and at <= $2::timestamptz - interval '1 hour 10 seconds'`,
);

export async function readContentUse(db: Tx, budget: string, at: Date): Promise<ContentUse> {
  const [row] = await selectUse(db, budget, at);
  return row!;
}

/** Null: the budget allows the write, which is now counted. Otherwise the milliseconds until it may. */
export function takeContent(
  cell: Cell,
  budget: string,
  { at, count, isLanding }: { readonly at: Date; readonly count: number; readonly isLanding: boolean },
): Promise<number | null> {
  return withTransaction(cell, async (tx) => {
    await lock(tx, budget);
    const [use] = await selectUse(tx, budget, at);
    const { hour, minute, hour_from, minute_from } = use!;
    const room = contentRoom({ hour, minute }, isLanding);
    if (count > room.hour) return waitFor(hour_from, 3_610_000, at);
    if (count > room.minute) return waitFor(minute_from, 70_000, at);
    await insertUse(tx, budget, at, count);
    await deleteOld(tx, budget, at);
    return null;
  });
}

/** The time until the oldest counted write no longer counts. */
const waitFor = (from: Date | null, spanMs: number, at: Date): number =>
  Math.max(1_000, (from ?? at).getTime() + spanMs - at.getTime());

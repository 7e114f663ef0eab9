// History tables are partitioned by month: new months are made ahead of time, old ones are dropped whole.

import { type Kysely, sql } from 'kysely';
import type { DB } from './database.ts';

const partitioned = [
  'fact',
  'trip',
  'test_failure',
  'upload',
  'upload_blob',
  'test_segment',
  'test_fact',
] as const;
/** What is kept for less than the rest: bytes until somebody may want to read them again, results for a quarter. */
const monthsKeptMax: Readonly<Partial<Record<(typeof partitioned)[number], number>>> = {
  upload_blob: 1,
  test_segment: 3,
  test_failure: 3,
};

/** Months made ahead, so that a worker that was away for weeks loses nothing. */
const monthsAhead = 3;

const monthStart = (at: Date, offset: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1));

const monthName = (start: Date): string => start.toISOString().slice(0, 7).replace('-', '_');

/** Creates the partitions of last month up to three months ahead; what exists stays as it is. */
export async function ensurePartitions(db: Kysely<DB>, now: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // "if not exists" does not save two processes that create the same table at once.
    await sql`select pg_advisory_xact_lock(hashtextextended('signalbox partitions', 0))`.execute(tx);
    for (const table of partitioned) {
      for (let offset = -1; offset <= monthsAhead; offset++) {
        const from = monthStart(now, offset);
        const to = monthStart(now, offset + 1);
        const name = `${table}_${monthName(from)}`;
        await sql`create table if not exists ${sql.table(name)} partition of ${sql.table(table)}
          for values from (${sql.lit(from.toISOString())}) to (${sql.lit(to.toISOString())})`.execute(tx);
      }
    }
  });
}

/** Drops whole months that ended more than `keepMonths` months ago, or earlier if less is kept; returns their names. */
export async function dropOldPartitions(
  db: Kysely<DB>,
  now: Date,
  keepMonths: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ parent: (typeof partitioned)[number]; name: string }>`
    select parent.relname as parent, child.relname as name
    from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class child on child.oid = inhrelid
    where parent.relname in (${sql.join(partitioned)}) and child.relkind = 'r'`.execute(db);
  const old = rows.filter(({ parent, name }) => {
    const month = name.slice(parent.length + 1);
    const months = Math.min(keepMonths, monthsKeptMax[parent] ?? keepMonths);
    const oldestKept = monthName(monthStart(now, -months));
    return /^\d{4}_\d{2}$/.test(month) && month < oldestKept;
  });
  for (const { name } of old) await sql`drop table ${sql.table(name)}`.execute(db);
  return old.map(({ name }) => name);
}

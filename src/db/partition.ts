// History tables are partitioned by month: new months are made ahead of time, old ones are dropped whole.
//
// Neither holds up a reader or a writer of the table, and neither is held up by a long reader such as pg_dump:
// - `create table ... partition of` would take ACCESS EXCLUSIVE on the table. A month is a table of its own first, with a
//   check of its range, and is then attached, which takes SHARE UPDATE EXCLUSIVE (PostgreSQL manual, ALTER TABLE).
// - `drop table` of a partition would take ACCESS EXCLUSIVE, too. A month is detached concurrently, in two transactions
//   with a wait between them for everyone who reads the table, and is dropped when it is a table of its own. Where that
//   wait is cut short, the next run finishes it.

import { type Kysely, sql } from 'kysely';
import type { DB } from './database.ts';
import { LockedOutError, type Patience, withShortLocks } from './short-lock.ts';

const partitioned = [
  'fact',
  'trip',
  'test_failure',
  'upload',
  'upload_blob',
  'test_segment',
  'test_fact',
] as const;
type Partitioned = (typeof partitioned)[number];

/** What is kept for less than the rest: bytes until somebody may want to read them again, results for a quarter. */
const monthsKeptMax: Readonly<Partial<Record<Partitioned, number>>> = {
  upload_blob: 1,
  test_segment: 3,
  test_failure: 3,
};

/** Months made ahead, so that a worker that was away for weeks loses nothing. */
const monthsAhead = 3;

/** The locks of an attach make no reader and no writer wait, so it may wait for them for seconds. */
const attachPatience: Patience = { lockMs: 2_000, tries: 5, pauseMs: 1_000 };
/** A month that is too old can also be dropped tomorrow. */
const dropPatience: Patience = { lockMs: 2_000, tries: 1, pauseMs: 0 };

const monthStart = (at: Date, offset: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1));

const monthName = (start: Date): string => start.toISOString().slice(0, 7).replace('-', '_');

/** Creates the partitions of last month up to three months ahead; what exists stays as it is. */
export async function ensurePartitions(db: Kysely<DB>, now: Date): Promise<void> {
  const months = Array.from({ length: monthsAhead + 2 }, (_, index) => index - 1);
  const there = new Set((await listMonths(db)).map(({ name }) => name));
  for (const table of partitioned)
    for (const offset of months) {
      const from = monthStart(now, offset);
      if (!there.has(`${table}_${monthName(from)}`))
        await withShortLocks(db, attachPatience, (connection) =>
          attachMonth(connection, table, from, monthStart(now, offset + 1)),
        );
    }
}

async function attachMonth(db: Kysely<DB>, table: Partitioned, from: Date, to: Date): Promise<void> {
  const [{ key }] = (
    await sql<{ key: string }>`select a.attname as key from pg_partitioned_table p
      join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
      where p.partrelid = ${table}::regclass`.execute(db)
  ).rows as [{ key: string }];
  const name = sql.table(`${table}_${monthName(from)}`);
  const [low, high] = [sql.lit(from.toISOString()), sql.lit(to.toISOString())];
  await db.transaction().execute(async (tx) => {
    // Another process may be making the same month.
    await sql`select pg_advisory_xact_lock(hashtextextended('signalbox partitions', 0))`.execute(tx);
    if ((await listMonths(tx)).some((month) => month.name === `${table}_${monthName(from)}`)) return;
    // An identity column of the parent fills the column of every partition, and must not be one there.
    await sql`create table ${name} (like ${sql.table(table)} including all excluding identity)`.execute(tx);
    await sql`alter table ${name} add constraint month
      check (${sql.ref(key)} >= ${low} and ${sql.ref(key)} < ${high})`.execute(tx);
    await sql`alter table ${sql.table(table)} attach partition ${name} for values from (${low}) to (${high})`.execute(
      tx,
    );
    // The bounds of the partition say the same from here on. Before the commit nobody else sees this table.
    await sql`alter table ${name} drop constraint month`.execute(tx);
  });
}

type Month = {
  readonly parent: Partitioned;
  readonly name: string;
  /** `detaching`: a detach was begun and has to be finished. `apart`: it is no partition any more. */
  readonly state: 'attached' | 'detaching' | 'apart';
};

async function listMonths(db: Kysely<DB>): Promise<readonly Month[]> {
  const { rows } = await sql<Month>`
    select parent.relname as parent, child.relname as name, case when i.inhrelid is null then 'apart'
      when i.inhdetachpending then 'detaching' else 'attached' end as state
    from pg_class parent
    join pg_class child on child.relnamespace = parent.relnamespace and child.relkind = 'r'
      and child.relname ~ ('^' || parent.relname || '_\\d{4}_\\d{2}$')
    left join pg_inherits i on i.inhrelid = child.oid
    where parent.relnamespace = 'public'::regnamespace and parent.relkind = 'p'
      and parent.relname in (${sql.join(partitioned)})
    order by child.relname`.execute(db);
  return rows;
}

/**
 * Drops whole months that ended more than `keepMonths` months ago, or earlier if less is kept; returns their names. A
 * month that is still being read stays for now.
 */
export async function dropOldPartitions(
  db: Kysely<DB>,
  now: Date,
  keepMonths: number,
): Promise<readonly string[]> {
  const old = (await listMonths(db)).filter(({ parent, name }) => {
    const months = Math.min(keepMonths, monthsKeptMax[parent] ?? keepMonths);
    return name.slice(parent.length + 1) < monthName(monthStart(now, -months));
  });
  const dropped: string[] = [];
  // A table has at most one partition whose detach is under way.
  const waiting = new Set<Partitioned>();
  for (const month of old.toSorted(
    (one, other) => Number(other.state === 'detaching') - Number(one.state === 'detaching'),
  )) {
    if (waiting.has(month.parent)) continue;
    try {
      await withShortLocks(db, dropPatience, (connection) => dropMonth(connection, month));
      dropped.push(month.name);
    } catch (error) {
      if (!(error instanceof LockedOutError)) throw error;
      waiting.add(month.parent);
    }
  }
  return dropped;
}

async function dropMonth(db: Kysely<DB>, { parent, name, state }: Month): Promise<void> {
  const detach = sql`alter table ${sql.table(parent)} detach partition ${sql.table(name)}`;
  if (state === 'attached') await sql`${detach} concurrently`.execute(db);
  if (state === 'detaching') await sql`${detach} finalize`.execute(db);
  await sql`drop table if exists ${sql.table(name)}`.execute(db);
}

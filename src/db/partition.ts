// History tables are partitioned by month: new months are made ahead of time, old ones are dropped whole.
//
// Neither holds up a reader or a writer of the table, and neither is held up by a long reader such as pg_dump:
// - `create table ... partition of` would take ACCESS EXCLUSIVE on the table. A month is a table of its own first, with a
//   check of its range, and is then attached, which takes SHARE UPDATE EXCLUSIVE (PostgreSQL manual, ALTER TABLE).
// - `drop table` of a partition would take ACCESS EXCLUSIVE, too. A month is detached concurrently, in two transactions
//   with a wait between them for everyone who reads the table, and is dropped when it is a table of its own. Where that
//   wait is cut short, the next run finishes it.

import type { Db, PooledDb } from './pool.ts';
import { inTransaction, LockedOutError, type Patience, withShortLocks } from './short-lock.ts';
import { statement } from './statement.ts';

const partitioned = [
  'queue_fact',
  'attempt',
  'test_failure',
  'upload',
  'upload_blob',
  'test_segment',
  'test_fact',
] as const;
type Partitioned = (typeof partitioned)[number];

/** Tables that keep fewer months: bytes while they may be read again, results for a quarter. */
const monthsKeptMax: Readonly<Partial<Record<Partitioned, number>>> = {
  upload_blob: 1,
  test_segment: 3,
  test_failure: 3,
};

/** Months created ahead, so that nothing is lost if no worker runs for weeks. */
const monthsAhead = 3;

/** The locks of an attach block no reader and no writer, so it may wait for them for seconds. */
const attachPatience: Patience = { lockMs: 2_000, tries: 5, pauseMs: 1_000 };
/** An old month can also be dropped tomorrow. */
const dropPatience: Patience = { lockMs: 2_000, tries: 1, pauseMs: 0 };

const monthStart = (at: Date, offset: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1));

const monthName = (start: Date): string => start.toISOString().slice(0, 7).replace('-', '_');

/** Creates the partitions of last month up to three months ahead; what exists stays as it is. */
export async function ensurePartitions(db: PooledDb, now: Date): Promise<void> {
  const months = Array.from({ length: monthsAhead + 2 }, (_, index) => index - 1);
  const there = new Set((await selectMonths(db, partitioned)).map(({ name }) => name));
  for (const table of partitioned)
    for (const offset of months) {
      const from = monthStart(now, offset);
      if (!there.has(`${table}_${monthName(from)}`))
        await withShortLocks(db, attachPatience, (connection) =>
          attachMonth(connection, table, from, monthStart(now, offset + 1)),
        );
    }
}

const selectKey = statement<[table: string], { key: string }>(`
  select a.attname as key from pg_partitioned_table p
  join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
  where p.partrelid = $1::regclass`);
const lockPartitions = statement<[]>(
  "select pg_advisory_xact_lock(hashtextextended('signalbox partitions', 0))",
);

async function attachMonth(db: Db, table: Partitioned, from: Date, to: Date): Promise<void> {
  const [row] = await selectKey(db, table);
  const key = row!.key;
  const name = `${table}_${monthName(from)}`;
  const [low, high] = [from, to].map((at) => `'${at.toISOString()}'`);
  await inTransaction(db, async () => {
    // Another process may be creating the same month.
    await lockPartitions(db);
    if ((await selectMonths(db, partitioned)).some((month) => month.name === name)) return;
    // An identity column of the parent fills the column of every partition, and must not be one there.
    await db.run(`create table ${name} (like ${table} including all excluding identity)`, []);
    await db.run(
      `alter table ${name} add constraint month check (${key} >= ${low} and ${key} < ${high})`,
      [],
    );
    await db.run(`alter table ${table} attach partition ${name} for values from (${low}) to (${high})`, []);
    // The bounds of the partition say the same from here on. Before the commit no other transaction sees this table.
    await db.run(`alter table ${name} drop constraint month`, []);
  });
}

type Month = {
  readonly parent: Partitioned;
  readonly name: string;
  /** `detaching`: a detach was started and has to be finished. `apart`: it is not a partition any more. */
  readonly state: 'attached' | 'detaching' | 'apart';
};

const selectMonths = statement<[tables: readonly string[]], Month>(`
  select parent.relname as parent, child.relname as name, case when i.inhrelid is null then 'apart'
    when i.inhdetachpending then 'detaching' else 'attached' end as state
  from pg_class parent
  join pg_class child on child.relnamespace = parent.relnamespace and child.relkind = 'r'
    and child.relname ~ ('^' || parent.relname || '_\\d{4}_\\d{2}$')
  left join pg_inherits i on i.inhrelid = child.oid
  where parent.relnamespace = 'public'::regnamespace and parent.relkind = 'p' and parent.relname = any ($1::text[])
  order by child.relname`);

/**
 * Drops whole months that ended more than `keepMonths` months ago, or earlier if less is kept; returns their names. A
 * month that is still being read stays for now.
 */
export async function dropOldPartitions(
  db: PooledDb,
  now: Date,
  keepMonths: number,
): Promise<readonly string[]> {
  const old = (await selectMonths(db, partitioned)).filter(({ parent, name }) => {
    const months = Math.min(keepMonths, monthsKeptMax[parent] ?? keepMonths);
    return name.slice(parent.length + 1) < monthName(monthStart(now, -months));
  });
  const dropped: string[] = [];
  // A table has at most one partition that is being detached.
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

async function dropMonth(db: Db, { parent, name, state }: Month): Promise<void> {
  const detach = `alter table ${parent} detach partition ${name}`;
  if (state === 'attached') await db.run(`${detach} concurrently`, []);
  if (state === 'detaching') await db.run(`${detach} finalize`, []);
  await db.run(`drop table if exists ${name}`, []);
}

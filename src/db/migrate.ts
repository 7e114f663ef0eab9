// Migrates a database to the present schema: the numbered .sql files in order, the job library's own schema,
// and the partitions of the coming months. Safe to run from several processes at once, and while processes of
// the previous release work on the same database: each file is a transaction of its own and waits for locks
// only for moments.

import { setTimeout as sleep } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import type { Cell } from './cell.ts';
import { listMigrations, type MigrationFile, neededBy, readMigration } from './migration-file.ts';
import { ensurePartitions } from './partition.ts';
import type { Db, PooledDb } from './pool.ts';
import { inTransaction, type Patience, withShortLocks } from './short-lock.ts';
import { statement } from './statement.ts';

/**
 * Everything else waits for the locks of a migration: it waits for its locks for less than half a second at a
 * time, and retries for about ten minutes.
 */
const transactionPatience: Patience = { lockMs: 400, tries: 70, pauseMs: 1_000 };

/**
 * `create index concurrently` waits for transactions that started before it. No other transaction waits
 * behind it, so it has no lock timeout; the statement timeout of the connection ends it.
 */
const concurrentPatience: Patience = { lockMs: 0, tries: 5, pauseMs: 1_000 };

// The lock number and the two tables are those of the library that earlier releases migrated with. So an
// earlier release and this one never migrate at the same time, and each knows what the other has done.
const lockId = '3853314791062309107';
const prepareTables = `
  create table if not exists kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);
  create table if not exists kysely_migration_lock (id varchar(255) not null primary key, is_locked integer not null default 0);
  insert into kysely_migration_lock (id) values ('migration_lock') on conflict do nothing`;

const tryLock = statement<[id: string], { is_locked: boolean }>(
  'select pg_try_advisory_lock($1::bigint) as is_locked',
);
const unlock = statement<[id: string]>('select pg_advisory_unlock($1::bigint)');
const selectApplied = statement<[], { name: string }>('select name from kysely_migration');
const insertApplied = statement<[name: string, at: string]>(
  'insert into kysely_migration (name, timestamp) values ($1, $2)',
);

/** `only` stops after the named file: tests put sample data between two migrations. */
export async function migrateTables(
  cell: Cell,
  only?: string,
  {
    files = listMigrations,
    read = readMigration,
  }: {
    readonly files?: () => Promise<readonly string[]>;
    readonly read?: (name: string) => Promise<MigrationFile>;
  } = {},
): Promise<readonly string[]> {
  const known = await files();
  return withMigrationLock(cell, async () => {
    const { db } = cell.maintenance;
    await db.run(prepareTables, []);
    const done = new Set((await selectApplied(db)).map(({ name }) => name));
    refuseYoungerSchema(done, known);
    const last = only === undefined ? known.length : known.indexOf(only) + 1;
    const pending = known.slice(0, last).filter((name) => !done.has(name));
    for (const name of pending) await applyMigration(db, await read(name));
    return pending;
  });
}

/**
 * One process migrates at a time. The lock is polled rather than waited for: `create index concurrently`
 * waits for every transaction that started before it, including one that only waits for this lock.
 */
async function withMigrationLock<Result>(cell: Cell, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const outcome = await cell.maintenance.db.onConnection(async (connection) => {
      const [tried] = await tryLock(connection, lockId);
      if (!tried!.is_locked) return null;
      try {
        return { result: await work() };
      } finally {
        await unlock(connection, lockId);
      }
    });
    if (outcome !== null) return outcome.result;
    await sleep(200);
  }
}

/** Additions of a newer program are no problem: this may be an old process restarted during an upgrade. */
function refuseYoungerSchema(done: ReadonlySet<string>, known: readonly string[]): void {
  const newest = known.at(-1)?.slice(0, 4) ?? '';
  const harmful = [...done].filter((name) => !known.includes(name) && (neededBy(name) ?? '') > newest);
  if (harmful.length === 0) return;
  throw new Error(
    `The schema of this database is too new for this version of Signalbox: it has ${harmful.toSorted().join(', ')}. ` +
      'Use the newer version, or restore a backup from before its migration.',
  );
}

async function applyMigration(db: PooledDb, file: MigrationFile): Promise<void> {
  const { name, statements, isTransaction } = file;
  const applyTo = async (connection: Db) => {
    for (const text of statements) await connection.run(text, []);
    await insertApplied(connection, name, new Date().toISOString());
  };
  try {
    if (isTransaction)
      await withShortLocks(db, transactionPatience, (connection) =>
        inTransaction(connection, () => applyTo(connection)),
      );
    else await withShortLocks(db, concurrentPatience, applyTo);
  } catch (error) {
    throw new Error(`Migration ${name} was not applied: ${(error as Error).message}`, { cause: error });
  }
}

export async function migrateCell(cell: Cell, now: Date): Promise<readonly string[]> {
  const applied = await migrateTables(cell);
  await runMigrations({ pgPool: cell.maintenance.pool });
  await ensurePartitions(cell.maintenance.db, now);
  return applied;
}

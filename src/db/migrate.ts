// Brings a database to the present schema: our numbered .sql files in order, the job queue's own schema, and the
// partitions that the coming months need. Safe to run from several processes at once, and while processes of the release
// before work on the same database: each file is a transaction of its own and waits for locks only for moments.

import { setTimeout as sleep } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import { type Kysely, sql } from 'kysely';
import type { Cell } from './cell.ts';
import type { DB } from './database.ts';
import { listMigrations, type MigrationFile, neededBy, readMigration } from './migration-file.ts';
import { ensurePartitions } from './partition.ts';
import { type Patience, withShortLocks } from './short-lock.ts';

/**
 * What a migration locks, everything else waits for: it waits for its locks for less than half a second at a time, and
 * tries for about ten minutes.
 */
const transactionPatience: Patience = { lockMs: 400, tries: 70, pauseMs: 1_000 };

/**
 * What `create index concurrently` waits for are transactions that began before it. Nobody waits behind it, so it may
 * take as long as it takes; the limit of the connection for a statement ends it.
 */
const concurrentPatience: Patience = { lockMs: 0, tries: 5, pauseMs: 1_000 };

// The number and the two tables are those of the library that earlier releases migrated with, so that one of them and
// this one never migrate at the same time, and each knows what the other has done.
const lockId = sql.raw('3853314791062309107');
const prepareTables = sql`
  create table if not exists kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);
  create table if not exists kysely_migration_lock (id varchar(255) not null primary key, is_locked integer not null default 0);
  insert into kysely_migration_lock (id) values ('migration_lock') on conflict do nothing`;

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
    await prepareTables.execute(db);
    const done = await appliedMigrations(db);
    refuseYoungerSchema(done, known);
    const last = only === undefined ? known.length : known.indexOf(only) + 1;
    const pending = known.slice(0, last).filter((name) => !done.has(name));
    for (const name of pending) await applyMigration(db, await read(name));
    return pending;
  });
}

/**
 * One process migrates at a time. The lock is asked for again and again and not waited for: `create index concurrently`
 * waits for every transaction that began before, also for one that does nothing but wait for this lock.
 */
async function withMigrationLock<Result>(cell: Cell, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const outcome = await cell.maintenance.db.connection().execute(async (connection) => {
      const tried = sql<{ is_ours: boolean }>`select pg_try_advisory_lock(${lockId}) as is_ours`;
      if ((await tried.execute(connection)).rows[0]?.is_ours !== true) return null;
      try {
        return { result: await work() };
      } finally {
        await sql`select pg_advisory_unlock(${lockId})`.execute(connection);
      }
    });
    if (outcome !== null) return outcome.result;
    await sleep(200);
  }
}

async function appliedMigrations(db: Kysely<DB>): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** What a newer program added is no trouble: this one may be an old process that is started again during an upgrade. */
function refuseYoungerSchema(done: ReadonlySet<string>, known: readonly string[]): void {
  const newest = known.at(-1)?.slice(0, 4) ?? '';
  const harmful = [...done].filter((name) => !known.includes(name) && (neededBy(name) ?? '') > newest);
  if (harmful.length === 0) return;
  throw new Error(
    `The schema of this database is too new for this program: it has ${harmful.toSorted().join(', ')}. ` +
      'Use the newer program, or restore a backup from before its migration.',
  );
}

const recordMigration = (db: Kysely<DB>, name: string) =>
  sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(
    db,
  );

async function applyMigration(db: Kysely<DB>, file: MigrationFile): Promise<void> {
  const { name, statements, isTransaction } = file;
  const applyTo = async (connection: Kysely<DB>) => {
    for (const statement of statements) await sql.raw(statement).execute(connection);
    await recordMigration(connection, name);
  };
  try {
    if (isTransaction)
      await withShortLocks(db, transactionPatience, (connection) =>
        connection.transaction().execute(applyTo),
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

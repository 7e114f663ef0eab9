// Brings a database to the present schema: our numbered .sql files in order, the job queue's own schema, and the
// partitions that the coming months need. Safe to run from several processes at once: the migrator takes a lock.

import { readdir, readFile } from 'node:fs/promises';
import { runMigrations } from 'graphile-worker';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Cell } from './cell.ts';
import { ensurePartitions } from './partition.ts';

const folder = new URL('../../migration/', import.meta.url);

/** Numbered migration files, without the sample data beside them. */
export async function listMigrations(): Promise<string[]> {
  const files = await readdir(folder);
  return files.filter((file) => /^\d{4}-[a-z-]+\.sql$/.test(file)).toSorted();
}

async function loadMigration(file: string): Promise<Migration> {
  const text = await readFile(new URL(file, folder), 'utf8');
  return {
    up: async (db: Kysely<unknown>) => {
      await sql.raw(text).execute(db);
    },
  };
}

/** `only` stops after the named file: tests put sample data between two migrations. */
export async function migrateTables(cell: Cell, only?: string): Promise<readonly string[]> {
  const migrator = new Migrator({
    db: cell.maintenance.db,
    provider: {
      getMigrations: async () => {
        const files = await listMigrations();
        return Object.fromEntries(
          await Promise.all(files.map(async (file) => [file, await loadMigration(file)])),
        );
      },
    },
  });
  const { error, results } =
    only === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(only);
  if (error !== undefined) throw error;
  return (results ?? [])
    .filter((result) => result.status === 'Success')
    .map((result) => result.migrationName);
}

export async function migrateCell(cell: Cell, now: Date): Promise<readonly string[]> {
  const applied = await migrateTables(cell);
  await runMigrations({ pgPool: cell.maintenance.pool });
  await ensurePartitions(cell.maintenance.db, now);
  return applied;
}

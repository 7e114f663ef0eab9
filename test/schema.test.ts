import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { listMigrations, migrateTables } from '#db/migrate.ts';
import { dropOldPartitions, ensurePartitions } from '#db/partition.ts';
import { dumpSchema, generateTypes } from '../script/schema.ts';
import { databaseUrl, openTestCell } from './database.ts';

async function emptyCell() {
  const { cell, close } = await openTestCell('main', 'template0');
  onTestFinished(close);
  return cell;
}

const cluster = () => ({ url: databaseUrl, binDir: inject('binDir'), stop: () => Promise.resolve() });

describe('migrations', () => {
  it('apply in order on tables that hold the sample data of those before', async () => {
    const cell = await emptyCell();
    for (const file of await listMigrations()) {
      await migrateTables(cell, file);
      const sample = await readFile(
        new URL(`../migration/${file.replace('.sql', '.sample.sql')}`, import.meta.url),
      );
      await sql.raw(sample.toString()).execute(cell.db);
    }
    // Every table we own has been filled, so a later migration is always tried on rows.
    const { rows } = await sql<{ name: string; filled: boolean }>`
      select relname as name,
        (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I', relname), false, true, '')))[1]::text::int > 0 as filled
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not like 'kysely%'`.execute(cell.db);
    expect(rows.filter((row) => !row.filled).map((row) => row.name)).toEqual([]);
    expect(rows.length).toBeGreaterThan(15);
  });

  it('make exactly the committed schema.sql and the committed types', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    const database = new URL(cell.url).pathname.slice(1);
    expect(dumpSchema(cluster(), database), 'run: npm run schema').toBe(
      readFileSync('migration/schema.sql', 'utf8'),
    );
    expect(generateTypes(cluster(), database), 'run: npm run schema').toBe(
      readFileSync('src/db/database.ts', 'utf8'),
    );
  });

  it('give every queue-owned table a key that starts with the queue, and every repository-owned one with the repository', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    const { rows } = await sql<{ name: string; owner: string; leading: string }>`
      select c.relname as name, a.attname as owner, k.attname as leading
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname in ('queue_id', 'repository_id')
      join pg_index i on i.indrelid = c.oid and i.indisprimary
      join pg_attribute k on k.attrelid = c.oid and k.attnum = i.indkey[0]
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'queue'`.execute(
      cell.db,
    );
    expect(rows.length).toBeGreaterThan(8);
    expect(rows.filter((row) => row.owner !== row.leading)).toEqual([]);
  });
});

describe('partitions', () => {
  const names = async (cell: Awaited<ReturnType<typeof emptyCell>>) => {
    const { rows } = await sql<{ name: string }>`
      select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
      join pg_class parent on parent.oid = inhparent where parent.relname = 'fact' order by 1`.execute(
      cell.db,
    );
    return rows.map((row) => row.name);
  };

  it('are made ahead, once, over the turn of a year', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    const now = new Date('2026-11-30T23:59:00Z');
    await ensurePartitions(cell.db, now);
    await ensurePartitions(cell.db, now);
    expect(await names(cell)).toEqual([
      'fact_2026_10',
      'fact_2026_11',
      'fact_2026_12',
      'fact_2027_01',
      'fact_2027_02',
    ]);
  });

  it('are dropped whole when they are older than what is kept', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    await ensurePartitions(cell.db, new Date('2026-03-15T00:00:00Z'));
    await ensurePartitions(cell.db, new Date('2026-07-15T00:00:00Z'));
    const dropped = await dropOldPartitions(cell.db, new Date('2026-07-15T00:00:00Z'), 2);
    expect(dropped.filter((name) => name.startsWith('fact_'))).toEqual([
      'fact_2026_02',
      'fact_2026_03',
      'fact_2026_04',
    ]);
    expect(await names(cell)).toContain('fact_2026_05');
  });
});

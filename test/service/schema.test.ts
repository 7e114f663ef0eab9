import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { migrateTables } from '#db/migrate.ts';
import { listMigrations, neededBy, outsideMarker, parseMigration } from '#db/migration-file.ts';
import { dropOldPartitions, ensurePartitions } from '#db/partition.ts';
import { retention } from '#db/retention.ts';
import { dumpSchema } from '../../script/schema.ts';
import { databaseUrl, openTestCell } from '../support/database.ts';
import { sql } from '../support/sql.ts';

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
        new URL(`../../migration/${file.replace('.sql', '.sample.sql')}`, import.meta.url),
      );
      await cell.db.run(sample.toString(), []);
    }
    // Every table we own has been filled, so a later migration is always tried on rows.
    const rows = await sql<{ name: string; filled: boolean }>(cell.db)`
      select relname as name,
        (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I', relname), false, true, '')))[1]::text::int > 0 as filled
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not like 'kysely%'`;
    expect(rows.filter((row) => !row.filled).map((row) => row.name)).toEqual([]);
    expect(rows.map((row) => row.name).toSorted()).toEqual(Object.keys(retention).toSorted());
  });

  it('give the strategy manual to the queues whose batches were set by hand, and to no other', async () => {
    const cell = await emptyCell();
    await migrateTables(cell, '0037-strategy.sql');
    const organization = '00000000-0000-7000-8000-000000000001';
    const repository = '00000000-0000-7000-8000-000000000002';
    await cell.db.run(`insert into organization (id, slug, name) values ($1, 'acme', 'acme')`, [
      organization,
    ]);
    await cell.db.run(
      `insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key)
        values ($1, $2, 'git.example', 'acme', 'widgets', 'git.example', 'acme', 'widgets')`,
      [repository, organization],
    );
    const settings = [
      {},
      { batch: false, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 5, bisectionConcurrency: 0 },
      { batch: true },
      { batchingMinSize: 6 },
      { batchingMaxWaitTimeMinutes: 0 },
      { bisectionConcurrency: 2 },
      { batch: true, strategy: 'adaptive' },
    ];
    for (const [index, values] of settings.entries())
      await cell.db.run(
        `insert into queue (id, repository_id, branch, settings) values (gen_random_uuid(), $1, $2, $3)`,
        [repository, `branch-${index}`, JSON.stringify(values)],
      );
    await migrateTables(cell);
    const rows = await sql<{ strategy: string | null }>(cell.db)`
      select settings ->> 'strategy' as strategy from queue order by branch`;
    expect(rows.map(({ strategy }) => strategy)).toEqual([
      null,
      null,
      'manual',
      'manual',
      'manual',
      'manual',
      'adaptive',
    ]);
  });

  it('make exactly the committed schema.sql', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    const database = new URL(cell.url).pathname.slice(1);
    expect(dumpSchema(cluster(), database), 'run: npm run schema').toBe(
      readFileSync('migration/schema.sql', 'utf8'),
    );
  });

  it('give every queue-owned table a key that starts with the queue, and every repository-owned one with the repository', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    const rows = await sql<{ name: string; owner: string; leading: string }>(cell.db)`
      select c.relname as name, a.attname as owner, k.attname as leading
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname in ('queue_id', 'repository_id')
      join pg_index i on i.indrelid = c.oid and i.indisprimary
      join pg_attribute k on k.attrelid = c.oid and k.attnum = i.indkey[0]
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'queue'`;
    expect(rows.length).toBeGreaterThan(8);
    expect(rows.filter((row) => row.owner !== row.leading)).toEqual([]);
  });
});

describe('a migration', () => {
  /** A schema of these files alone. */
  const migrate = (cell: Awaited<ReturnType<typeof emptyCell>>, texts: Readonly<Record<string, string>>) =>
    migrateTables(cell, undefined, {
      files: () => Promise.resolve(Object.keys(texts)),
      read: (name) => Promise.resolve(parseMigration(name, texts[name]!)),
    });
  const applied = async (cell: Awaited<ReturnType<typeof emptyCell>>) =>
    (await sql<{ name: string }>(cell.db)`select name from kysely_migration order by name`).map(
      ({ name }) => name,
    );

  it('is one transaction: those before it stay when it fails', async () => {
    const cell = await emptyCell();
    const files = {
      '0001-one.sql': 'create table one (id int);',
      '0002-two.sql': 'create table two (id int); select 1 / 0;',
    };
    await expect(migrate(cell, files)).rejects.toThrow(
      'Migration 0002-two.sql was not applied: division by zero',
    );
    expect(await applied(cell)).toEqual(['0001-one.sql']);
    expect(await migrate(cell, { ...files, '0002-two.sql': 'create table two (id int);' })).toEqual([
      '0002-two.sql',
    ]);
  });

  it('waits for a lock for moments, so that readers are held up for less than a second behind a long one', async () => {
    const cell = await emptyCell();
    await migrate(cell, { '0001-one.sql': 'create table one (id int);' });
    const long = await cell.pool.connect();
    await long.query('begin');
    await long.query('select count(*) from one');
    const migrating = migrate(cell, {
      '0001-one.sql': '',
      '0002-two.sql': 'alter table one add column name text;',
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const begun = performance.now();
    await cell.db.onConnection(async (connection) => {
      await sql(connection)`set statement_timeout = '2s'`;
      for (let turn = 0; turn < 5; turn++) {
        await sql(connection)`select count(*) from one`;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    });
    expect(performance.now() - begun).toBeLessThan(3_000);
    await long.query('commit');
    long.release();
    expect(await migrating).toEqual(['0002-two.sql']);
  });

  it('that runs outside a transaction is repeated whole after it was interrupted', async () => {
    const cell = await emptyCell();
    const files = {
      '0001-one.sql': 'create table one (id int); insert into one values (1), (1);',
      '0002-index.sql': `${outsideMarker}
-- Why: so.
drop index concurrently if exists one_id;
create unique index concurrently one_id on one (id);
`,
    };
    await expect(migrate(cell, files)).rejects.toThrow('could not create unique index');
    await sql(cell.db)`delete from one where ctid in (select min(ctid) from one)`;
    expect(await migrate(cell, files)).toEqual(['0002-index.sql']);
    const rows = await sql(cell.db)`select indisvalid from pg_index where indrelid = 'one'::regclass`;
    expect(rows).toEqual([{ indisvalid: true }]);
  });

  it('of a newer program is accepted unless it takes away what this one uses', async () => {
    const cell = await emptyCell();
    const older = { '0001-one.sql': 'create table one (id int);' };
    const next = { ...older, '0002-two.sql': '', '0003-contract-since-0001.sql': 'drop table one;' };
    await migrate(cell, next);
    expect(await migrate(cell, older)).toEqual([]);
    await migrate(cell, { ...next, '0004-contract-since-0002.sql': '' });
    await expect(migrate(cell, older)).rejects.toThrow(
      'The schema of this database is too new for this version of Signalbox: it has 0004-contract-since-0002.sql.',
    );
    expect(await migrate(cell, { ...next, '0004-contract-since-0002.sql': '' })).toEqual([]);
  });

  it('is applied once by several that begin at the same time', async () => {
    const cell = await emptyCell();
    const files = { '0001-one.sql': 'create table one (id int); select pg_sleep(0.3);' };
    const outcomes = await Promise.all([migrate(cell, files), migrate(cell, files), migrate(cell, files)]);
    expect(outcomes.flat()).toEqual(['0001-one.sql']);
  });
});

// A release must run beside the schema of the next one. So what is taken away has not been used since the release before:
// expand now, contract a release later. Files up to this one were written before the rule.
const ruledSince = '0024';
/** What breaks statements of the release before, or locks a table while it is read from end to end. */
const refused: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'an index of a table that is not new, in a transaction: create it concurrently',
    /\bcreate (unique )?index (?!concurrently)/i,
  ],
  [
    'an index that is created concurrently and not dropped before',
    /^(?![^]*drop index concurrently if exists)[^]*create (unique )?index concurrently/i,
  ],
  ['a column that is removed or renamed', /\b(drop|rename) column|\brename to\b/i],
  ['a table that is removed', /\bdrop table\b/i],
  ['another type of a column', /\balter column \w+ (set data )?type\b/i],
  ['a column that becomes mandatory', /\bset not null\b/i],
  ['a mandatory column without a default', /\badd column \w+ (?![^,;]*\bdefault\b)[^,;]*\bnot null\b/i],
  [
    'a rewrite of a whole table by a changing default',
    /\badd column [^,;]*\bdefault (gen_random_uuid|clock_timestamp|random)\b/i,
  ],
];

/**
 * Without the new names of a table, of its columns and of its indexes, if a view in the same file gives the former names to the
 * release before.
 */
function withoutViewedNames(code: string): string {
  const renamed = [...code.matchAll(/\balter table (\w+) rename to (\w+);/gi)].flatMap(([, former, name]) => {
    const view = new RegExp(`\\bcreate view ${former!} as\\s+select ([^;]*?)\\s+from ${name!};`, 'i').exec(
      code,
    );
    return view === null ? [] : [{ former: former!, name: name!, columns: view[1]!.split(/,\s*/) }];
  });
  return code
    .split(';')
    .filter((part) => {
      const [, former] = /\balter table (\w+) rename to \w+$/i.exec(part) ?? [];
      if (former !== undefined) return renamed.every((table) => table.former !== former);
      const [, table, from, to] = /\balter table (\w+) rename column (\w+) to (\w+)$/i.exec(part) ?? [];
      if (table !== undefined)
        return !renamed.some(({ name, columns }) => name === table && columns.includes(`${to} as ${from}`));
      return !(
        renamed.length > 0 && /\balter (index|sequence) \w+ rename to \w+$|execute format\(/i.test(part)
      );
    })
    .join(';');
}

function refusedIn(text: string): readonly string[] {
  const code = withoutViewedNames(text.replaceAll(/--.*$/gm, ''));
  const own = [...code.matchAll(/\bcreate table (\w+)/gi)].map(([, name]) => name!);
  // What a file does to the tables that it creates itself disturbs no other process.
  const others = code
    .split(';')
    .filter((part) => !own.some((name) => new RegExp(`\\b(on|table) ${name}\\b`, 'i').test(part)))
    .join(';');
  return refused.filter(([, pattern]) => pattern.test(others)).map(([what]) => what);
}

describe('the files of migrations', () => {
  it('only add, since the release before runs on their schema', async () => {
    const found: string[] = [];
    for (const name of await listMigrations()) {
      if (name < ruledSince) continue;
      const text = readFileSync(`migration/${name}`, 'utf8');
      if (neededBy(name) !== null) continue;
      found.push(...refusedIn(text).map((what) => `${name}: ${what}`));
      const { statements, isTransaction } = parseMigration(name, text);
      if (!isTransaction)
        for (const part of statements)
          if (
            !/^(--.*\n)*(drop index concurrently if exists|create (unique )?index concurrently) /i.test(part)
          )
            found.push(`${name}: cannot be repeated outside a transaction: ${part}`);
    }
    expect(found).toEqual([]);
  });

  it.each([
    ['create index a on entry (id);', 'an index of a table'],
    ['create unique index concurrently a on entry (id);', 'an index that is created concurrently and not'],
    ['alter table entry drop column id;', 'a column that is removed'],
    ['alter table entry rename to entries;', 'a column that is removed'],
    [
      'alter table entry rename to entries; create view entries_before as select id from entries;',
      'a column that is removed',
    ],
    [
      'alter table entry rename to entries; alter table entries rename column a to b; create view entry as select id from entries;',
      'a column that is removed',
    ],
    ['drop table entry;', 'a table that is removed'],
    ['alter table entry alter column id type bigint;', 'another type'],
    ['alter table entry alter column reason set not null;', 'a column that becomes mandatory'],
    ['alter table entry add column a text default null, add column b text not null;', 'a mandatory column'],
    ['alter table entry add column a uuid default gen_random_uuid();', 'a rewrite'],
  ])('are refused with: %s', (text, what) => {
    expect(refusedIn(text)).toEqual([expect.stringContaining(what)]);
  });

  it('may rename a table and its columns if a view keeps the former names', () => {
    expect(
      refusedIn(`alter table entry rename to entries; alter table entries rename column a to b;
        alter index entry_a rename to entries_a; create view entry as select id, b as a from entries;`),
    ).toEqual([]);
  });

  it('may do anything to a table that they create, and add columns with a default', () => {
    expect(
      refusedIn(`create table new (id int); create index new_id on new (id);
        alter table entry add column a boolean not null default false, add column b text;`),
    ).toEqual([]);
  });
});

describe('partitions', () => {
  const names = async (cell: Awaited<ReturnType<typeof emptyCell>>) => {
    const rows = await sql<{ name: string }>(cell.db)`
      select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
      join pg_class parent on parent.oid = inhparent where parent.relname = 'queue_fact' order by 1`;
    return rows.map((row) => row.name);
  };

  it('are made ahead, once, over the turn of a year', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    const now = new Date('2026-11-30T23:59:00Z');
    await ensurePartitions(cell.db, now);
    await ensurePartitions(cell.db, now);
    expect(await names(cell)).toEqual([
      'queue_fact_2026_10',
      'queue_fact_2026_11',
      'queue_fact_2026_12',
      'queue_fact_2027_01',
      'queue_fact_2027_02',
    ]);
  });

  it('are dropped whole when they are older than what is kept', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    await ensurePartitions(cell.db, new Date('2026-03-15T00:00:00Z'));
    await ensurePartitions(cell.db, new Date('2026-07-15T00:00:00Z'));
    const dropped = await dropOldPartitions(cell.db, new Date('2026-07-15T00:00:00Z'), 2);
    expect(dropped.filter((name) => name.startsWith('queue_fact_'))).toEqual([
      'queue_fact_2026_02',
      'queue_fact_2026_03',
      'queue_fact_2026_04',
    ]);
    expect(await names(cell)).toContain('queue_fact_2026_05');
  });

  /** Others read and write the table, at once. */
  const useFact = async (cell: Awaited<ReturnType<typeof emptyCell>>, at: string) => {
    const begun = performance.now();
    await cell.db.onConnection(async (connection) => {
      await sql(connection)`set statement_timeout = '1500ms'`;
      await sql(connection)`insert into queue_fact (queue_id, recorded_at, kind, actor)
        values (gen_random_uuid(), ${at}, 'created', 'ada')`;
      await sql(connection)`select count(*) from queue_fact`;
      await sql(connection)`reset statement_timeout`;
    });
    return performance.now() - begun;
  };

  it('are made and dropped behind a long reader, and no other transaction waits', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    await ensurePartitions(cell.db, new Date('2026-03-15T00:00:00Z'));
    // As pg_dump does: one transaction that has read every table and does not end.
    const backup = await cell.pool.connect();
    await backup.query('begin isolation level repeatable read');
    await backup.query('select count(*) from queue_fact');

    const later = new Date('2026-07-15T00:00:00Z');
    await ensurePartitions(cell.db, later);
    expect(await names(cell)).toContain('queue_fact_2026_10');
    expect((await backup.query('select count(*) from queue_fact')).rows).toEqual([{ count: 0 }]);

    const dropping = dropOldPartitions(cell.db, later, 2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await useFact(cell, '2026-07-15T00:00:00Z');
    // The months of the table that is being read stay for now; the first of them is a partition no more.
    expect((await dropping).filter((name) => name.startsWith('queue_fact_'))).toEqual([]);
    await useFact(cell, '2026-07-16T00:00:00Z');
    expect(
      (await dropOldPartitions(cell.db, later, 2)).filter((name) => name.startsWith('queue_fact_')),
    ).toEqual([]);

    await backup.query('commit');
    backup.release();
    expect(
      (await dropOldPartitions(cell.db, later, 2)).filter((name) => name.startsWith('queue_fact_')),
    ).toEqual(['queue_fact_2026_02', 'queue_fact_2026_03', 'queue_fact_2026_04']);
    expect((await names(cell))[0]).toBe('queue_fact_2026_05');
    const rows = await sql<{ seq: number }>(cell.db)`select seq from queue_fact order by seq`;
    expect(rows).toEqual([{ seq: 1 }, { seq: 2 }]);
  });

  it('have the columns, defaults, storage and indexes of their table', async () => {
    const cell = await emptyCell();
    await migrateTables(cell);
    await ensurePartitions(cell.db, new Date('2026-03-15T00:00:00Z'));
    const rows = await sql<{ parent: string; child: string }>(cell.db)`
      with described as (
        select c.oid, c.relname, array(select (a.attname, a.atttypid, a.attnotnull, a.attstorage,
            case when a.attidentity = '' then pg_get_expr(d.adbin, d.adrelid) end)::text
          from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
          where a.attrelid = c.oid and a.attnum > 0 order by a.attname) as columns,
          (select count(*) from pg_index i where i.indrelid = c.oid) as indexes,
          (select count(*) from pg_constraint k where k.conrelid = c.oid) as constraints
        from pg_class c)
      select p.relname as parent, c.relname as child from pg_inherits i
      join described p on p.oid = i.inhparent join described c on c.oid = i.inhrelid
      where (p.columns, p.indexes, p.constraints) is distinct from (c.columns, c.indexes, c.constraints)
        and c.columns <> '{}'`;
    expect(rows).toEqual([]);
  });
});

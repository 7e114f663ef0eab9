// Processes that differ work beside each other: a release on the schema of the next one, since `signalbox migrate` runs
// while its processes do, and machines whose clocks are wrong.
import { readFileSync } from 'node:fs';
import { runMigrations } from 'graphile-worker';
import { expect, it, onTestFinished } from 'vitest';
import type { Cell } from '#db/cell.ts';
import { followDatabaseClock } from '#db/database-clock.ts';
import { migrateTables } from '#db/migrate.ts';
import { openTestCell } from '../support/database.ts';
import { main, openWorldForTest, pr, type World } from '../support/harness.ts';
import { silentLog } from '../support/silent-log.ts';
import { identifier, sql } from '../support/sql.ts';

/** A pull request is submitted, tested and landed, and everything about it is read. */
async function landOne(world: World, number: number): Promise<void> {
  const client = await world.client();
  await client.call('submitPullRequest', pr(number));
  await world.runJobs();
  await world.makeJobsDue();
  await world.runJobs();
  expect(await client.call('getSubmittedPullRequest', pr(number))).toMatchObject({ state: 'merged' });
  await client.call('getQueue', main);
  await client.call('getLanding', { ...main, pr: { number } });
  await client.call('listQueues', {});
  await client.call('getMergeQueueTestingDetails', main);
  await client.call('listPullRequests', main);
  await client.call('getQueueGraph', main);
  await client.call('getMergeQueueMetrics', {});
}

it('a new column in every table is no trouble for a process that runs', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: main.repo, ci: { mode: 'auto', durationMs: 0 } });
  await client.call('createQueue', main);
  await world.runJobs();
  // Twice: PostgreSQL keeps the plans of statements that were run before.
  await landOne(world, 1);
  await landOne(world, 2);
  const rows = await sql<{ name: string }>(world.cell.db)`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition and relname not like 'kysely%'`;
  expect(rows.length).toBeGreaterThan(40);
  for (const { name } of rows)
    await sql(
      world.cell.db,
    )`alter table ${identifier(name)} add column of_the_next_release boolean not null default false`;
  await landOne(world, 3);
  expect(world.jobErrors).toEqual([]);
});

const statementsBefore = readFileSync('test/fixture/statements-before.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as string);

/** The months of a year in every table that has months, under the names of the release before. */
async function createMonths(db: Cell['db']): Promise<void> {
  const rows = await sql<{ name: string }>(db)`
    select partrelid::regclass::text as name from pg_partitioned_table`;
  const year = new Date().getUTCFullYear();
  for (const { name } of rows)
    for (const month of ['01', '02'])
      await db.run(
        `create table ${name}_${year}_${month} partition of ${name}
          for values from ('${year}-${month}-01') to ('${month === '01' ? year : year + 1}-02-01')`,
        [],
      );
}

/** The newest migration that the release before knows. */
const newestBefore = '0015-webhook.sql';

it('a connection of the release before keeps its statements while the schema becomes that of this one', async () => {
  const { cell, close } = await openTestCell('main', 'template0');
  onTestFinished(close);
  await migrateTables(cell, newestBefore);
  await runMigrations({ pgPool: cell.pool });
  await createMonths(cell.db);
  const client = await cell.pool.connect();
  for (const [index, text] of statementsBefore.entries())
    await client.query(`prepare before_${index} as ${text}`);
  const { rows } = await client.query<{ name: string; count: number }>(
    'select name, cardinality(parameter_types) as count from pg_prepared_statements order by name',
  );
  /** Each with nothing as its arguments; whatever it writes is rolled back. Answers with what was refused, by name. */
  const executeAll = async () => {
    const refused = new Map<string, string>();
    for (const { name, count } of rows) {
      const values = Array.from({ length: count }, () => 'null').join(', ');
      await client.query('begin');
      await client
        .query(`execute ${name}${count === 0 ? '' : ` (${values})`}`)
        // A table may have another name by now.
        .catch((error: unknown) =>
          refused.set(name, (error as Error).message.replaceAll(/relation "\w+"/g, 'relation')),
        );
      await client.query('rollback');
    }
    return refused;
  };
  const refusedBefore = await executeAll();
  expect(rows.length - refusedBefore.size).toBeGreaterThan(200);
  expect((await migrateTables(cell)).length).toBeGreaterThan(8);
  expect(await executeAll()).toEqual(refusedBefore);
  client.release();
  // The months have the names by which the daily job finds them.
  const months = await sql<{ parent: string; name: string }>(cell.db)`
    select inhparent::regclass::text as parent, inhrelid::regclass::text as name from pg_inherits
    join pg_class c on c.oid = inhrelid and c.relkind = 'r'`;
  expect(months.length).toBeGreaterThan(10);
  expect(months.filter(({ parent, name }) => name.replace(/_\d{4}_\d{2}$/, '') !== parent)).toEqual([]);
});

it('the release before writes entries and attempts on the schema of this one', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: main.repo, ci: { mode: 'auto', durationMs: 0 } });
  await client.call('createQueue', main);
  await world.runJobs();
  await landOne(world, 1);
  const save = statementsBefore.find((text) => /^with\s+saved as/.test(text))!;
  const rows = await sql<{ entry: object; attempt: object }>(world.cell.db)`
    select to_jsonb(e) - array['pr_fork', 'head_review', 'commit_identity'] || '{"pr_number": 2}' as entry,
      to_jsonb(t) || '{"pr_number": 2}' as attempt
    from entry e join trip t on t.queue_id = e.queue_id and t.pr_number = e.pr_number`;
  const [row] = rows;
  await world.cell.pool.query(save, [JSON.stringify([row!.entry]), JSON.stringify([row!.attempt]), '[]']);
  await world.cell.pool.query(save, [JSON.stringify([row!.entry]), '[]', '[]']);
  expect(await client.call('getSubmittedPullRequest', pr(2))).toMatchObject({ state: 'merged' });
});

const seconds = (count: number) => count * 1_000;

it('a worker whose clock is behind looks at its queue once a second at most, and not without a pause', async () => {
  let looks = 0;
  const world = await openWorldForTest({
    wrapHosts: (hostFor) => (cell, name) => {
      looks++;
      return hostFor(cell, name);
    },
  });
  world.clock.advance(-seconds(8));
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: main.repo, ci: { mode: 'manual', durationMs: 0 } });
  await client.call('createQueue', {
    ...main,
    batch: true,
    batchingMinSize: 8,
    batchingMaxWaitTimeMinutes: 1,
  });
  await world.runJobs();
  await client.call('submitPullRequest', pr(1));
  await world.runJobs();
  // By the database it is time to look again, by the worker it is not for some seconds.
  await sql(world.cell.db)`update queue_entry set submitted_at = now() - interval '63 seconds',
    plan = jsonb_set(jsonb_set(plan, '{queuedAt}', to_jsonb((extract(epoch from now()) * 1000 - 63000)::bigint)),
      '{place,since}', to_jsonb((extract(epoch from now()) * 1000 - 63000)::bigint)) where plan is not null`;
  await sql(world.cell.db)`select graphile_worker.reschedule_jobs(array(
    select id from graphile_worker.jobs where key like 'wake:%'), run_at := now())`;
  looks = 0;
  await world.runJobs();
  expect(looks).toBeGreaterThan(0);
  expect(looks).toBeLessThan(10);
  const rows = await sql<{ seconds: number }>(world.cell.db)`
    select extract(epoch from run_at - now())::float8 as seconds from graphile_worker.jobs
    where key like 'wake:%'`;
  expect(rows).toHaveLength(1);
  // What is left of the minute by the worker's clock, on the clock of the database.
  expect(rows[0]!.seconds).toBeGreaterThan(0.5);
  expect(rows[0]!.seconds).toBeLessThan(8);
});

it('whatever is put off is put off by the clock of the database', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  await world.runJobs();
  // As on a machine that is an hour behind.
  const rightNow = Date.now;
  onTestFinished(() => void (Date.now = rightNow));
  Date.now = () => rightNow() - seconds(3_600);
  await client.call('submitPullRequest', pr(1));
  await world.runJobs();
  Date.now = rightNow;
  const rows = await sql<{ key: string; seconds: number }>(world.cell.db)`
    select key, extract(epoch from run_at - now())::float8 as seconds from graphile_worker.jobs
    where key ~ '^(sweep-queue|post-status)'`;
  expect(rows.map(({ key }) => key.split(':')[0])).toContain('sweep-queue');
  for (const row of rows) expect(row.seconds).toBeGreaterThan(-10);
});

it('the clock that a process follows is that of the database, however wrong its machine is', async () => {
  const { cell } = await openWorldForTest();
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  for (const wrongBy of [-seconds(60), 0, seconds(3_600)]) {
    const clock = followDatabaseClock(cell, log, { local: () => Date.now() + wrongBy });
    onTestFinished(clock.close);
    await clock.measured;
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(1_000);
  }
  expect(warnings).toMatchObject([
    { differenceMs: expect.closeTo(seconds(60), -3) as number },
    { cell: 'main' },
  ]);
});

// Everything that grows is removed after a time.
import { readFile } from 'node:fs/promises';
import { runMigrations } from 'graphile-worker';
import { expect, it, onTestFinished } from 'vitest';
import type { Cell } from '#db/cell.ts';
import { migrateTables } from '#db/migrate.ts';
import { listMigrations } from '#db/migration-file.ts';
import { retention } from '#db/retention.ts';
import { maintainHistory } from '#job/worker/maintain-history.ts';
import { openTestCell } from '../support/database.ts';
import { identifier, sql } from '../support/sql.ts';

/** A database with rows in every table, all of them from the first days of 2026. */
async function sampleCell(): Promise<Cell> {
  const { cell, close } = await openTestCell('main', 'template0');
  onTestFinished(close);
  for (const file of await listMigrations()) {
    await migrateTables(cell, file);
    const sample = new URL(`../../migration/${file.replace('.sql', '.sample.sql')}`, import.meta.url);
    await cell.db.run(await readFile(sample, 'utf8'), []);
  }
  await runMigrations({ pgPool: cell.pool });
  const rows = await sql<{ name: string; parent: string }>(cell.db)`
    select c.relname as name, inhparent::regclass::text as parent
    from pg_class c join pg_inherits on inhrelid = c.oid where c.relkind = 'r' and c.relname like '%\\_sample'`;
  for (const { name, parent } of rows)
    await sql(cell.db)`alter table ${identifier(name)} rename to ${identifier(`${parent}_2026_01`)}`;
  await cell.db.run(
    `
    update audit set at = '2026-01-05';
    update test_shape set last_used_at = '2025-01-05'`,
    [],
  );
  return cell;
}

async function filledTables(cell: Cell): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const name of Object.keys(retention)) {
    const rows = await sql<{ n: number }>(cell.db)`select count(*)::int as n from ${identifier(name)}`;
    if (rows[0]!.n > 0) filled.push(name);
  }
  return filled.toSorted();
}

const maintain = (cell: Cell, at: string, kept = {}) =>
  maintainHistory({ cell, clock: { now: () => new Date(at) }, historyMonths: 24, ...kept });

/** The statements that write these tables remove what is old in them, within minutes or a day. */
const endsItself = new Set(['content_use', 'repository_mirror', 'worker_heartbeat']);
const growing = Object.entries(retention).flatMap(([name, row]) =>
  'kept' in row && !endsItself.has(name) ? [name] : [],
);

it('what is over is removed from every table that grows', async () => {
  const cell = await sampleCell();
  await cell.db.run(
    `
    update queue_entry set concluded_at = '2026-01-05', plan = null, landing = false;
    update test_run set created_at = '2026-01-04', status = 'succeeded', phase = 'closed';
    update landing set concluded_at = '2026-01-05', observed = true, status = 'landed';
    update status_comment set posted_state_at = '2026-01-05', written_at = '2026-01-05', label_used_at = null;
    update sandbox_pull_request set state = 'merged', updated_at = '2026-01-05';
    update sandbox_ci set state = 'done', created_at = '2026-01-05';
    update sandbox_check set updated_at = '2026-01-05';
    update sandbox_comment set created_at = '2026-01-05', updated_at = '2026-01-05';
    update sandbox_issue set updated_at = '2026-01-05', is_open = false;
    update test_case set created_at = '2026-01-05', ordinal = 0, manual_status = null,
      quarantine_setting = 'AUTO_QUARANTINE', ticket_id = null where id in (select min(id::text)::uuid from test_case);
    delete from test_case where ordinal is distinct from 0;
    update test_numbering set next_ordinal = 1;
    update test_history set active_monitors = '{}';
    update session set created_at = '2026-01-05', expires_at = '2026-01-05';
    update job_strike set struck_at = '2026-01-05';
  `,
    [],
  );
  const filled = await filledTables(cell);
  expect(growing.filter((name) => !filled.includes(name))).toEqual([]);
  await maintain(cell, '2036-02-15T00:00:00Z');
  expect((await filledTables(cell)).filter((name) => growing.includes(name))).toEqual([]);
});

it('a landing keeps its test run for as long as its attestation', async () => {
  const cell = await sampleCell();
  await cell.db.run(
    `
    update queue_entry set concluded_at = '2026-01-05', plan = null, landing = false;
    update test_run set created_at = '2026-01-04', status = 'succeeded', phase = 'closed';
    update landing l set concluded_at = '2026-01-05', observed = true, status = 'landed',
      test_run_id = (select min(t.id::text)::uuid from test_run t where t.queue_id = l.queue_id);
    insert into test_run (queue_id, id, number, test_branch, created_at, status, phase)
      select queue_id, gen_random_uuid(), 999, 'test', '2026-01-04', 'failed', 'closed' from test_run limit 1;
  `,
    [],
  );
  const count = async () =>
    (
      await sql<{ entries: number; runs: number; landings: number; audits: number }>(cell.db)`select
        (select count(*)::int from queue_entry) as entries, (select count(*)::int from test_run) as runs,
        (select count(*)::int from landing) as landings, (select count(*)::int from audit) as audits`
    )[0]!;
  const before = await count();
  await maintain(cell, '2027-12-15T00:00:00Z');
  expect(await count()).toEqual(before);
  await maintain(cell, '2028-03-15T00:00:00Z');
  const rows = await sql<{ n: number }>(cell.db)`select count(distinct test_run_id)::int as n from landing
    where test_run_id is not null`;
  expect(rows[0]!.n).toBeGreaterThan(0);
  expect(before.runs).toBeGreaterThan(rows[0]!.n);
  expect(await count()).toEqual({ ...before, entries: 0, runs: rows[0]!.n });
  await maintain(cell, '2028-03-15T00:00:00Z', { recordMonths: 24 });
  expect(await count()).toEqual({ entries: 0, runs: 0, landings: 0, audits: 0 });
});

it('a pull request in a queue keeps everything, however old', async () => {
  const cell = await sampleCell();
  await cell.db.run(
    `
    update queue_entry set concluded_at = null;
    update landing set status = 'intended', observed = false, concluded_at = null;
    update test_run set created_at = '2026-01-04', status = 'in_progress';
  `,
    [],
  );
  const kept = [
    'queue_entry',
    'test_run',
    'test_run_member',
    'landing',
    'landing_pull_request',
    'status_comment',
  ];
  const count = async () =>
    Promise.all(
      kept.map(
        async (name) =>
          (await sql<{ n: number }>(cell.db)`select count(*)::int as n from ${identifier(name)}`)[0]!.n,
      ),
    );
  await sql(cell.db)`delete from status_comment l where not exists (
    select from queue_entry e where e.queue_id = l.queue_id and e.pr_number = l.pr_number)`;
  const before = await count();
  await maintain(cell, '2040-01-15T00:00:00Z');
  expect(await count()).toEqual(before);
});

it('targets are kept of what is in a queue, of heads that were tested, and for days of heads that were pushed over', async () => {
  const cell = await sampleCell();
  const rows = await sql<{ queue: string; repository: string }>(cell.db)`
    select id as queue, repository_id as repository from queue order by id limit 1`;
  const { queue, repository } = rows[0]!;
  await sql(cell.db)`delete from impacted_targets`;
  const upload = (pr: number, head: string, at: string) =>
    sql(cell.db)`insert into impacted_targets (repository_id, pr_number, head_sha, uploaded_at)
      values (${repository}, ${pr}, ${head}, ${at})`;
  await sql(
    cell.db,
  )`insert into queue_entry (queue_id, pr_number, id, seniority, pr_title, pr_sha, pr_base_branch, pr_author, pr_url,
      pr_mergeability) values (${queue}, 901, gen_random_uuid(), 901, '', 'a', 'main', 'ada', '', 'mergeable')`;
  await sql(
    cell.db,
  )`insert into attempt (queue_id, concluded_at, pr_number, attempt, conclusion, submitted_at, head_sha)
    values (${queue}, '2026-01-04', 902, 1, 'merged', '2026-01-04', 'tested')`;
  await upload(901, 'in a queue', '2026-01-03');
  await upload(902, 'pushed over', '2026-01-03');
  await upload(902, 'tested', '2026-01-04');
  await upload(902, 'newest', '2026-01-05');
  const heads = async () =>
    (await sql<{ head: string }>(cell.db)`select head_sha as head from impacted_targets order by 1`).map(
      ({ head }) => head,
    );
  await maintain(cell, '2026-01-10T00:00:00Z');
  expect(await heads()).toEqual(['in a queue', 'newest', 'pushed over', 'tested']);
  await maintain(cell, '2026-01-25T00:00:00Z');
  expect(await heads()).toEqual(['in a queue', 'newest', 'tested']);
  await maintain(cell, '2026-05-25T00:00:00Z');
  expect(await heads()).toEqual(['in a queue']);
});

it('a job that failed for good is removed after a month', async () => {
  const cell = await sampleCell();
  await sql(cell.db)`select graphile_worker.permanently_fail_jobs(array(
    select (graphile_worker.add_job('land', '{}'::json)).id), 'no')`;
  await sql(cell.db)`select graphile_worker.add_job('post-status', '{}'::json)`;
  const jobs = async () =>
    (
      await sql<{
        task: string;
      }>(cell.db)`select task_identifier as task from graphile_worker.jobs order by 1`
    ).map(({ task }) => task);
  await maintain(cell, new Date(Date.now() + 29 * 86_400_000).toISOString());
  expect(await jobs()).toEqual(['land', 'post-status']);
  await maintain(cell, new Date(Date.now() + 31 * 86_400_000).toISOString());
  expect(await jobs()).toEqual(['post-status']);
});

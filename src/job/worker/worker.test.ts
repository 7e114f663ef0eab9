import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#base/clock.ts';
import type { Cell } from '#db/cell.ts';
import { formerTasks } from '#db/job/former-task.ts';
import { openTestCell } from '../../../test/support/database.ts';
import { takeJobs } from '../../../test/support/taken-job.ts';
import { createMirrors } from '../mirrors.ts';
import { createTargetCache } from '#db/queue/target-cache.ts';
import { startWorker } from './worker.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import { sql } from '../../../test/support/sql.ts';

async function testCell(): Promise<Cell> {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  return cell;
}

const start = (cell: Cell, shutdownMs = 5_000) =>
  startWorker({
    cell,
    clock: systemClock,
    log: silentLog,
    hostFor: () => null,
    refreshHosts: () => Promise.resolve(),
    committer: null,
    mirrors: createMirrors('unused'),
    targets: createTargetCache(cell),
    blobs: { write: () => Promise.resolve(), read: () => Promise.resolve(null) },
    sweepMs: 30_000,
    historyMonths: 24,
    commandNames: ['signalbox'],
    publicUrl: 'http://localhost',
    isPublicUrlGiven: true,
    concurrency: 2,
    shutdownMs,
  });

/** The URL of a proxy to the database that drops the first answer with the text in it, and its connection. */
async function losingAnswer(url: string, text: string): Promise<string> {
  let isLost = false;
  const server = createServer((client) => {
    const { port, hostname } = new URL(url);
    const database = connect(Number(port), hostname);
    const cut = () => {
      client.destroy();
      database.destroy();
    };
    for (const socket of [client, database]) socket.on('error', cut).on('close', cut);
    client.on('data', (chunk) => database.write(chunk));
    database.on('data', (chunk) => {
      if (isLost || !chunk.includes(text)) return void client.write(chunk);
      isLost = true;
      cut();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const lossy = new URL(url);
  lossy.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return lossy.href;
}

const jobs = async (cell: Cell, task = 'reconcile-queue') =>
  await sql<{
    locked_by: string | null;
  }>(cell.db)`select locked_by from graphile_worker.jobs where task_identifier = ${task}`;

describe('a worker', () => {
  it('is handed the jobs of one that died, within seconds', async () => {
    const cell = await testCell();
    const queueId = '01940000-0000-7000-8000-0000000000aa';
    await sql(
      cell.db,
    )`select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', ${queueId}::text))`;
    // A killed worker: its job is locked, its heartbeat has stopped.
    const { workerId } = await takeJobs(cell, ['reconcile-queue']);
    await sql(cell.db)`insert into worker_heartbeat values (${workerId}, now() - interval '1 minute')`;
    const worker = await start(cell);
    await expect.poll(() => jobs(cell), { timeout: 15_000 }).toEqual([]);
    await worker.stop();
    expect(await sql(cell.db)`select * from worker_heartbeat`).toEqual([]);
  });

  it('takes up a job that is locked for it without its knowing', async () => {
    const cell = await testCell();
    const queueId = '01940000-0000-7000-8000-0000000000ab';
    const worker = await start({ ...cell, url: await losingAnswer(cell.url, queueId) });
    const [own] = await sql<{ worker_id: string }>(cell.db)`select worker_id from worker_heartbeat`;
    await sql(
      cell.db,
    )`select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', ${queueId}::text))`;
    await expect.poll(() => jobs(cell)).toEqual([{ locked_by: own!.worker_id }]);
    await expect.poll(() => jobs(cell), { timeout: 20_000 }).toEqual([]);
    await worker.stop();
    expect(await sql(cell.db)`select * from worker_heartbeat`).toEqual([]);
  });

  it('leaves the jobs of one that lives alone', async () => {
    const cell = await testCell();
    await sql(
      cell.db,
    )`select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', gen_random_uuid()))`;
    const { workerId } = await takeJobs(cell, ['reconcile-queue']);
    await sql(cell.db)`insert into worker_heartbeat values (${workerId}, now())`;
    const worker = await start(cell);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await jobs(cell)).toEqual([{ locked_by: workerId }]);
    await worker.stop();
  });

  it('runs the jobs that the release before adds under former names', async () => {
    const cell = await testCell();
    const id = '01940000-0000-7000-8000-000000000099';
    for (const task of Object.keys(formerTasks))
      await sql(
        cell.db,
      )`select graphile_worker.add_job(${task}, json_build_object('queueId', ${id}::text, 'repositoryId', ${id}::text))`;
    const worker = await start(cell);
    // A job about a repository that does not exist is begun, too.
    const notBegun = () =>
      sql(cell.db)`select task_identifier from graphile_worker.jobs
        where attempts = 0 and task_identifier = any (${Object.keys(formerTasks)})`;
    await expect.poll(notBegun, { timeout: 10_000 }).toEqual([]);
    await worker.stop();
  });

  it('hands a job back that does not end in time', async () => {
    const cell = await testCell();
    const rows = await sql<{ id: string }>(cell.db)`insert into organization (id, slug, name)
      values (gen_random_uuid(), 'acme', 'Acme') returning id`;
    const queue = await sql<{ id: string }>(cell.db)`with r as (
        insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key)
        values (gen_random_uuid(), ${rows[0]!.id}, 'h', 'o', 'n', 'h', 'o', 'n') returning id)
      insert into queue (id, repository_id, branch, settings)
      select gen_random_uuid(), id, 'main', '{}' from r returning id`;
    const holder = await cell.pool.connect();
    await holder.query('begin; lock table queue_entry in access exclusive mode');
    await sql(
      cell.db,
    )`select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', ${queue[0]!.id}::text))`;
    const worker = await start(cell, 500);
    await expect.poll(async () => (await jobs(cell))[0]?.locked_by, { timeout: 10_000 }).toMatch(/./);
    await worker.stop();
    expect(await jobs(cell)).toEqual([{ locked_by: null }]);
    await holder.query('rollback');
    holder.release();
    // The job itself still completes, because this process does not exit.
    await expect.poll(() => jobs(cell), { timeout: 10_000 }).toEqual([]);
    // The job enqueued a poll of the branch; no worker is left to take it.
    expect(await jobs(cell, 'sweep-queue')).toEqual([{ locked_by: null }]);
  });
});

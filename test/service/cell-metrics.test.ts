// What an operator alarms on: the figures of cells at /metrics, and of a host that is away for whoever owns the queue.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { beat } from '#db/job/heartbeat-store.ts';
import { main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';
import { takeJobs } from '../support/taken-job.ts';
import { loopback, secretKey } from '../webhook/world.ts';

const twoCells = { cellNames: ['north', 'south'] };

async function scrape({ server }: World): Promise<string> {
  const { statusCode, body } = await server.inject({ method: 'GET', url: '/metrics' });
  expect(statusCode).toBe(200);
  return body;
}

/** The value of a series, by its name and labels as they are written. */
const valueIn = (text: string, series: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length),
  );

/** The cell's own figures, without those of Node.js and of requests. */
const ofCells = (text: string) => text.slice(text.indexOf('# HELP signalbox_cell_up'));

describe('/metrics', () => {
  it('counts the workers of each cell that gave a sign of life just now', async () => {
    const world = await openWorldForTest(twoCells);
    const [north, south] = world.cells;
    await beat(north!.db, 'first');
    await beat(north!.db, 'second');
    await beat(south!.db, 'dead');
    await south!.pool.query(`update worker_heartbeat set beat_at = now() - interval '16 seconds'`);
    const text = await scrape(world);
    expect(valueIn(text, 'signalbox_workers_alive{cell="north"}')).toBe(2);
    expect(valueIn(text, 'signalbox_workers_alive{cell="south"}')).toBe(0);
  });

  it('tells how long jobs have been due and how many failed, by their kind', async () => {
    const world = await openWorldForTest();
    const { pool } = world.cell;
    const add = (task: string, runAt: string) =>
      pool.query(
        `select graphile_worker.add_job($1, '{}', run_at := now() + $2::interval, job_key := $1 || $2)`,
        [task, runAt],
      );
    await add('land', '-90 seconds');
    await add('land', '-10 seconds');
    await add('land', '1 hour');
    await add('sweep-queue', '1 hour');
    await add('post-status', '-1 hour');
    await add('probe-entries', '-1 hour');
    // As the release before calls it.
    await add('obey-label', '-20 seconds');
    const fail = (task: string) =>
      pool.query(
        `select graphile_worker.permanently_fail_jobs(array(
           select id from graphile_worker.jobs where task_identifier = $1), 'no')`,
        [task],
      );
    // One of the two is replaced: it does not count.
    await fail('post-status');
    await add('post-status', '-1 hour');
    await fail('post-status');
    await fail('probe-entries');
    await pool.query(`select graphile_worker.reschedule_jobs(array(
      select id from graphile_worker.jobs where task_identifier = 'probe-entries'), attempts := 1)`);
    const text = await scrape(world);
    const figures = ['jobs_due', 'job_lag_seconds', 'jobs_retrying', 'jobs_failed'];
    const counts = (task: string) =>
      figures.map((name) => valueIn(text, `signalbox_${name}{cell="main",task="${task}"}`));
    expect(Math.floor(counts('land')[1]! / 10)).toBe(9);
    expect(counts('land').with(1, 0)).toEqual([2, 0, 0, 0]);
    expect(counts('sweep-queue')).toEqual([0, 0, 0, 0]);
    expect(counts('handle-label')[0]).toBe(1);
    expect(counts('post-status')).toEqual([0, 0, 0, 1]);
    expect(counts('probe-entries').with(1, 0)).toEqual([1, 0, 1, 0]);
  });

  it('does not count what a worker has taken as waiting', async () => {
    const world = await openWorldForTest();
    const { pool } = world.cell;
    await pool.query(`select graphile_worker.add_job('land', '{}', run_at := now() - interval '1 hour')`);
    await takeJobs(world.cell, ['land']);
    expect(valueIn(await scrape(world), 'signalbox_job_lag_seconds{cell="main",task="land"}')).toBe(0);
  });

  it('tells of a host that does not answer until it does, and its owner of the queue that waits', async () => {
    const world = await openWorldForTest();
    const team = await world.client();
    await team.call('createQueue', main);
    await team.call('sandboxConfigureRepository', { repo: widgets, faults: { answers: '5xx' } });
    await world.makeJobsDue();
    await world.cell.pool
      .query(`select graphile_worker.add_job('sweep-queue', json_build_object('queueId', id))
      from queue`);
    await world.runJobs();
    world.clock.advance(600_000);
    const stranger = await world.client('globex');
    await stranger.call('createQueue', main);
    expect(valueIn(await scrape(world), 'signalbox_queues_host_away{cell="main"}')).toBe(1);
    const series = 'signalbox_queue_host_away_seconds{repo="acme/widgets",branch="main",queue_type="main"}';
    const awayFor = async (client: typeof team) =>
      valueIn(await client.call('getMergeQueueMetrics', {}), series);
    expect(Math.floor((await awayFor(team)) / 60)).toBe(10);
    expect(await awayFor(stranger)).toBe(0);
    await team.call('sandboxConfigureRepository', { repo: widgets, faults: { answers: 'ok' } });
    await world.makeJobsDue();
    await world.runJobs();
    expect(await awayFor(team)).toBe(0);
  });

  it('counts endpoints by how they fare, and what waits to be sent to those that work', async () => {
    const world = await openWorldForTest({
      config: { secretKey, webhook: { allow: loopback, timeoutMs: 1_000 } },
    });
    const admin = await world.client();
    const made = async (name: string) =>
      (await admin.call('createWebhookEndpoint', { name, url: 'http://127.0.0.1:9/hook' })).endpoint.id;
    const [well, ill, off] = [await made('well'), await made('ill'), await made('off')];
    await admin.call('updateWebhookEndpoint', { endpointId: off, enabled: false });
    await admin.call('sendTestWebhook', { endpointId: well });
    await admin.call('sendTestWebhook', { endpointId: ill });
    const { pool } = world.cell;
    await pool.query(`update webhook_endpoint set failing_since = now() where id = $1`, [ill]);
    await pool.query(
      `update webhook_delivery set due_at = now() - case endpoint_id when $1 then interval '95 seconds' else interval '1 hour' end`,
      [well],
    );
    const text = await scrape(world);
    const endpoints = (state: string) =>
      valueIn(text, `signalbox_webhook_endpoints{cell="main",state="${state}"}`);
    expect(['active', 'failing', 'disabled'].map(endpoints)).toEqual([1, 1, 1]);
    expect(valueIn(text, 'signalbox_webhook_deliveries_due{cell="main"}')).toBe(2);
    const lag = valueIn(text, 'signalbox_webhook_delivery_lag_seconds{cell="main"}');
    expect(Math.floor(lag / 10)).toBe(9);
  });

  it('says of a cell that does not answer that it is away, and tells of the others as ever', async () => {
    const world = await openWorldForTest(twoCells);
    const [north, south] = world.cells;
    await beat(north!.db, 'worker');
    const blocker = await south!.pool.connect();
    await blocker.query('begin; lock table worker_heartbeat in access exclusive mode');
    const begunAt = performance.now();
    const text = await scrape(world);
    expect(performance.now() - begunAt).toBeLessThan(6_000);
    await blocker.query('rollback');
    blocker.release();
    expect(valueIn(text, 'signalbox_cell_up{cell="north"}')).toBe(1);
    expect(valueIn(text, 'signalbox_workers_alive{cell="north"}')).toBe(1);
    expect(valueIn(text, 'signalbox_cell_up{cell="south"}')).toBe(0);
    expect(valueIn(text, 'signalbox_workers_alive{cell="south"}')).toBeNaN();
  });

  it('asks a cell once for many scrapes', async () => {
    const world = await openWorldForTest();
    await scrape(world);
    await beat(world.cell.db, 'later');
    expect(valueIn(await scrape(world), 'signalbox_workers_alive{cell="main"}')).toBe(0);
  });

  it('names nobody, and promtool finds nothing wrong with it', async () => {
    const world = await openWorldForTest(twoCells);
    const team = await world.client();
    await team.call('createQueue', main);
    await team.call('submitPullRequest', pr(1));
    await world.runJobs();
    const text = ofCells(await scrape(world));
    expect(text).toContain('task="reconcile-queue"');
    expect(text).not.toMatch(/acme|widgets|sandbox\.example/);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
    expect(await team.call('getMergeQueueMetrics', {})).not.toMatch(/worker|task=|cell=/);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeWorkerUtils } from 'graphile-worker';
import { expect, it, onTestFinished } from 'vitest';
import { openTestCell } from '../../../test/support/database.ts';
import { listStrikes } from '#db/job/strike-store.ts';
import { createStrikes, jobIdOf } from './strikes.ts';
import { silentLog } from '../../../test/support/silent-log.ts';

async function openCellHere() {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  return cell;
}

/** A process with a watchdog that waits a second, which then does this. */
async function runWatched(url: string, what: string) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-watchdog-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const aliveFile = join(folder, 'alive');
  const text = `
    import { startWatchdog } from '#job/worker/watchdog.ts';
    const watchdog = startWatchdog([${JSON.stringify(url)}], ${JSON.stringify(aliveFile)}, 1_200);
    const end = watchdog.begin({ cell: 0, id: '7', task: 'ingest-upload' });
    watchdog.begin({ cell: 0, id: '8', task: 'land' })();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    ${what}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return { code, signal, errors, hasBeenAlive: existsSync(aliveFile) };
}

it('a process whose event loop is blocked is killed, and the job that was under way is recorded', async () => {
  const cell = await openCellHere();
  const { signal, errors, hasBeenAlive } = await runWatched(cell.url, 'for (;;);');
  expect([signal, hasBeenAlive]).toEqual(['SIGKILL', true]);
  expect(errors).toContain('event loop blocked');
  expect(await listStrikes(cell.db)).toEqual([{ jobId: '7', task: 'ingest-upload', strikes: 1 }]);
});

it('a process that waits or computes in turns is left alone', async () => {
  const cell = await openCellHere();
  const { code, errors } = await runWatched(
    cell.url,
    `for (let turn = 0; turn < 30; turn += 1) {
      for (const from = performance.now(); performance.now() - from < 100; );
      await new Promise((resolve) => setImmediate(resolve));
    }
    end(); await watchdog.stop(); process.exit(0);`,
  );
  expect([code, errors]).toEqual([0, '']);
});

it('a job that was there twice is set aside, and one that was there once runs when no other such job does', async () => {
  const cell = await openCellHere();
  const utils = await makeWorkerUtils({ pgPool: cell.pool });
  onTestFinished(() => utils.release());
  const id = jobIdOf(await utils.addJob('ingest-upload', {}));
  await cell.pool.query(
    `insert into job_strike (job_id, task, strikes) values ($1, 'ingest-upload', 2), (101, 'land', 1), (102, 'land', 1)`,
    [id],
  );
  const strikes = createStrikes(cell, utils, silentLog);
  await strikes.refresh();
  const { rows } = await cell.pool.query<{ attempts: number; max_attempts: number; last_error: string }>(
    'select attempts, max_attempts, last_error from graphile_worker.jobs where id = $1',
    [id],
  );
  expect(rows[0]).toMatchObject({ attempts: rows[0]!.max_attempts });
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    order.push(`${name} ends`);
  };
  await expect(strikes.run(id, work('blocked twice'))).rejects.toThrow('blocked the event loop twice');
  expect(order).toEqual([]);
  await Promise.all([
    strikes.run('101', work('a')),
    strikes.run('102', work('b')),
    strikes.run('5', work('c')),
  ]);
  expect(order.filter((line) => !line.startsWith('c'))).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(order.indexOf('c begins')).toBeLessThan(order.indexOf('a ends'));
});

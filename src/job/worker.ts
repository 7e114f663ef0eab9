// The worker of one cell: graphile-worker on the cell's own database.
//
// A worker that is killed leaves its jobs locked, and the library frees such jobs only after four hours. So every
// worker process beats a heart of its own, and whoever sees one stopped hands its jobs back within seconds.

import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Logger,
  makeWorkerUtils,
  parseCronItems,
  run,
  type Runner,
  type Task,
  type WorkerEvents,
  type WorkerUtils,
} from 'graphile-worker';
import type { Pool } from 'pg';
import { assert } from '#base/assert.ts';
import type { Log } from '#base/log.ts';
import { traced } from '#base/trace.ts';
import type { Cell } from '#db/cell.ts';
import { beat, listStopped, releaseUnknown, removeHeartbeats, stoppedMs } from '#db/heartbeat-store.ts';
import { workLimits } from '#db/connection-limit.ts';
import { openJobPool } from '#db/pool.ts';
import type { TaskDeps } from './deps.ts';
import { patientPool } from './patient-pool.ts';
import { createStrikes, jobIdOf, type Strikes } from './strikes.ts';
import { tasks } from './task.ts';
import type { Watchdog } from './watchdog.ts';

/** To take jobs and to end them: one of these listens. What jobs do has its own connections. */
const libraryConnections = 3;

/** Time between two beats. */
const beatMs = 2_000;

export type WorkerOptions = TaskDeps & {
  readonly log: Log;
  readonly concurrency: number;
  /** How long running jobs may go on after a stop before they are handed back. */
  readonly shutdownMs: number;
  /** Learns which jobs are under way, and the place of the cell among those it was started with. */
  readonly watch?: { readonly begin: Watchdog['begin']; readonly cell: number };
};

export type Worker = { readonly stop: () => Promise<void> };

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { cell, log } = options;
  const logger = loggerOf(log, cell);
  // Every lock that the library takes carries the id of its pool, which it makes up itself.
  const events: WorkerEvents = new EventEmitter();
  const running = new Set<string>();
  let workerId: string | undefined;
  events.once('pool:create', ({ workerPool }) => (workerId = workerPool.id));
  events.on('job:start', ({ job }) => running.add(job.id));
  events.on('job:complete', ({ job }) => running.delete(job.id));
  const utils = await makeWorkerUtils({ pgPool: cell.pool, logger });
  const strikes = createStrikes(cell, utils, log);
  await strikes.refresh();
  const pool = openJobPool({
    url: cell.url,
    max: libraryConnections,
    limits: workLimits,
    onError: (error) => log.warn({ cell: cell.name, reason: error.message }, 'lost a database connection'),
  });
  const runner = await run({
    pgPool: patientPool(pool, options.concurrency),
    logger,
    concurrency: options.concurrency,
    noHandleSignals: true,
    // A job added by a committing transaction wakes the worker; polling is for what that missed.
    pollInterval: 1_000,
    taskList: tasksOf(options, strikes),
    parsedCronItems: parseCronItems([
      { task: 'maintain-history', match: '17 3 * * *' },
      { task: 'sweep-idle', match: '41 * * * *' },
      { task: 'revisit-tests', match: '23 * * * *' },
    ]),
    events,
  });
  assert(workerId !== undefined, 'a started worker has a pool');
  const own = { id: workerId, running };
  await beat(cell.db, own.id);
  const timer = setInterval(() => {
    tend(cell, utils, own, strikes).catch((error: unknown) =>
      log.warn({ cell: cell.name, err: error }, 'could not tend worker heartbeats'),
    );
  }, beatMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      // What does not end in time is handed back: the next worker begins it anew.
      if (await stopInTime(runner, options.shutdownMs)) await endWhenIdle(pool);
      else await utils.forceUnlockWorkers([own.id]);
      await utils.release();
      await removeHeartbeats(cell.db, [own.id]);
    },
  };
}

/** The library does not wait until the last jobs are marked as done: a pool that has ended would not answer it. */
async function endWhenIdle(pool: Pool): Promise<void> {
  for (let look = 0; look < 200 && (pool.waitingCount > 0 || pool.idleCount < pool.totalCount); look++)
    await sleep(5);
  await pool.end();
}

/** Answers whether running jobs ended within the time. */
async function stopInTime(runner: Runner, patienceMs: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timeout = setTimeout(() => late.resolve(false), patienceMs);
  const inTime = await Promise.race([runner.stop().then(() => true), late.promise]);
  clearTimeout(timeout);
  return inTime;
}

/**
 * Beats our own heart, then hands back the jobs of whoever has stopped beating theirs, and those that are locked for us
 * without our knowing: the answer that told us of them was lost.
 */
async function tend(
  cell: Cell,
  utils: WorkerUtils,
  { id, running }: { readonly id: string; readonly running: ReadonlySet<string> },
  strikes: Strikes,
): Promise<void> {
  await beat(cell.db, id);
  await strikes.refresh();
  await releaseUnknown(cell.db, id, [...running], stoppedMs);
  const stopped = await listStopped(cell.db, stoppedMs);
  if (stopped.length === 0) return;
  await utils.forceUnlockWorkers([...stopped]);
  await removeHeartbeats(cell.db, stopped);
}

function tasksOf(deps: WorkerOptions, strikes: Strikes): Record<string, Task> {
  // Payloads are written by db/job.ts, by the names of these tasks.
  return Object.fromEntries(
    Object.entries(tasks).map(([name, task]): [string, Task] => [
      name,
      (payload, { job }) =>
        traced(
          { name: `job ${name}`, kind: 'consumer', attributes: aboutJob(deps, name, payload, job.attempts) },
          () =>
            strikes.run(jobIdOf(job), async () => {
              const end = deps.watch?.begin({ cell: deps.watch.cell, id: jobIdOf(job), task: name });
              try {
                await task(deps, payload as never);
              } finally {
                end?.();
              }
            }),
        ),
    ]),
  );
}

/** Ids only: what jobs carry beside them is nobody's business. */
function aboutJob({ cell }: WorkerOptions, task: string, payload: unknown, attempt: number) {
  const { queueId, repositoryId } = (payload ?? {}) as { queueId?: string; repositoryId?: string };
  return {
    'signalbox.task': task,
    'signalbox.cell': cell.name,
    'signalbox.attempt': attempt,
    ...(queueId === undefined ? {} : { 'signalbox.queue.id': queueId }),
    ...(repositoryId === undefined ? {} : { 'signalbox.repository.id': repositoryId }),
  };
}

function loggerOf(log: Log, cell: Cell): Logger {
  return new Logger((scope) => (level, message, meta) => {
    const fields = { cell: cell.name, ...scope, ...meta, detail: message };
    if (level === 'error') log.error(fields, 'worker error');
    else if (level === 'warning') log.warn(fields, 'worker warning');
    else log.debug(fields, 'worker message');
  });
}

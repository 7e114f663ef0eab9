// A pool of the job library: workers of one process that take jobs of one cell. Every lock that the library
// takes on a job carries the id of the pool, which the library generates.

import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, parseCronItems, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import type { Pool } from 'pg';
import { assert } from '#base/assert.ts';
import type { Log } from '#base/log.ts';
import type { Cell } from '#db/cell.ts';
import { workLimits } from '#db/connection-limit.ts';
import type { ScheduledTask } from '#db/job/job.ts';
import { openJobPool } from '#db/pool.ts';
import { retryablePool } from './retryable-pool.ts';
import { jobIdOf } from './strikes.ts';

/** Connections for taking and ending jobs; one of them listens. The work of jobs has its own connections. */
const libraryConnections = 3;

export type WorkerPool = {
  readonly id: string;
  /** The ids of its running jobs. */
  readonly running: ReadonlySet<string>;
  /**
   * When a connection was last lost, perhaps with an answer that named a job, by `performance.now()`; or
   * -Infinity.
   */
  readonly lostConnectionAt: () => number;
  /** Takes no more jobs; returns whether the running ones ended within the time. */
  readonly stop: (patienceMs: number) => Promise<boolean>;
};

export type WorkerPoolOptions = {
  readonly cell: Cell;
  readonly log: Log;
  readonly logger: Logger;
  readonly concurrency: number;
  readonly taskList: TaskList;
};

const schedule: Readonly<Record<ScheduledTask, string>> = {
  'maintain-history': '17 3 * * *',
  'sweep-idle': '41 * * * *',
  'revisit-tests': '23 * * * *',
  'watch-queues': '* * * * *',
};

export async function startPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { cell, log, logger, concurrency, taskList } = options;
  const events: WorkerEvents = new EventEmitter();
  const running = new Set<string>();
  let id: string | undefined;
  let lostConnectionAt = -Infinity;
  events.once('pool:create', ({ workerPool }) => (id = workerPool.id));
  events.on('job:start', ({ job }) => running.add(jobIdOf(job)));
  events.on('job:complete', ({ job }) => running.delete(jobIdOf(job)));
  const pool = openJobPool({
    url: cell.url,
    max: libraryConnections,
    limits: workLimits,
    onError: (error) => {
      lostConnectionAt = performance.now();
      log.warn({ cell: cell.name, reason: error.message }, 'lost database connection');
    },
  });
  const runner = await run({
    pgPool: retryablePool(pool, concurrency),
    logger,
    concurrency,
    noHandleSignals: true,
    // A job added by a committing transaction wakes the worker; polling finds what that missed.
    pollInterval: 1_000,
    taskList,
    // The key says that the job was not replaced by another (db/job/cell-numbers-view.ts).
    parsedCronItems: parseCronItems(
      Object.entries(schedule).map(([task, match]) => ({ task, match, options: { jobKey: task } })),
    ),
    events,
  });
  assert(id !== undefined, 'a started worker has a pool');
  return {
    id,
    running,
    lostConnectionAt: () => lostConnectionAt,
    stop: async (patienceMs) => {
      const late = Promise.withResolvers<false>();
      const timeout = setTimeout(() => late.resolve(false), patienceMs);
      const stopped = runner.stop().then(async () => {
        await endWhenIdle(pool);
        return true;
      });
      try {
        return await Promise.race([stopped, late.promise]);
      } finally {
        clearTimeout(timeout);
      }
    },
  };
}

/**
 * The library does not wait until the last jobs are marked as done, and cannot mark them once the pool has
 * ended.
 */
async function endWhenIdle(pool: Pool): Promise<void> {
  for (
    let attempt = 0;
    attempt < 200 && (pool.waitingCount > 0 || pool.idleCount < pool.totalCount);
    attempt++
  )
    await sleep(5);
  await pool.end();
}

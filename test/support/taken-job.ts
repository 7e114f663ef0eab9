// Jobs that a worker has in hand: a pool of the library takes what is due, and its tasks end when the test does.

import { EventEmitter, once } from 'node:events';
import { Logger, run, type WorkerEvents } from 'graphile-worker';
import { onTestFinished } from 'vitest';
import type { Cell } from '#db/cell.ts';
import { workLimits } from '#db/connection-limit.ts';
import { openJobPool } from '#db/pool.ts';

export type Taken = {
  /** What the locks carry. */
  readonly workerId: string;
  /** Lets the tasks end. */
  readonly release: () => void;
};

/** Answers when one job is taken. */
export async function takeJobs(cell: Cell, tasks: readonly string[], concurrency = 1): Promise<Taken> {
  const events: WorkerEvents = new EventEmitter();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const created = once(events, 'pool:create') as Promise<[{ workerPool: { id: string } }]>;
  const started = once(events, 'job:start');
  // A pool of its own would have no listener for errors once it ends, and a connection outlives that by a moment
  // (pg-pool: end() does not wait for the connections to close): dropping the database then stops the process.
  const pool = openJobPool({
    url: cell.url,
    max: concurrency + 2,
    limits: workLimits,
    onError: () => undefined,
  });
  const runner = await run({
    pgPool: pool,
    concurrency,
    noHandleSignals: true,
    pollInterval: 100,
    logger: new Logger(() => () => undefined),
    taskList: Object.fromEntries(tasks.map((task) => [task, () => promise])),
    events,
  });
  onTestFinished(async () => {
    release();
    await runner.stop();
    await pool.end();
  });
  const [[{ workerPool }]] = await Promise.all([created, started]);
  return { workerId: workerPool.id, release };
}

// The worker of one cell: graphile-worker on the cell's own database.
//
// A killed worker leaves its jobs locked, and the library frees such jobs only after four hours. So every
// worker process has a heartbeat, and any worker that sees one stopped hands its jobs back within seconds.

import { Logger, makeWorkerUtils, type Task, type WorkerUtils } from 'graphile-worker';
import type { Log } from '#base/log.ts';
import { traced } from '#base/trace.ts';
import type { Cell } from '#db/cell.ts';
import { formerTasks } from '#db/job/former-task.ts';
import { beat, listStopped, listUnknown, removeHeartbeats, stoppedMs } from '#db/job/heartbeat-store.ts';
import type { TaskDeps } from '../deps.ts';
import { createStrikes, jobIdOf, type Strikes } from './strikes.ts';
import { tasks } from './task.ts';
import type { Watchdog } from './watchdog.ts';
import { startPool, type WorkerPool } from './worker-pool.ts';

/** Time between two heartbeats. */
const beatMs = 2_000;
/**
 * After a lost connection, every heartbeat within this time checks for jobs that are locked for a pool that
 * does not know them.
 */
const doubtMs = 60_000;
/** Otherwise one heartbeat in this many checks for them. */
const beatsPerCheck = 30;
/** A job whose answer is this late counts as unknown. */
const answerMs = 5_000;
/** How long the jobs of a replaced pool may take to end before its locks are released. */
const retireMs = 60_000;

export type WorkerOptions = TaskDeps & {
  readonly log: Log;
  readonly concurrency: number;
  /** How long running jobs may continue after a stop before they are handed back. */
  readonly shutdownMs: number;
  /** Is notified of running jobs; `cell` is the index of the cell among those it was started with. */
  readonly watch?: { readonly begin: Watchdog['begin']; readonly cell: number };
};

export type JobWorker = { readonly stop: () => Promise<void> };

export async function startWorker(options: WorkerOptions): Promise<JobWorker> {
  const { cell, log, concurrency } = options;
  const logger = createWorkerLogger(log, cell);
  const utils = await makeWorkerUtils({ pgPool: cell.pool, logger });
  const strikes = createStrikes(cell, utils, log);
  await strikes.refresh();
  const taskList = createTaskList(options, strikes);
  const pools = createPools(cell, utils, log, () => startPool({ cell, log, logger, concurrency, taskList }));
  await pools.start();
  const tend = async () => {
    await pools.beat();
    await strikes.refresh();
    await releaseStopped(cell, utils);
    await pools.check();
  };
  const timer = setInterval(() => {
    tend().catch((error: unknown) =>
      log.warn({ cell: cell.name, err: error }, 'could not update worker heartbeats'),
    );
  }, beatMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await pools.stop(options.shutdownMs);
      await utils.release();
    },
  };
}

/** Hands back the jobs of workers whose heartbeat has stopped. */
async function releaseStopped(cell: Cell, utils: WorkerUtils): Promise<void> {
  const stopped = await listStopped(cell.db, stoppedMs);
  if (stopped.length === 0) return;
  await utils.forceUnlockWorkers([...stopped]);
  await removeHeartbeats(cell.db, stopped);
}

type Pools = {
  readonly start: () => Promise<void>;
  /** Writes the heartbeat of every pool that has running jobs. */
  readonly beat: () => Promise<void>;
  /** Replaces the pool if jobs are locked for it that it does not know. */
  readonly check: () => Promise<void>;
  readonly stop: (patienceMs: number) => Promise<void>;
};

/**
 * The pool that takes jobs, and those it replaced. A job can be locked for a pool that never received the
 * answer naming it. The library can release all locks of a pool but no single one, so another pool takes
 * over; the old one completes its running jobs, and then its locks are released.
 */
function createPools(cell: Cell, utils: WorkerUtils, log: Log, open: () => Promise<WorkerPool>): Pools {
  let current: WorkerPool | undefined;
  let suspects: readonly string[] = [];
  let beats = 0;
  let isChecking = false;
  const alive = new Set<WorkerPool>();
  const begin = async () => {
    current = await open();
    alive.add(current);
    await beat(cell.db, current.id);
  };
  const end = async (pool: WorkerPool, patienceMs: number) => {
    try {
      // Jobs that do not end in time are handed back too: another worker restarts them.
      await pool.stop(patienceMs);
      await utils.forceUnlockWorkers([pool.id]);
      await removeHeartbeats(cell.db, [pool.id]);
    } finally {
      // If its locks were not released, its heartbeat stops now, and any worker releases them.
      alive.delete(pool);
    }
  };
  const check = async (pool: WorkerPool) => {
    const isDoubtful = performance.now() - pool.lostConnectionAt() < doubtMs;
    if (beats++ % beatsPerCheck !== 0 && !isDoubtful) return;
    const unknown = await listUnknown(cell.db, pool.id, [...pool.running], answerMs);
    // A job that has just ended is marked as done a moment later, so only a job that is found twice counts.
    const isSure = unknown.some((id) => suspects.includes(id));
    suspects = unknown;
    if (!isSure) return;
    suspects = [];
    await begin();
    log.warn({ cell: cell.name, jobs: unknown.length }, 'replaced workers that lost their jobs');
    end(pool, retireMs).catch((error: unknown) =>
      log.warn({ cell: cell.name, err: error }, 'could not update worker heartbeats'),
    );
  };
  return {
    start: begin,
    beat: async () => {
      for (const { id } of alive) await beat(cell.db, id);
    },
    check: async () => {
      if (current === undefined || isChecking) return;
      isChecking = true;
      try {
        await check(current);
      } finally {
        isChecking = false;
      }
    },
    stop: async (patienceMs) => {
      await Promise.all([...alive].map((pool) => end(pool, patienceMs)));
    },
  };
}

function createTaskList(deps: WorkerOptions, strikes: Strikes): Record<string, Task> {
  // db/job/job.ts writes the payloads, by the names of these tasks.
  const former = Object.entries(formerTasks).map(([name, task]) => [name, tasks[task]] as const);
  return Object.fromEntries(
    [...Object.entries(tasks), ...former].map(([name, task]): [string, Task] => [
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

/** Ids only: the rest of a payload does not belong in traces. */
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

function createWorkerLogger(log: Log, cell: Cell): Logger {
  return new Logger((scope) => (level, message, meta) => {
    const fields = { cell: cell.name, ...scope, ...meta, detail: message };
    if (level === 'error') log.error(fields, 'worker error');
    else if (level === 'warning') log.warn(fields, 'worker warning');
    else log.debug(fields, 'worker message');
  });
}

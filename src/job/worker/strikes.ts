// What a worker does with jobs that were running when the event loop of a process was blocked (watchdog.ts).

import type { WorkerUtils } from 'graphile-worker';
import type { Log } from '#base/log.ts';
import type { Cell } from '#db/cell.ts';
import { listStrikes, strikesMax } from '#db/job/strike-store.ts';

export type Strikes = {
  /** Reads the affected jobs, and permanently fails those that were affected too often. */
  readonly refresh: () => Promise<void>;
  /** Runs a job unless it is set aside; affected jobs run one at a time. */
  readonly run: (jobId: string, work: () => Promise<void>) => Promise<void>;
};

/** The library types the id as text; the driver returns a number (db/pool.ts). */
export const jobIdOf = ({ id }: { readonly id: string | number }): string => String(id);

const reason = 'This job blocked the event loop twice, so it is not run again.';

export function createStrikes(
  cell: Cell,
  utils: Pick<WorkerUtils, 'permanentlyFailJobs'>,
  log: Log,
): Strikes {
  let known: ReadonlyMap<string, number> = new Map();
  const logged = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  const isSetAside = (jobId: string) => (known.get(jobId) ?? 0) >= strikesMax;
  return {
    refresh: async () => {
      const strikes = await listStrikes(cell.db);
      known = new Map(strikes.map(({ jobId, strikes: count }) => [jobId, count]));
      const ids = [...known.keys()].filter(isSetAside);
      if (ids.length === 0) return;
      // A job that another worker has locked is skipped here, and fails there at once.
      for (const failed of await utils.permanentlyFailJobs(ids, reason)) {
        const id = jobIdOf(failed);
        if (logged.has(id)) continue;
        logged.add(id);
        const task = strikes.find(({ jobId }) => jobId === id)?.task;
        log.error(
          { cell: cell.name, job: id, task },
          'job failed permanently: it blocked the event loop twice',
        );
      }
    },
    run: async (jobId, work) => {
      if (isSetAside(jobId)) throw new Error(reason);
      if (!known.has(jobId)) return work();
      const turn = last.then(work);
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

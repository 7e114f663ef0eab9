// What a worker does with jobs that were under way when the event loop of a process stood still (watchdog.ts).

import type { WorkerUtils } from 'graphile-worker';
import type { Log } from '#base/log.ts';
import type { Cell } from '#db/cell.ts';
import { listStrikes, strikesMax } from '#db/strike-store.ts';

export type Strikes = {
  /** Reads which jobs there are, and lets those fail for good that were there too often. */
  readonly refresh: () => Promise<void>;
  /** Does the work of a job, unless it is set aside; one at a time if it was there once. */
  readonly run: (jobId: string, work: () => Promise<void>) => Promise<void>;
};

/** The library says that it is a text; the driver makes it a number (db/pool.ts). */
export const jobIdOf = ({ id }: { readonly id: string | number }): string => String(id);

const reason = 'The event loop stood still twice while this job was under way, so it is set aside.';

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
      // A job that another worker has locked is left alone, and fails there at once.
      for (const failed of await utils.permanentlyFailJobs(ids, reason)) {
        const id = jobIdOf(failed);
        if (logged.has(id)) continue;
        logged.add(id);
        const task = strikes.find(({ jobId }) => jobId === id)?.task;
        log.error({ cell: cell.name, job: id, task }, 'set aside a job that stopped the event loop twice');
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

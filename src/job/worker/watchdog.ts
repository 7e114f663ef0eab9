// The watchdog of a process. JavaScript that does not end blocks everything in its process: heartbeats,
// streams, all jobs of all organizations. Only a separate thread can notice that (watchdog-thread.ts). It
// checks whether the event loop moves; when it is blocked for `stillMs`, the thread records the running jobs
// and kills the process, and the supervisor (systemd, Kubernetes, Compose) restarts it.
//
// A job that was running twice at such a time is set aside: it fails permanently without being run. Jobs that
// were running once are run one at a time, so that innocent ones are not affected a second time.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Less than the time after which another worker takes over the jobs of a silent one (heartbeat-store.ts). */
const stillMs = 12_000;
/** Space for the ids and tasks of the running jobs. */
const jobsBytesMax = 64 * 1024;

export type WatchedJob = { readonly cell: number; readonly id: string; readonly task: string };

export type WatchdogData = {
  /** The database URL of each cell, in the order of `WatchedJob.cell`. */
  readonly urls: readonly string[];
  /** [turns of the event loop, bytes of `jobs`] */
  readonly state: SharedArrayBuffer;
  /** The running jobs, as JSON. */
  readonly jobs: SharedArrayBuffer;
  readonly stillMs: number;
  /** Touched while the event loop moves; null: none. */
  readonly aliveFile: string | null;
};

export type Watchdog = {
  /** The job counts as running until the returned function is called. */
  readonly begin: (job: WatchedJob) => () => void;
  readonly stop: () => Promise<void>;
};

const threadFile = new URL(`./watchdog-thread${extname(import.meta.filename)}`, import.meta.url);

export function startWatchdog(
  urls: readonly string[],
  aliveFile: string | null,
  limitMs: number = stillMs,
): Watchdog {
  const state = new SharedArrayBuffer(8);
  const jobs = new SharedArrayBuffer(jobsBytesMax);
  const numbers = new Int32Array(state);
  const bytes = Buffer.from(jobs);
  const underWay = new Set<WatchedJob>();
  const write = () => {
    const text = JSON.stringify([...underWay]);
    Atomics.store(numbers, 1, Buffer.byteLength(text) > jobsBytesMax ? 0 : bytes.write(text));
  };
  const workerData: WatchdogData = { urls, state, jobs, stillMs: limitMs, aliveFile };
  const thread = new Worker(threadFile, { workerData, execArgv: [] });
  thread.unref();
  const timer = setInterval(() => Atomics.add(numbers, 0, 1), limitMs / 24).unref();
  return {
    begin: (job) => {
      underWay.add(job);
      write();
      return () => {
        underWay.delete(job);
        write();
      };
    },
    stop: async () => {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}

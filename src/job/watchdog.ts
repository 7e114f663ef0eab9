// The watchdog of a process. JavaScript that does not end stops everything in its process: heartbeats, streams, all jobs of
// all organizations, and nothing in the process can notice it but a thread of its own (watchdog-thread.ts). It looks whether the
// event loop moves; when it stands still for `stillMs`, it records the jobs that were under way and kills the process, and the
// supervisor (systemd, Kubernetes, Compose) starts it again.
//
// A job that was under way twice is set aside: it fails for good without being run. Jobs that were there once run one at a
// time, so that those beside the guilty one are not there a second time.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Less than the time after which another worker takes the jobs of one that is silent (heartbeat-store.ts). */
const stillMs = 12_000;
/** Room for the names of the jobs under way. */
const jobsBytesMax = 64 * 1024;

export type WatchedJob = { readonly cell: number; readonly id: string; readonly task: string };

export type WatchdogData = {
  /** Where each cell is, in the order of `WatchedJob.cell`. */
  readonly urls: readonly string[];
  /** [turns of the event loop, bytes of `jobs`] */
  readonly state: SharedArrayBuffer;
  /** The jobs under way, as JSON. */
  readonly jobs: SharedArrayBuffer;
  readonly stillMs: number;
  /** Touched while the event loop moves; null: none. */
  readonly aliveFile: string | null;
};

export type Watchdog = {
  /** Until the returned function is called, the job is under way. */
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

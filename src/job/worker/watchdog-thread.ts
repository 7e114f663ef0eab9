// The thread of watchdog.ts: checks whether the event loop of the process moves, and ends the process if it
// does not. Time is counted in its own checks, so that a machine that was asleep or busy does not count as a
// blocked process.

import { writeFileSync, writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { Client } from 'pg';
import { dbOnConnection } from '#db/pool.ts';
import { recordStrikes } from '#db/job/strike-store.ts';
import type { WatchdogData, WatchedJob } from './watchdog.ts';

const { urls, state, jobs, stillMs, aliveFile } = workerData as WatchdogData;
/** Checks within the time that the event loop may be blocked. */
const looksMax = 12;
const answerMs = 3_000;

const numbers = new Int32Array(state);
let turns = -1;
let still = 0;

setInterval(() => {
  const now = Atomics.load(numbers, 0);
  still = now === turns ? still + 1 : 0;
  turns = now;
  if (still === 0 && aliveFile !== null) writeFileSync(aliveFile, '');
  if (still === looksMax) void end();
}, stillMs / looksMax);

async function end(): Promise<void> {
  const under = readJobs();
  const line = {
    level: 50,
    time: Date.now(),
    pid: process.pid,
    stillMs,
    jobs: under.map(({ id, task }) => ({ id, task })),
    msg: 'event loop blocked, exiting',
  };
  writeSync(2, `${JSON.stringify(line)}\n`);
  await Promise.allSettled(
    urls.map((url, cell) =>
      record(
        url,
        under.filter((job) => job.cell === cell),
      ),
    ),
  );
  process.kill(process.pid, 'SIGKILL');
}

function readJobs(): readonly WatchedJob[] {
  try {
    const text = Buffer.from(jobs).subarray(0, Atomics.load(numbers, 1)).toString('utf8');
    return JSON.parse(text) as readonly WatchedJob[];
  } catch {
    return [];
  }
}

async function record(url: string, struck: readonly WatchedJob[]): Promise<void> {
  if (struck.length === 0) return;
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    application_name: 'signalbox watchdog',
  });
  client.on('error', () => undefined);
  await client.connect();
  await recordStrikes(
    dbOnConnection(client),
    struck.map(({ id }) => id),
    struck.map(({ task }) => task),
  );
}

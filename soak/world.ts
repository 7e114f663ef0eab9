// The real thing on loopback: a private PostgreSQL, `signalbox serve` and `signalbox work` as processes of their own,
// and one folder that holds everything. Processes are kept up as a supervisor would: one that ends is started again.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../script/free-port.ts';
import { type Cluster, startCluster } from '../script/postgres.ts';

export const token = 'soak-token-0123456789';

export type Part = {
  readonly name: string;
  /** As `kill -9` does; it is started again after so many milliseconds. */
  readonly kill: (awayMs: number) => Promise<void>;
};

export type World = {
  readonly url: string;
  readonly folder: string;
  /** Where the sandbox host keeps its repositories. */
  readonly repositories: string;
  /** The API, the workers and PostgreSQL. */
  readonly parts: readonly Part[];
  /** Processes that ended although nobody killed them and they had been ready. */
  readonly ownEnds: () => number;
  /** Ends and removes everything; the folder stays if it is still needed. */
  readonly close: (keepFolder: boolean) => Promise<void>;
};

export type WorldOptions = {
  readonly workers: number;
  readonly sweepSeconds: number;
  /** A killed PostgreSQL must have kept what it acknowledged. */
  readonly durable: boolean;
};

const root = new URL('..', import.meta.url).pathname;

export async function openWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'signalbox-soak-'));
  for (const name of ['data', 'tmp', 'log']) mkdirSync(join(folder, name));
  const cluster = await startCluster({ durable: options.durable });
  const supervised: Supervised[] = [];
  // The last resort, if this process ends without closing: what is left must not outlive it.
  const endAll = () => supervised.forEach(({ end }) => end());
  process.once('exit', endAll);
  const database = databasePart(cluster);
  const close = async (keepFolder: boolean) => {
    await Promise.all([...supervised.map(({ stop }) => stop()), database.settle()]);
    await cluster.stop();
    process.off('exit', endAll);
    if (!keepFolder) await removeFolder(folder);
  };
  try {
    await createDatabase(cluster);
    const port = await freePort();
    const environment = environmentOf(folder, cluster, port, options);
    execFileSync(process.execPath, ['src/signalbox.ts', 'migrate'], { cwd: root, env: environment });
    const url = `http://127.0.0.1:${port}`;
    const isServing = () =>
      fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    supervised.push(supervise({ name: 'api', command: 'serve', folder, environment, isReady: isServing }));
    for (let at = 1; at <= options.workers; at++)
      supervised.push(
        supervise({ name: `worker-${at}`, command: 'work', folder, environment, isReady: null }),
      );
    await Promise.all(supervised.map(({ ready }) => ready()));
    return {
      url,
      folder,
      repositories: join(folder, 'data', 'sandbox', 'main'),
      parts: [...supervised, database],
      ownEnds: () => supervised.reduce((sum, { ownEnds }) => sum + ownEnds(), 0),
      close,
    };
  } catch (error) {
    await close(true);
    console.error(`The logs are in ${join(folder, 'log')}.`);
    throw error;
  }
}

const environmentOf = (
  folder: string,
  cluster: Cluster,
  port: number,
  { sweepSeconds }: WorldOptions,
): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  TMPDIR: join(folder, 'tmp'),
  DATABASE_URL: cluster.url('soak'),
  SIGNALBOX_ADDRESS: '127.0.0.1',
  SIGNALBOX_PORT: String(port),
  SIGNALBOX_PUBLIC_URL: `http://127.0.0.1:${port}`,
  SIGNALBOX_DATA_DIR: join(folder, 'data'),
  SIGNALBOX_SANDBOX_SCRIPTS: 'on',
  SIGNALBOX_BOOTSTRAP_ORG: 'soak',
  SIGNALBOX_BOOTSTRAP_TOKEN: token,
  SIGNALBOX_RATE_LIMIT: '1000000',
  SIGNALBOX_RATE_BURST: '1000000',
  SIGNALBOX_SWEEP_SECONDS: String(sweepSeconds),
});

async function createDatabase(cluster: Cluster): Promise<void> {
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  await client.query('create database soak');
  await client.end();
}

/** Settled: no kill is under way, and none will be. */
function databasePart(cluster: Cluster): Part & { readonly settle: () => Promise<void> } {
  let isSettling = false;
  let underWay: Promise<void> = Promise.resolve();
  const crash = async (awayMs: number) => {
    await cluster.crash();
    await sleep(awayMs);
    await cluster.restart();
  };
  return {
    name: 'postgresql',
    kill: (awayMs) => (underWay = isSettling ? underWay : crash(awayMs)),
    settle: () => {
      isSettling = true;
      return underWay.catch(() => undefined);
    },
  };
}

type Supervised = Part & {
  readonly ready: () => Promise<void>;
  readonly ownEnds: () => number;
  readonly stop: () => Promise<void>;
  /** At once, for a process that ends itself. */
  readonly end: () => void;
};

type Kept = {
  readonly name: string;
  readonly command: 'serve' | 'work';
  readonly folder: string;
  readonly environment: Record<string, string>;
  /** Null: when its log says so. */
  readonly isReady: (() => Promise<boolean>) | null;
};

const startMs = 120_000;

function supervise({ name, command, folder, environment, isReady }: Kept): Supervised {
  const logFile = join(folder, 'log', `${name}.log`);
  let child: ChildProcess;
  let wasReady = false;
  let isWanted = true;
  let logFrom = 0;
  let ownEnds = 0;
  let awayMs: number | null = null;
  const start = () => {
    const log = openSync(logFile, 'a');
    logFrom = statSync(logFile).size;
    wasReady = false;
    // A group of its own: Ctrl-C reaches only us, and we end it.
    child = spawn(process.execPath, ['src/signalbox.ts', command], {
      cwd: root,
      env: environment,
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    child.once('exit', (code, signalName) => {
      if (!isWanted) return;
      if (awayMs === null && wasReady) {
        ownEnds += 1;
        console.error(`${name} ended by itself with ${code ?? signalName}`);
      }
      setTimeout(() => isWanted && start(), awayMs ?? 500);
      awayMs = null;
    });
  };
  const isUp = async () =>
    child.exitCode === null &&
    child.signalCode === null &&
    (isReady === null
      ? readFileSync(logFile).subarray(logFrom).includes('"working on jobs"')
      : await isReady());
  const ready = async () => {
    for (const until = Date.now() + startMs; !(await isUp()); await sleep(50))
      if (Date.now() > until) throw new Error(`${name} did not start; see ${logFile}`);
    wasReady = true;
  };
  const signal = (which: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(which);
  };
  start();
  return {
    name,
    ready,
    ownEnds: () => ownEnds,
    end: () => signal('SIGKILL'),
    kill: async (away) => {
      awayMs = away;
      const isRunning = child.exitCode === null && child.signalCode === null;
      const exited = isRunning ? once(child, 'exit') : undefined;
      signal('SIGKILL');
      await exited;
      await ready();
    },
    stop: async () => {
      isWanted = false;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      signal('SIGTERM');
      const late = setTimeout(() => signal('SIGKILL'), 15_000);
      await exited;
      clearTimeout(late);
    },
  };
}

/** Whatever still ran for a killed process may write for a moment. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(250);
    }
}

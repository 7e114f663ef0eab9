// The real thing on loopback: a private PostgreSQL, `signalbox serve` and `signalbox work` as processes of their own,
// and one folder that holds everything.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../script/free-port.ts';
import { type Cluster, startCluster } from '../../script/postgres.ts';
import { type Machines, openMachines } from './machines.ts';
import { type Kept, type Part, supervise, type Supervised } from './supervise.ts';

export const token = 'soak-token-0123456789';

export type World = {
  /** Of every API. */
  readonly urls: readonly string[];
  readonly folder: string;
  /** Where the sandbox host keeps its repositories. */
  readonly repositories: string;
  /** Where the workers keep their mirrors. */
  readonly mirrors: string;
  readonly database: {
    readonly url: string;
    /** Where the programs of PostgreSQL are. */
    readonly binDir: string;
    /** Its machine vanishes; after so many milliseconds another has its disk and its address. */
    readonly failOver: (awayMs: number) => Promise<void>;
  };
  /** The APIs, the workers and PostgreSQL. */
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
  /** PostgreSQL runs on one of two machines of its own. */
  readonly hasMachines?: boolean;
  /** The mirrors have a disk of their own, of so many MiB. */
  readonly mirrorDiskMiB?: number;
  /** By how many milliseconds the clocks of the workers are wrong. */
  readonly clocksMs?: readonly number[];
  /** A checkout of the release before: another API and another worker run from it. */
  readonly before?: string;
};

const root = new URL('../..', import.meta.url).pathname;

export async function openWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'signalbox-soak-'));
  for (const name of ['data', 'tmp', 'log']) mkdirSync(join(folder, name));
  const mirrors = join(folder, 'data', 'mirror', 'main');
  mkdirSync(mirrors, { recursive: true });
  const { mirrorDiskMiB } = options;
  if (mirrorDiskMiB !== undefined)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mirrorDiskMiB}m`, 'signalbox-soak', mirrors]);
  const machines = options.hasMachines === true ? openMachines() : undefined;
  const cluster = await startCluster({
    durable: options.durable,
    ...(machines === undefined ? {} : { machine: machines }),
  });
  const supervised: Supervised[] = [];
  // The last resort, if this process ends without closing: what is left must not outlive it.
  const endAll = () => {
    supervised.forEach(({ end }) => end());
    machines?.remove();
    if (mirrorDiskMiB !== undefined) unmount(mirrors);
  };
  process.once('exit', endAll);
  const database = databasePart(cluster, machines);
  const close = async (keepFolder: boolean) => {
    await Promise.all([...supervised.map(({ stop }) => stop()), database.settle()]);
    await cluster.stop();
    process.off('exit', endAll);
    endAll();
    if (!keepFolder) await removeFolder(folder);
  };
  try {
    await createDatabase(cluster);
    const { urls, kept } = await partsOf(options, folder, cluster);
    execFileSync(process.execPath, ['src/signalbox.ts', 'migrate'], { cwd: root, env: kept[0]!.environment });
    for (const part of kept) supervised.push(supervise(part));
    await Promise.all(supervised.map(({ ready }) => ready()));
    return {
      urls,
      folder,
      repositories: join(folder, 'data', 'sandbox', 'main'),
      mirrors,
      database: { url: cluster.url('soak'), binDir: cluster.binDir, failOver: database.failOver },
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

/** What runs, and where the APIs are. */
async function partsOf(
  options: WorldOptions,
  folder: string,
  cluster: Cluster,
): Promise<{ readonly urls: readonly string[]; readonly kept: readonly Kept[] }> {
  const { workers, clocksMs = [], before } = options;
  const urls: string[] = [];
  const apiOf = async (name: string, checkout: string): Promise<Kept> => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    urls.push(url);
    const isReady = () =>
      fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    const environment = environmentOf(folder, cluster, port, options);
    return { name, command: 'serve', root: checkout, folder, environment, isReady };
  };
  const workerOf = (name: string, checkout: string, clockMs: number, api: Kept): Kept => ({
    name,
    command: 'work',
    root: checkout,
    folder,
    environment: { ...api.environment, SOAK_CLOCK_MS: String(clockMs) },
    execArgv: clockMs === 0 ? [] : ['--import', join(root, 'test', 'soak', 'clock.ts')],
    isReady: null,
  });
  const api = await apiOf('api', root);
  const kept = [api];
  for (let at = 1; at <= workers; at++) kept.push(workerOf(`worker-${at}`, root, clocksMs[at - 1] ?? 0, api));
  if (before !== undefined) {
    const apiBefore = await apiOf('api-before', before);
    kept.push(apiBefore, workerOf('worker-before', before, 0, apiBefore));
  }
  return { urls, kept };
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

type DatabasePart = Part & {
  readonly failOver: (awayMs: number) => Promise<void>;
  /** No kill is under way, and none will be. */
  readonly settle: () => Promise<void>;
};

function databasePart(cluster: Cluster, machines: Machines | undefined): DatabasePart {
  let isSettling = false;
  let underWay: Promise<void> = Promise.resolve();
  const once = (work: () => Promise<void>) => (underWay = isSettling ? underWay : work());
  return {
    name: 'postgresql',
    kill: (awayMs) =>
      once(async () => {
        await cluster.crash();
        await sleep(awayMs);
        await cluster.restart();
      }),
    failOver: (awayMs) =>
      once(async () => {
        if (machines === undefined) throw new Error('The database has no other machine to go to.');
        machines.vanish();
        await sleep(awayMs);
        // Of the machine that vanished nothing may write to the disk any more.
        await cluster.crash();
        machines.move();
        await cluster.restart();
      }),
    settle: () => {
      isSettling = true;
      return underWay.catch(() => undefined);
    },
  };
}

function unmount(directory: string): void {
  try {
    execFileSync('umount', ['--lazy', directory], { stdio: 'ignore' });
  } catch {
    // It is not mounted any more.
  }
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

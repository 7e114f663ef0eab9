// The world of the benchmark: a private durable cluster with three copies of one database (the server's, the bare
// server's and pgbench's), the processes on them, and the way back.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { type Cluster, startCluster } from '../../script/postgres.ts';
import type { BareOptions } from './bare-server.ts';
import type { LoadJob, LoadResult } from './load.ts';

export const repository = { host: 'sandbox.example', owner: 'bench', name: 'widgets' };
export const branch = 'main';
export const token = 'bench-token-0123456789';
/** Pull requests in the queue that is read. */
export const liveCount = 100;
/** Pull requests that the host knows: every one that is submitted is among them. */
const hostCount = 1_000_000;

export const connections = { readers: 4, transactions: 10 };

export const root = new URL('../..', import.meta.url).pathname;

export type Cleanup = { readonly add: (undo: () => unknown) => void; readonly run: () => Promise<void> };

/** What was started, undone in reverse order. */
export function createCleanup(): Cleanup {
  const undos: (() => unknown)[] = [];
  return {
    add: (undo) => undos.push(undo),
    run: async () => {
      for (let undo = undos.pop(); undo !== undefined; undo = undos.pop())
        await Promise.resolve(undo()).catch((error: unknown) => console.error(error));
    },
  };
}

/** Work that ends all that it started. */
export async function withCleanup<Result>(work: (cleanup: Cleanup) => Promise<Result>): Promise<Result> {
  const cleanup = createCleanup();
  try {
    return await work(cleanup);
  } finally {
    await cleanup.run();
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(late);
}

/** A folder on disk: what is durable in memory proves nothing. */
export function temporaryDir(cleanup: Cleanup, name: string): string {
  const tmpfs = 0x01_02_19_94;
  const parent = statfsSync(tmpdir()).type === tmpfs ? '/var/tmp' : tmpdir();
  const dir = mkdtempSync(join(parent, name));
  cleanup.add(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function openCluster(
  cleanup: Cleanup,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const cluster = await startCluster({
    dataDir: temporaryDir(cleanup, 'signalbox-bench-'),
    durable: true,
    // Room for the log of the whole run, so that no checkpoint falls into one side's round.
    settings: { shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '30min', ...settings },
  });
  cleanup.add(cluster.stop);
  return cluster;
}

export type Server = { readonly port: number; readonly pid: number; readonly stop: () => Promise<void> };

type SignalboxOptions = {
  readonly nodeOptions?: readonly string[];
  /** Beside what every benchmark sets; SIGNALBOX_CELLS takes the place of the address. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Warnings are meant to come, and are not shown. */
  readonly isQuiet?: boolean | undefined;
};

/** The real thing, from `node src/signalbox.ts`; what does not serve has no port. */
export async function startSignalbox(
  cleanup: Cleanup,
  url: string,
  command: 'start' | 'serve' | 'work',
  { nodeOptions = [], environment = {}, isQuiet = false }: SignalboxOptions = {},
): Promise<Server> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('SIGNALBOX_') && name !== 'DATABASE_URL',
  );
  const child = spawn(process.execPath, [...nodeOptions, 'src/signalbox.ts', command], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...Object.fromEntries(inherited),
      ...(environment['SIGNALBOX_CELLS'] === undefined ? { DATABASE_URL: url } : {}),
      SIGNALBOX_ADDRESS: '127.0.0.1',
      SIGNALBOX_PORT: '0',
      SIGNALBOX_DATA_DIR: temporaryDir(cleanup, 'signalbox-data-'),
      SIGNALBOX_BOOTSTRAP_ORG: 'bench',
      SIGNALBOX_BOOTSTRAP_TOKEN: token,
      SIGNALBOX_RATE_LIMIT: '1000000',
      SIGNALBOX_RATE_BURST: '1000000',
      SIGNALBOX_DB_CONNECTIONS: String(connections.transactions),
      SIGNALBOX_DB_READERS: String(connections.readers),
      ...environment,
    },
  });
  const stop = () => end(child, 'SIGTERM');
  cleanup.add(stop);
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`signalbox ${command} ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const served = /"address":"http:\/\/[^"]*:(\d+)"/.exec(line);
      if (served) resolve(Number(served[1]));
      else if (line.includes('"working on jobs"') && command === 'work') resolve(0);
      else if (!isQuiet && /"level":(?:[456]0)/.test(line)) console.error(line);
    });
  });
  return { port, pid: child.pid ?? 0, stop };
}

export function forked<Message extends object, Reply>(cleanup: Cleanup, file: string) {
  const child = fork(join(root, 'test', 'bench', file), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const stop = () => end(child, 'SIGKILL');
  cleanup.add(stop);
  const ask = (message: Message) =>
    new Promise<Reply>((resolve, reject) => {
      const gone = (code: number | null) => reject(new Error(`${file} ended with ${code}`));
      child.once('exit', gone);
      child.once('message', (reply) => {
        child.off('exit', gone);
        resolve(reply as Reply);
      });
      child.send(message);
    });
  return { ask, stop, pid: child.pid ?? 0 };
}

export async function startBare(cleanup: Cleanup, url: string): Promise<Omit<Server, 'pid'>> {
  const { ask, stop } = forked<BareOptions, { port: number }>(cleanup, 'bare-server.ts');
  const { readers, transactions } = connections;
  const { port } = await ask({ url, token, readers, connections: transactions });
  return { port, stop };
}

export type Load = (job: LoadJob) => Promise<LoadResult>;

export const startLoad = (cleanup: Cleanup): Load => forked<LoadJob, LoadResult>(cleanup, 'load.ts').ask;

async function call(port: number, path: string, body: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-token': token },
    body: JSON.stringify({ repo: repository, targetBranch: branch, ...body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

export async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Under test for ever: what is behind it stays pending. */
const blocker = hostCount + 1;

/**
 * A queue with its live entries, all pending, made through the API by a server with a worker. CI never answers and there
 * is one test slot, so that they stay where they are. What is measured runs without a worker.
 */
async function makeQueue(cleanup: Cleanup, url: string): Promise<void> {
  const server = await startSignalbox(cleanup, url, 'start');
  const { port } = server;
  await call(port, '/sandbox/v1/configureRepository', { ci: { mode: 'manual' } });
  await call(port, '/v1/createQueue', { concurrency: 1 });
  await call(port, '/v1/submitPullRequest', { pr: { number: blocker } });
  await waitForStates(port, 'testing', 1);
  for (let number = 1; number <= liveCount; number++)
    await call(port, '/v1/submitPullRequest', { pr: { number } });
  await waitForStates(port, 'pending', liveCount);
  await server.stop();
}

async function waitForStates(port: number, wanted: string, count: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const queue = (await call(port, '/v1/getQueue', {})) as { enqueuedPullRequests: { state: string }[] };
    const found = queue.enqueuedPullRequests.filter(({ state }) => state === wanted).length;
    if (found === count) return;
    if (attempt === 300) throw new Error(`${found} pull requests became ${wanted}, not ${count}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const knownToHost = `
  insert into sandbox_pull_request (repository_id, number, title, head_sha, base_branch, author)
  select r.id, n, 'Fix error messages', md5(n::text) || left(md5(n::text), 8), '${branch}', 'sandbox-amber'
  from repository r, generate_series(1, ${hostCount}) n
  on conflict do nothing`;

export type Databases = { readonly ours: string; readonly bare: string; readonly pgbench: string };

/** Three equal databases; every pull request that will be submitted is known to the host already. */
export async function makeDatabases(cleanup: Cleanup, cluster: Cluster): Promise<Databases> {
  const databases = { ours: cluster.url('ours'), bare: cluster.url('bare'), pgbench: cluster.url('pgbench') };
  const maintain = (...statements: readonly string[]) =>
    withClient(cluster.url('postgres'), async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  await maintain('create database ours');
  await makeQueue(cleanup, databases.ours);
  await withClient(databases.ours, async (client) => {
    await client.query(knownToHost);
    await client.query('vacuum analyze');
  });
  await maintain('create database bare template ours', 'create database pgbench template ours', 'checkpoint');
  return databases;
}

/** The id of the one queue. */
export const queueIdOf = (url: string): Promise<{ queueId: string; repositoryId: string }> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string; repository_id: string }>(
      'select id, repository_id from queue',
    );
    return { queueId: rows[0]!.id, repositoryId: rows[0]!.repository_id };
  });

// The service as it runs: a private PostgreSQL, `signalbox serve` and `signalbox work` as processes of their own, two
// organizations, and a host that counts what it is asked.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Scope } from '#contract/common.ts';
import { openCell } from '#db/cell.ts';
import { migrateCell } from '#db/migrate.ts';
import { saveConnection } from '#db/account/connection-store.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import { freePort } from '../../script/free-port.ts';
import { startCluster } from '../../script/postgres.ts';
import type { ProbeAnswer, ProbeQuestion } from './probe.ts';

export type Reading = Omit<ProbeAnswer, 'id'>;

export type Process = {
  readonly name: 'api' | 'worker';
  readonly read: (isCollecting?: boolean) => Promise<Reading>;
};

export type World = {
  readonly url: string;
  readonly port: number;
  readonly api: Process;
  readonly worker: Process;
  readonly tokens: { readonly neighbour: string; readonly hostile: string; readonly upload: string };
  /** Where webhooks of the connected host come in. */
  readonly hookPath: string;
  readonly query: (text: string) => Promise<unknown>;
  /** What the host was asked about a repository whose name holds these letters. */
  readonly hostCalls: (letters: string) => number;
  readonly close: () => Promise<void>;
};

const scopes: readonly Scope[] = ['read', 'submit', 'admin', 'upload'];
/** A connected host, as repositories name it. */
export const connectedHost = 'git.example';

export const sandboxRepository = (owner: string, name = 'widgets') => ({
  host: 'sandbox.example',
  owner,
  name,
});

export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'signalbox-abuse-'));
  for (const name of ['data', 'tmp']) mkdirSync(join(folder, name));
  const cluster = await startCluster({ durable: false });
  const children: ChildProcess[] = [];
  const endAll = () => children.forEach((child) => child.kill('SIGKILL'));
  process.once('exit', endAll);
  const host = await startHost();
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  await client.query('create database abuse');
  await client.end();
  const databaseUrl = cluster.url('abuse');
  const seeding = openCell({
    name: 'main',
    url: databaseUrl,
    connections: 2,
    readerConnections: 1,
    onError: () => undefined,
  });
  await migrateCell(seeding, new Date());
  const tokenOf = async (organization: string, name: string, wanted: readonly Scope[]) => {
    const { id } = await ensureOrganization(seeding.db, organization, organization);
    return createToken(seeding, id, { name, scopes: wanted, expiresAt: null });
  };
  const tokens = {
    neighbour: await tokenOf('neighbour', 'all', scopes),
    hostile: await tokenOf('hostile', 'all', scopes),
    upload: await tokenOf('hostile', 'forks', ['upload']),
  };
  const secretKey = randomBytes(32);
  const { id: organizationId } = await ensureOrganization(seeding.db, 'hostile', 'hostile');
  const connection = await saveConnection(seeding.db, secretKey, {
    organizationId,
    kind: 'gitea',
    host: connectedHost,
    url: `http://127.0.0.1:${host.port}`,
    credentials: JSON.stringify({ kind: 'token', token: 'none' }),
  });
  const port = await freePort();
  const environment = {
    PATH: process.env['PATH'] ?? '',
    TMPDIR: join(folder, 'tmp'),
    DATABASE_URL: databaseUrl,
    SIGNALBOX_ADDRESS: '127.0.0.1',
    SIGNALBOX_PORT: String(port),
    SIGNALBOX_DATA_DIR: join(folder, 'data'),
    SIGNALBOX_SANDBOX: 'on',
    SIGNALBOX_SECRET_KEY: secretKey.toString('base64'),
    SIGNALBOX_LOG_LEVEL: 'warn',
  };
  const start = (name: Process['name']): Process => {
    const logFile = join(folder, `${name}.log`);
    const log = openSync(logFile, 'a');
    const command = name === 'api' ? 'serve' : 'work';
    const child = spawn(
      process.execPath,
      ['--expose-gc', '--import', './test/abuse/probe.ts', 'src/signalbox.ts', command],
      {
        env: environment,
        stdio: ['ignore', log, log, 'ipc'],
      },
    );
    children.push(child);
    return {
      name,
      read: (isCollecting = false) =>
        ask(
          child,
          isCollecting,
          () => `The process ${name} ended. Its log:\n${readFileSync(logFile, 'utf8')}`,
        ),
    };
  };
  const api = start('api');
  const worker = start('worker');
  const url = `http://127.0.0.1:${port}`;
  for (let waited = 0; !(await isReady(url)); waited += 100) {
    if (waited > 60_000) throw new Error(`The API did not start. The logs are in ${folder}.`);
    await sleep(100);
  }
  return {
    url,
    port,
    api,
    worker,
    tokens,
    hookPath: `/hooks/main_${connection.id}`,
    query: (text) => seeding.pool.query(text),
    hostCalls: host.calls,
    close: async () => {
      for (const child of children) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await Promise.race([ended, sleep(10_000)]);
        child.kill('SIGKILL');
      }
      host.close();
      await seeding.close();
      await cluster.stop();
      process.off('exit', endAll);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

let questions = 0;

function ask(child: ChildProcess, isCollecting: boolean, describeEnd: () => string): Promise<Reading> {
  const id = ++questions;
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error(describeEnd()));
    if (child.exitCode !== null || child.signalCode !== null) return end();
    const take = (message: unknown) => {
      const answer = message as ProbeAnswer;
      if (answer.id !== id) return;
      child.off('message', take);
      child.off('exit', end);
      resolve(answer);
    };
    child.on('message', take);
    child.once('exit', end);
    const question: ProbeQuestion = { id, isCollecting };
    child.send(question);
  });
}

/** A Git host that knows nothing and counts what it is asked. */
async function startHost() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    calls: (letters: string) => asked.filter((path) => path.includes(letters)).length,
    close: () => server.close(),
  };
}

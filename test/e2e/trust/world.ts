// Signalbox for one situation: the real API and the real jobs on a database of its own, with a clock that the situation
// moves. Jobs run only when the situation lets them, so it can act between any two of them.

import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger, runOnce, type WorkerEvents } from 'graphile-worker';
import { Client } from 'pg';
import type { Scope } from '#contract/common.ts';
import { endpoints, type Operation, type ResponseOf } from '#contract/endpoint/endpoint.ts';
import { createBlobStore } from '#db/health/blob-store.ts';
import { type Cell, indexCells, openCell } from '#db/cell.ts';
import { saveConnection } from '#db/account/connection-store.ts';
import { migrateCell } from '#db/migrate.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import { createTargetCache } from '#db/queue/target-cache.ts';
import type { Credentials } from '#host/connection.ts';
import type { HostFor } from '#host/host.ts';
import type { Deps } from '#http/deps.ts';
import { createApp } from '#http/app.ts';
import type { TaskDeps } from '#job/deps.ts';
import { createMirrors } from '#job/mirrors.ts';
import { tasks } from '#job/worker/task.ts';
import { type Cluster, startCluster } from '../../../script/postgres.ts';
import { openHosts } from '../../../src/hosts.ts';
import { silentLog } from '../../support/silent-log.ts';

type Clock = { readonly now: () => Date; readonly advance: (ms: number) => void };

type Answer = { readonly status: number; readonly body: unknown };

export type Api = {
  /** Calls an operation of the contract, and expects success. */
  readonly call: <Name extends Operation>(operation: Name, input: object) => Promise<ResponseOf<Name>>;
  /** Calls an operation, whatever the answer is. */
  readonly ask: (operation: Operation, input: object) => Promise<Answer>;
};

export type World = {
  readonly clock: Clock;
  readonly cell: Cell;
  readonly hostFor: HostFor;
  /** Where hosts send their webhooks to, without a slash at the end. */
  readonly url: string;
  readonly api: (scopes?: readonly Scope[]) => Promise<Api>;
  /** The API as the holder of a token that exists already. */
  readonly apiWith: (token: string) => Api;
  /** Connects the organization to a host; answers with the address and the secret for its webhooks. */
  readonly connect: (
    kind: 'github' | 'gitea',
    url: string,
    credentials: Credentials,
  ) => Promise<{ readonly url: string; readonly secret: string }>;
  /** Runs the jobs that are due, and the jobs they cause, until none is left. */
  readonly runJobs: (heldBack?: readonly string[]) => Promise<void>;
  /** From now on jobs are run by a worker that has just started, and remembers nothing. */
  readonly restartWorker: () => void;
  /** Makes every job due that waits for its time, or those of one name. */
  readonly makeJobsDue: (name?: string) => Promise<void>;
  /** The errors that jobs ended with; a worker tries such jobs again. */
  readonly jobErrors: unknown[];
  readonly close: () => Promise<void>;
};

export type Base = {
  readonly cluster: Cluster;
  readonly stop: () => Promise<void>;
};

const templateName = 'trust_template';

/** One PostgreSQL for all situations, with a migrated database that each of them gets a copy of. */
export async function openBase(): Promise<Base> {
  const cluster = await startCluster();
  try {
    await onCluster(cluster, `create database ${templateName}`);
    const cell = cellAt(cluster, templateName);
    await migrateCell(cell, new Date());
    await cell.close();
    return { cluster, stop: cluster.stop };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

const cellAt = (cluster: Cluster, database: string): Cell =>
  openCell({
    name: 'main',
    url: cluster.url(database),
    connections: 4,
    readerConnections: 1,
    onError: () => undefined,
  });

async function onCluster(cluster: Cluster, statement: string): Promise<void> {
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const configOf = (secretKey: Buffer): Deps['config'] => ({
  publicUrl: 'http://localhost:8080',
  sandbox: 'off',
  ticketUrl: null,
  gitHosts: [],
  webhook: { allow: { networks: [], hosts: [] }, timeoutMs: 1_000 },
  address: '127.0.0.1',
  isPublicUrlGiven: false,
  secretKey,
  oidc: null,
  upload: {
    bytesMax: 512 * 1_048_576,
    addressMs: 3_600_000,
    // Few, so that a situation can use them up.
    quota: { uploads: 3, bytes: 1_048_576 },
  },
  rateLimit: { perSecond: 100_000, burst: 100_000, metricsPerSecond: 100_000 },
});

export type WorldOptions = {
  /** Whether the sandbox serves the names that no connection has. */
  readonly sandbox: boolean;
  /** Put between the queue and its hosts, to act at an exact moment. */
  readonly wrapHosts?: (hostFor: HostFor) => HostFor;
};

export async function openWorld({ cluster }: Base, options: WorldOptions): Promise<World> {
  const database = `t_${randomBytes(6).toString('hex')}`;
  await onCluster(cluster, `create database ${database} template ${templateName} strategy file_copy`);
  const cell = cellAt(cluster, database);
  const dataDir = await mkdtemp(join(tmpdir(), 'signalbox-trust-'));
  let aheadMs = 0;
  const clock: Clock = {
    now: () => new Date(Date.now() + aheadMs),
    advance: (ms) => void (aheadMs += ms),
  };
  const secretKey = randomBytes(32);
  const config = { ...configOf(secretKey), sandbox: options.sandbox ? ('on' as const) : ('off' as const) };
  const hosts = await openHosts(
    { ...config, sandboxScripts: false, dataDir, publicUrl: null, clock, log: silentLog },
    [cell],
  );
  const hostFor = options.wrapHosts?.(hosts.hostFor) ?? hosts.hostFor;
  const { server } = await createApp({
    cells: indexCells([cell]),
    hostFor,
    isSandboxServing: hosts.isSandboxServing,
    refreshHosts: hosts.refresh,
    clock,
    log: silentLog,
    blobsOf: createBlobStore,
    config,
    version: 'trust',
    webFolder: join(dataDir, 'web'),
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  let worker: TaskDeps = {
    cell,
    clock,
    log: silentLog,
    hostFor,
    refreshHosts: hosts.refresh,
    mirrors: createMirrors(join(dataDir, 'mirror')),
    targets: createTargetCache(cell),
    blobs: createBlobStore(cell),
    sweepMs: 30_000,
    historyMonths: 24,
    commandNames: ['signalbox'],
    committer: null,
    publicUrl: config.publicUrl,
    isPublicUrlGiven: config.isPublicUrlGiven,
  };
  const jobErrors: unknown[] = [];
  const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
  return {
    clock,
    cell,
    hostFor,
    url,
    jobErrors,
    api: async (scopes = ['read', 'submit', 'admin', 'upload']) => {
      const token = await createToken(cell, organizationId, {
        name: scopes.join('-'),
        scopes,
        expiresAt: null,
      });
      return apiOf(server, token);
    },
    apiWith: (token) => apiOf(server, token),
    connect: async (kind, hostUrl, credentials) => {
      const connection = await saveConnection(cell.db, secretKey, {
        organizationId,
        kind,
        host: new URL(hostUrl).host,
        url: hostUrl,
        credentials: JSON.stringify(credentials),
      });
      await hosts.refresh();
      return { url: `${url}/hooks/${cell.name}_${connection.id}`, secret: connection.webhookSecret };
    },
    runJobs: (heldBack) => runJobs(worker, jobErrors, heldBack),
    restartWorker: () => void (worker = { ...worker }),
    makeJobsDue: async (name) => {
      await cell.pool.query(
        `update graphile_worker._private_jobs job set run_at = now() from graphile_worker._private_tasks task
         where task.id = job.task_id and job.run_at > now() and job.locked_at is null
           and task.identifier = coalesce($1, task.identifier)`,
        [name ?? null],
      );
    },
    close: async () => {
      hosts.close();
      await server.close();
      await worker.mirrors.close();
      await rm(dataDir, { recursive: true, force: true });
      await cell.close();
      await onCluster(cluster, `drop database if exists ${database} with (force)`);
    },
  };
}

async function runJobs(
  worker: TaskDeps,
  jobErrors: unknown[],
  heldBack: readonly string[] = [],
): Promise<void> {
  const events: WorkerEvents = new EventEmitter();
  events.on('job:error', ({ error }) => jobErrors.push(error));
  await runOnce({
    pgPool: worker.cell.pool,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    events,
    taskList: Object.fromEntries(
      Object.entries(tasks)
        .filter(([name]) => !heldBack.includes(name))
        .map(([name, task]) => [name, (payload) => task(worker, payload as never)]),
    ),
  });
}

type Server = Awaited<ReturnType<typeof createApp>>['server'];

function apiOf(server: Server, token: string): Api {
  const ask = async (operation: Operation, input: object): Promise<Answer> => {
    const { method, path } = endpoints[operation];
    const headers = { 'x-api-token': token, 'content-type': 'application/json' };
    const query = new URLSearchParams(input as Record<string, string>).toString();
    const response =
      method === 'POST'
        ? await server.inject({ method, url: path, headers, payload: JSON.stringify(input) })
        : await server.inject({ method, url: `${path}?${query}`, headers });
    return { status: response.statusCode, body: response.body === '' ? null : response.json<unknown>() };
  };
  return {
    ask,
    call: async <Name extends Operation>(operation: Name, input: object) => {
      const { status, body } = await ask(operation, input);
      if (status !== 200) throw new Error(`${operation} answered ${status}: ${JSON.stringify(body)}`);
      return body as ResponseOf<Name>;
    },
  };
}

// A world for tests: the real server on a real database, with a clock that is moved by hand and jobs that run when told.
import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Logger, runOnce, type WorkerEvents } from 'graphile-worker';
import type { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import type { Scope } from '#contract/common.ts';
import type { Endpoint } from '#contract/endpoint/endpoint-type.ts';
import { endpoints, type Operation, type ResponseOf } from '#contract/endpoint/endpoint.ts';
import { createBlobStore } from '#db/health/blob-store.ts';
import { type Cell, indexCells } from '#db/cell.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import type { HostFor } from '#host/host.ts';
import type { Deps } from '#http/deps.ts';
import { createApp } from '#http/app.ts';
import type { TaskDeps } from '#job/deps.ts';
import { createMirrors, type Mirrors } from '#job/mirrors.ts';
import { createKeptQueues } from '#db/queue/kept-entries.ts';
import { createTargetCache } from '#db/queue/target-cache.ts';
import { tasks } from '#job/worker/task.ts';
import { openHosts } from '../../src/hosts.ts';
import { openTestCell } from './database.ts';
import { checkResponse } from './openapi-check.ts';
import { silentLog } from './silent-log.ts';

type Answer<Body = unknown> = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: Body;
};

type ErrorAnswer = {
  error: { code: string; message: string; requestId: string; details?: { path: string; message: string }[] };
};

export type Client = {
  /**
   * Sends a request of the contract and expects success. A queue is created with the strategy manual unless the request
   * names one: its runs follow from its settings alone, so that a test can say which one passes or fails.
   */
  readonly call: <Name extends Operation>(operation: Name, input: object) => Promise<ResponseOf<Name>>;
  /** Sends a request of the contract and expects the given error. */
  readonly refusal: (operation: Operation, input: unknown, status: number) => Promise<ErrorAnswer['error']>;
  readonly send: (request: RawRequest) => Promise<Answer>;
};

type RawRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
};

export type World = {
  readonly cells: readonly Cell[];
  readonly cell: Cell;
  readonly deps: Deps;
  readonly server: Awaited<ReturnType<typeof createApp>>['server'];
  readonly clock: { now: () => Date; advance: (ms: number) => void };
  /** Runs every job that is due, and those they cause, until none is left; those held back wait. */
  readonly runJobs: (heldBack?: readonly string[]) => Promise<void>;
  /** Makes every job due that waits for its time. */
  readonly makeJobsDue: () => Promise<void>;
  /** What jobs have thrown; the worker tries such jobs again. */
  readonly jobErrors: unknown[];
  /** A client of an organization (made if it is not there) with a token of the given scopes. */
  readonly client: (organization?: string, scopes?: readonly Scope[], cell?: Cell) => Promise<Client>;
};

export type WorldOptions = {
  readonly cellNames?: readonly string[];
  readonly config?: Partial<Deps['config']>;
  /** Put between the queue and its hosts, to listen in. */
  readonly wrapHosts?: (hostFor: HostFor) => HostFor;
  /** Where the built dashboard is; else there is none. */
  readonly webFolder?: string;
  readonly wrapMirrors?: (mirrors: Mirrors) => Mirrors;
  /** Called for each job that begins. */
  readonly onJob?: () => void;
};

const allScopes: readonly Scope[] = ['read', 'submit', 'admin', 'upload'];

export async function openWorld(options: WorldOptions = {}): Promise<World & { close: () => Promise<void> }> {
  const opened = await Promise.all((options.cellNames ?? ['main']).map((name) => openTestCell(name)));
  const cells = opened.map(({ cell }) => cell);
  let offsetMs = 0;
  const clock = {
    now: () => new Date(Date.now() + offsetMs),
    advance: (ms: number) => {
      offsetMs += ms;
    },
  };
  const config = {
    address: '0.0.0.0',
    publicUrl: 'http://localhost:8080',
    sandbox: 'on' as const,
    ticketUrl: null,
    gitHosts: [],
    webhook: { allow: { networks: [], hosts: [] }, timeoutMs: 1_000 },
    isPublicUrlGiven: false,
    secretKey: null,
    oidc: null,
    upload: {
      bytesMax: 512 * 1_048_576,
      addressMs: 3_600_000,
      quota: { uploads: 20_000, bytes: 20_480 * 1_048_576 },
    },
    rateLimit: { perSecond: 100_000, burst: 100_000, metricsPerSecond: 100_000 },
    ...options.config,
  };
  const dataDir = await mkdtemp(join(tmpdir(), 'signalbox-world-'));
  const { wrapHosts = (hosts) => hosts, wrapMirrors = (mirrors) => mirrors } = options;
  const hosts = await openHosts(
    { ...config, sandboxScripts: true, dataDir, publicUrl: null, clock, log: silentLog },
    cells,
  );
  const hostFor = wrapHosts(hosts.hostFor);
  const deps: Deps = {
    cells: indexCells(cells),
    hostFor,
    isSandboxServing: hosts.isSandboxServing,
    refreshHosts: hosts.refresh,
    clock,
    log: silentLog,
    blobsOf: createBlobStore,
    config,
    version: 'test',
    webFolder: options.webFolder ?? join(dataDir, 'web'),
  };
  const { server } = await createApp(deps);
  await server.ready();

  const workers = cells.map((cell): TaskDeps => {
    const mirrors = wrapMirrors(createMirrors(join(dataDir, 'mirror', cell.name)));
    const targets = createTargetCache(cell);
    return {
      cell,
      clock,
      log: silentLog,
      hostFor,
      refreshHosts: hosts.refresh,
      mirrors,
      targets,
      queues: createKeptQueues(),
      blobs: createBlobStore(cell),
      sweepMs: 30_000,
      historyMonths: 24,
      commandNames: ['signalbox'],
      committer: null,
      publicUrl: config.publicUrl,
      isPublicUrlGiven: config.isPublicUrlGiven,
    };
  });
  const jobErrors: unknown[] = [];
  const runJobs = async (heldBack: readonly string[] = []) => {
    const events: WorkerEvents = new EventEmitter();
    events.on('job:error', ({ error }) => jobErrors.push(error));
    events.on('job:start', () => options.onJob?.());
    for (const worker of workers) {
      const { cell } = worker;
      const errorsBefore = jobErrors.length;
      await runOnce({
        pgPool: cell.pool,
        noHandleSignals: true,
        logger: new Logger(() => () => undefined),
        events,
        taskList: Object.fromEntries(
          Object.entries(tasks)
            .filter(([name]) => !heldBack.includes(name))
            .map(([name, task]) => [name, (payload) => task(worker, payload as never)]),
        ),
      });
      if (jobErrors.length > errorsBefore) await waitForReleases(cell.pool);
    }
  };

  return {
    cells,
    cell: cells[0]!,
    deps,
    server,
    clock,
    runJobs,
    makeJobsDue: async () => {
      for (const { pool } of cells)
        await pool.query(
          `select graphile_worker.reschedule_jobs(array(
            select id from graphile_worker.jobs where run_at > now() and locked_at is null), run_at := now())`,
        );
    },
    jobErrors,
    client: async (organization = 'acme', scopes = allScopes, cell = cells[0]!) => {
      const { id } = await ensureOrganization(cell.db, organization, organization);
      const token = await createToken(cell, id, { name: scopes.join('-'), scopes, expiresAt: null });
      return clientOf(server, token);
    },
    close: async () => {
      hosts.close();
      await server.close();
      for (const { mirrors } of workers) await mirrors.close();
      await rm(dataDir, { recursive: true, force: true });
      for (const { close } of opened) await close();
    },
  };
}

/** A world that ends with the test that opened it. */
export async function openWorldForTest(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options);
  onTestFinished(world.close);
  return world;
}

/** What `call` sends where a report is to be uploaded: for the sake of the question, not of the answer. */
const emptyReport = '<testsuites><testsuite name="none" tests="0"></testsuite></testsuites>';

export function clientOf(server: World['server'], token: string): Client {
  const send = async ({ method = 'POST', path, headers, body }: RawRequest): Promise<Answer> => {
    const response = await server.inject({
      method,
      url: path,
      headers: {
        'x-api-token': token,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: body }),
    });
    const type = response.headers['content-type'] ?? '';
    const parsed: unknown = type.startsWith('application/json') ? response.json() : response.body;
    checkResponse(method, path.split('?')[0]!, response.statusCode, type, parsed);
    return { status: response.statusCode, headers: response.headers, body: parsed };
  };
  const request = (operation: Operation, input: unknown) => {
    const { method, path, body }: Endpoint = endpoints[operation];
    if (method === 'POST' && body === undefined) return send({ path, body: JSON.stringify(input) });
    const query = new URLSearchParams(input as Record<string, string>).toString();
    const raw = body === 'report' ? { body: emptyReport } : {};
    return send({ method, path: query === '' ? path : `${path}?${query}`, ...raw });
  };
  return {
    send,
    call: async <Name extends Operation>(operation: Name, input: object) => {
      const { status, body } = await request(
        operation,
        operation === 'createQueue' ? { strategy: 'manual', ...input } : input,
      );
      if (status !== 200) throw new Error(`${operation} answered ${status}: ${JSON.stringify(body)}`);
      return body as ResponseOf<Name>;
    },
    refusal: async (operation, input, expected) => {
      const { status, body } = await request(operation, input);
      if (status !== expected)
        throw new Error(`${operation} answered ${status}, not ${expected}: ${JSON.stringify(body)}`);
      return (body as ErrorAnswer).error;
    },
  };
}

export const widgets = { host: 'sandbox.example', owner: 'acme', name: 'widgets' };
export const main = { repo: widgets, targetBranch: 'main' };
export const pr = (number: number) => ({ ...main, pr: { number } });

// runOnce ends without waiting for the statement that releases a failed job (graphile-worker 0.18, worker.js calls
// failJob without awaiting it), and a job that is still locked cannot be rescheduled.
async function waitForReleases(pool: Pool): Promise<void> {
  for (let turn = 0; turn < 400; turn++) {
    const { rowCount } = await pool.query(
      'select 1 from graphile_worker.jobs where locked_at is not null limit 1',
    );
    if (rowCount === 0) return;
    await setTimeout(5);
  }
}

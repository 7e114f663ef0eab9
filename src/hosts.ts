// Which host serves which name: adapters meet the database here and nowhere else.

import { join, resolve } from 'node:path';
import { assert } from '#base/assert.ts';
import type { Clock } from '#base/clock.ts';
import { appError } from '#base/error.ts';
import type { OrganizationId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import { createShelf } from '#base/shelf.ts';
import type { SandboxMode } from '#config/env.ts';
import type { Cell } from '#db/cell.ts';
import { isRealHost, listHosts, openConnection, saveCredentials } from '#db/connection-store.ts';
import { readContentUse, takeContent } from '#db/content-store.ts';
import type { SecretKey } from '#db/seal.ts';
import type {
  AdapterOptions,
  Connections,
  ContentBudget,
  Credentials,
  HostConnection,
} from '#host/connection.ts';
import { createGiteaHost } from '#host/gitea/host.ts';
import { createGithubHost } from '#host/github/host.ts';
import { type Host, HostError, type HostFor } from '#host/host.ts';
import { guardedSandbox } from '#host/sandbox/guarded-host.ts';
import { createSandboxHost, type SandboxHost } from '#host/sandbox/host.ts';
import { tracedHost } from '#host/traced-host.ts';
import { createSandboxStore } from './sandbox-store.ts';

type HostsOptions = {
  readonly sandbox: SandboxMode;
  readonly sandboxScripts: boolean;
  readonly dataDir: string;
  readonly secretKey: SecretKey | null;
  /** Where webhooks of the sandbox go; null: what they would tell is recorded directly. */
  readonly publicUrl: string | null;
  readonly clock: Clock;
  readonly log: Log;
};

export type Hosts = {
  /** Throws UNAVAILABLE while the connections of the cell have not been read. */
  readonly hostFor: HostFor;
  /** Whether the sandbox host serves in this cell, as far as this process knows. */
  readonly isSandboxServing: (cellName: string) => boolean;
  /** Whether the connections of the cell have been read. */
  readonly isRead: (cellName: string) => boolean;
  /** Resolves as soon as the connections of the cell have been read. */
  readonly whenRead: (cellName: string) => Promise<void>;
  /** Reads the connections again. */
  readonly refresh: () => Promise<void>;
  readonly close: () => void;
};

/** A host is connected in another process: it is served within this time. */
const refreshMs = 5_000;

/**
 * The hosts that organizations are connected to, and the sandbox where it may serve. Rejects if no cell can be read: a
 * process that does not know its connections must not answer. Beside cells that can be read, one that cannot is read
 * again until it can, and answers UNAVAILABLE meanwhile.
 */
export async function openHosts(options: HostsOptions, cells: readonly Cell[]): Promise<Hosts> {
  const { log } = options;
  const served = new Map(cells.map((cell) => [cell.name, createCellHosts(options, cell)]));
  const all = [...served.values()];
  const read = await Promise.allSettled(all.map((cell) => cell.read()));
  const failures = read.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (failures.length === all.length) throw failures[0];
  for (const [index, result] of read.entries())
    if (result.status === 'rejected')
      log.warn(
        { cell: cells[index]!.name, err: result.reason as unknown },
        'could not read host connections',
      );
  const refresh = async () => {
    await Promise.all(all.map((cell) => cell.read()));
  };
  const timer = setInterval(() => {
    for (const [name, cell] of served)
      cell
        .read()
        .catch((error: unknown) => log.warn({ cell: name, err: error }, 'could not read host connections'));
  }, refreshMs);
  timer.unref();
  return {
    hostFor: (cellName, hostName) => served.get(cellName)?.hostFor(hostName.toLowerCase()) ?? null,
    isSandboxServing: (cellName) => served.get(cellName)?.isSandboxServing() ?? false,
    isRead: (cellName) => served.get(cellName)?.isRead() ?? false,
    whenRead: async (cellName) => served.get(cellName)?.whenRead,
    refresh,
    close: () => clearInterval(timer),
  };
}

type CellHosts = {
  readonly hostFor: (hostName: string) => Host | null;
  readonly isSandboxServing: () => boolean;
  readonly isRead: () => boolean;
  readonly whenRead: Promise<void>;
  readonly read: () => Promise<void>;
};

function createCellHosts(options: HostsOptions, cell: Cell): CellHosts {
  const { clock, log, sandbox: mode } = options;
  const connected = new Map<string, Host>();
  /** Names with a connection or a repository of a real Git host; null: not read yet. */
  let real: ReadonlySet<string> | null = null;
  const firstRead = Promise.withResolvers<void>();
  const isSandboxServing = () => real !== null && (mode === 'on' || (mode === 'auto' && real.size === 0));

  const read = async () => {
    const names = await listHosts(cell.reader);
    for (const { host, kind } of names) {
      const adapter = kind === null ? undefined : adapters[kind];
      if (connected.has(host) || adapter === undefined) continue;
      const connections = connectionsOf(cell, options.secretKey);
      const budget: ContentBudget = {
        take: (key, wish) => takeContent(cell, key, wish),
        used: (key, at) => readContentUse(cell.reader, key, at),
      };
      connected.set(host, tracedHost(adapter({ host, connections, clock, log, budget }), host));
      log.info({ cell: cell.name, host, kind }, 'a host is connected');
    }
    const isFirst = real === null;
    const wasServing = isSandboxServing();
    real = new Set(names.map(({ host }) => host));
    if (isSandboxServing() && !wasServing)
      log.warn(
        { cell: cell.name, SIGNALBOX_SANDBOX: mode },
        'the sandbox host serves every name without a connected host; its pull requests and landings are not real',
      );
    if (!isSandboxServing() && wasServing && !isFirst)
      log.info({ cell: cell.name }, 'the sandbox host no longer serves: a host is connected');
    firstRead.resolve();
  };
  const sandboxFor = mode === 'off' ? () => null : createSandboxes(options, cell, read);

  return {
    hostFor: (hostName) => {
      if (real === null)
        throw appError('UNAVAILABLE', {
          public: 'The database cannot be reached. Try again in a moment.',
          retryAfterSeconds: 2,
        });
      const host = connected.get(hostName);
      if (host !== undefined) return host;
      return isSandboxServing() && !real.has(hostName) ? sandboxFor(hostName) : null;
    },
    isSandboxServing,
    isRead: () => real !== null,
    whenRead: firstRead.promise,
    read,
  };
}

/** Most names whose guarded sandbox is kept. */
const guardedMax = 1_000;

/** The sandbox for a name. Before each call it asks the database whether the name is still its own. */
function createSandboxes(
  options: HostsOptions,
  cell: Cell,
  read: () => Promise<void>,
): (hostName: string) => SandboxHost {
  const { publicUrl, clock, log, sandboxScripts: scripts } = options;
  const folder = join(resolve(options.dataDir), 'sandbox', cell.name);
  const store = createSandboxStore(cell);
  const sandbox = tracedHost(
    createSandboxHost({ store, folder, cellName: cell.name, publicUrl, scripts, clock, log }),
    'sandbox',
  );
  const guarded = new Map<string, SandboxHost>();
  return (hostName) => {
    const known = guarded.get(hostName);
    if (known !== undefined) return known;
    const made = guardedSandbox(sandbox, async () => {
      if (!(await isRealHost(cell.reader, options.sandbox === 'auto' ? null : hostName))) return;
      // Connected a moment ago: what is known of the hosts is read again at once, and this call is tried again later.
      await read();
      throw new HostError(
        'unavailable',
        `The sandbox host no longer serves ${hostName}: a host is connected.`,
      );
    });
    if (guarded.size >= guardedMax) guarded.clear();
    guarded.set(hostName, made);
    return made;
  };
}

const adapters: Partial<Record<string, (options: AdapterOptions) => Host>> = {
  gitea: createGiteaHost,
  github: createGithubHost,
};

/** Credentials are read and opened once in this time. */
const connectionKeptMs = 2_000;

function connectionsOf(cell: Cell, key: SecretKey | null): Connections {
  const kept = createShelf<HostConnection | null>(() => performance.now(), connectionKeptMs);
  const read = async (organizationId: OrganizationId, host: string): Promise<HostConnection | null> => {
    const found = await openConnection(cell.reader, key ?? Buffer.alloc(32), organizationId, host);
    if (found === null) return null;
    if (found.credentials === null)
      throw new HostError(
        'forbidden',
        `What lets us into ${host} cannot be opened: set SIGNALBOX_SECRET_KEY to the key it was connected with, or connect it again.`,
      );
    // Sealed by us, so it is what we wrote.
    return { ...found, credentials: JSON.parse(found.credentials) as Credentials };
  };
  return {
    find: (organizationId, host) =>
      kept.recall(`${organizationId} ${host}`, () => read(organizationId, host)),
    save: async ({ id, organizationId, host }, credentials) => {
      assert(key !== null, 'renewed credentials were opened with a key');
      await saveCredentials(cell.db, key, id, JSON.stringify(credentials));
      kept.forget(`${organizationId} ${host}`);
    },
  };
}

// Which Git host serves which name: adapters meet the database here and nowhere else.

import { join, resolve } from 'node:path';
import { assert } from '#base/assert.ts';
import type { Clock } from '#base/clock.ts';
import { appError } from '#base/error.ts';
import type { OrganizationId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import { createTtlCache, type TtlCache } from '#base/ttl-cache.ts';
import type { SandboxMode } from '#config/variable.ts';
import type { Cell } from '#db/cell.ts';
import { isRealHost, listHosts, openConnection, saveCredentials } from '#db/account/connection-store.ts';
import { readContentUse, takeContent } from '#db/host/content-store.ts';
import type { SecretKey } from '#db/seal.ts';
import type { Connections, ContentBudget, Credentials, ConnectionWithCredentials } from '#host/connection.ts';
import { type Host, HostError, type HostFor } from '#host/host.ts';
import { hostKinds, isHostKind } from '#host/kinds.ts';
import { guardedSandbox } from '#host/sandbox/guarded-host.ts';
import { createSandboxHost, type SandboxHost } from '#host/sandbox/host.ts';
import { tracedHost } from '#host/traced-host.ts';

type HostsOptions = {
  readonly sandbox: SandboxMode;
  readonly sandboxScripts: boolean;
  readonly dataDir: string;
  readonly secretKey: SecretKey | null;
  /** Where webhooks of the sandbox go; null: their content is recorded directly. */
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
  /** Reads the connections and their credentials again. */
  readonly refresh: () => Promise<void>;
  readonly close: () => void;
};

/** A host that another process connects is served within this time. */
const refreshMs = 5_000;

/**
 * The Git hosts that organizations are connected to, and the sandbox where it is allowed. Rejects if no cell
 * can be read: a process that does not know its connections must not answer. If only some cells can be read,
 * the others are retried until they can, and answer UNAVAILABLE meanwhile.
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
    await Promise.all(
      all.map((cell) => {
        cell.forgetCredentials();
        return cell.read();
      }),
    );
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
  readonly forgetCredentials: () => void;
};

function createCellHosts(options: HostsOptions, cell: Cell): CellHosts {
  const { clock, log, sandbox: mode } = options;
  const connected = new Map<string, Host>();
  const credentials: KeptConnections = createTtlCache({ ttlMs: connectionKeptMs, max: connectionsMax });
  /** Names with a connection or a repository of a real Git host; null: not read yet. */
  let real: ReadonlySet<string> | null = null;
  const firstRead = Promise.withResolvers<void>();
  const isSandboxServing = () => real !== null && (mode === 'on' || (mode === 'auto' && real.size === 0));

  const read = async () => {
    const names = await listHosts(cell.reader);
    for (const { host, kind } of names) {
      if (connected.has(host) || kind === null || !isHostKind(kind)) continue;
      const adapter = await hostKinds[kind].load();
      // Another read may have connected it meanwhile.
      if (connected.has(host)) continue;
      const connections = createConnections(cell, options.secretKey, credentials);
      const budget: ContentBudget = {
        take: (key, request) => takeContent(cell, key, request),
        used: (key, at) => readContentUse(cell.reader, key, at),
      };
      connected.set(host, tracedHost(adapter({ host, connections, clock, log, budget }), host));
      log.info({ cell: cell.name, host, kind }, 'git host connected');
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
      log.info({ cell: cell.name }, 'sandbox host disabled because a git host is connected');
    firstRead.resolve();
  };
  const sandboxFor = mode === 'off' ? () => null : createSandboxes(options, cell, read);

  return {
    hostFor: (hostName) => {
      if (real === null)
        throw appError('UNAVAILABLE', {
          public: 'The database is unreachable. Try again in a moment.',
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
    forgetCredentials: credentials.clear,
  };
}

/** Most host names whose guarded sandbox is kept. */
const guardedMax = 1_000;

/** The sandbox for a name. Before each call it asks the database whether the sandbox still serves it. */
function createSandboxes(
  options: HostsOptions,
  cell: Cell,
  read: () => Promise<void>,
): (hostName: string) => SandboxHost {
  const { publicUrl, clock, log, sandboxScripts: scripts } = options;
  const folder = join(resolve(options.dataDir), 'sandbox', cell.name);
  const sandbox = tracedHost(createSandboxHost({ cell, folder, publicUrl, scripts, clock, log }), 'sandbox');
  const guarded = createTtlCache<SandboxHost>({ max: guardedMax });
  return (hostName) => {
    const known = guarded.get(hostName);
    if (known !== undefined) return known;
    const made = guardedSandbox(sandbox, async () => {
      if (!(await isRealHost(cell.reader, options.sandbox === 'auto' ? null : hostName))) return;
      // A host was just connected: the connections are read again now, and this call is retried later.
      await read();
      throw new HostError(
        'unavailable',
        `The sandbox host no longer serves ${hostName}, because a Git host is connected.`,
      );
    });
    guarded.set(hostName, made);
    return made;
  };
}

/** How long decrypted credentials are cached. */
const connectionKeptMs = 2_000;
const connectionsMax = 10_000;

/** By organization and host. */
type KeptConnections = TtlCache<ConnectionWithCredentials | null>;

function createConnections(cell: Cell, key: SecretKey | null, cache: KeptConnections): Connections {
  const read = async (
    organizationId: OrganizationId,
    host: string,
  ): Promise<ConnectionWithCredentials | null> => {
    const found = await openConnection(cell.reader, key ?? Buffer.alloc(32), organizationId, host);
    if (found === null) return null;
    if (found.credentials === null)
      throw new HostError(
        'forbidden',
        `The credentials of ${host} cannot be decrypted. Set SIGNALBOX_SECRET_KEY to the key that they were encrypted with, or connect ${host} again.`,
      );
    // Signalbox encrypted it, so it is what Signalbox wrote.
    return { ...found, credentials: JSON.parse(found.credentials) as Credentials };
  };
  return {
    find: (organizationId, host) => cache.load(`${organizationId} ${host}`, () => read(organizationId, host)),
    save: async ({ id, organizationId, host }, credentials) => {
      assert(key !== null, 'renewed credentials were opened with a key');
      await saveCredentials(cell.db, key, id, JSON.stringify(credentials));
      cache.delete(`${organizationId} ${host}`);
    },
  };
}

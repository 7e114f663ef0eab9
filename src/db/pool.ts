// Connections. Every statement is prepared under a name made from its text, so PostgreSQL parses and plans it
// once per connection. Every connection is pipelined: statements are sent without waiting and answered in
// order. Reads share a few connections; a transaction has its own from a pool.

import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { Client, Pool, type PoolClient, types } from 'pg';
import { closeWhenSilent, type ConnectionLimits, optionsWithin } from './connection-limit.ts';

// Our bigints (sequence numbers, pull request numbers, milliseconds) stay far below 2^53.
types.setTypeParser(types.builtins.INT8, Number);

/** `once`: the statement is not kept prepared, so PostgreSQL plans each call for the values of that call. */
type RunOptions = { readonly once?: boolean };

/** A database, or one connection to it. */
export type Db = {
  /** Sends one statement and returns its rows. Only `statement.ts` and changes of the schema call it. */
  readonly run: (text: string, values: readonly unknown[], options?: RunOptions) => Promise<unknown[]>;
};

/** A database with a connection for each transaction. */
export type PooledDb = Db & {
  /** Runs every statement of `work` on one connection. */
  readonly onConnection: <Result>(work: (connection: Db) => Promise<Result>) => Promise<Result>;
};

const names = new Map<string, string>();
/** Texts past this number get no name: only generated texts (lists of changing length) could be so many. */
const namesMax = 2_000;

function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= namesMax) return known;
  const name = `s${createHash('sha1').update(text).digest('base64url')}`;
  names.set(text, name);
  return name;
}

/** The query for the driver; without values it may be a script, which cannot be prepared. */
function buildQuery(text: string, values: readonly unknown[], { once = false }: RunOptions = {}) {
  const name = values.length > 0 && !once ? statementName(text) : undefined;
  return name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };
}

type QueryConnection = Pick<PoolClient, 'query'>;

/** Sockets that buffer their writes until the end of this turn of the event loop. */
const gathering = new WeakSet<Writable>();

/**
 * Everything sent on a connection in one turn of the event loop goes out in one write, and PostgreSQL wakes
 * up once for all of it. The driver would write each statement separately.
 */
export function gatherSends(client: QueryConnection): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection;
  if (gathering.has(stream)) return;
  gathering.add(stream);
  stream.cork();
  process.nextTick(() => {
    gathering.delete(stream);
    stream.uncork();
  });
}

/** Sends a statement together with everything else that is sent in this turn. */
async function send(
  client: QueryConnection,
  ...[text, values, options]: Parameters<Db['run']>
): Promise<unknown[]> {
  gatherSends(client);
  const { rows }: { rows: unknown[] } = await client.query(buildQuery(text, values, options));
  return rows;
}

/** A database on one connection. The caller begins and ends its transactions. */
export const dbOnConnection = (client: QueryConnection): Db => ({
  run: (...query) => send(client, ...query),
});

export type PoolOptions = {
  readonly url: string;
  readonly max: number;
  readonly limits: ConnectionLimits;
  /** Further settings of the session, as PostgreSQL takes them on its command line. */
  readonly settings?: string;
  readonly onError: (error: Error) => void;
};

const connectionOptions = (url: string, limits: ConnectionLimits) => ({
  ...optionsWithin(limits),
  connectionString: url,
  pipeline: true,
  connectionTimeoutMillis: 5_000,
  application_name: 'signalbox',
});

function openPool({ url, max, limits, settings, onError }: PoolOptions): Pool {
  const options = settings === undefined ? {} : { options: settings };
  const pool = new Pool({ ...connectionOptions(url, limits), ...options, max, idleTimeoutMillis: 30_000 });
  pool.on('error', onError);
  // A connection that breaks while it is checked out emits the error on the client, not on the pool.
  pool.on('connect', (client) => {
    client.on('error', onError);
    closeWhenSilent(client, limits);
  });
  return pool;
}

/** For transactions: a connection serves one transaction at a time. */
export function openTransactionPool(options: PoolOptions): {
  readonly pool: Pool;
  readonly db: PooledDb;
} {
  const pool = openPool(options);
  const db: PooledDb = {
    run: async (...query) => (await pool.query<Record<string, unknown>>(buildQuery(...query))).rows,
    onConnection: async (work) => {
      const client = await pool.connect();
      try {
        return await work(dbOnConnection(client));
      } finally {
        client.release();
      }
    },
  };
  return { pool, db };
}

/**
 * For the job library, which marks jobs as taken and as done. These commits do not wait for the disk. If the
 * database crashes and loses one, a job runs once more, which every job allows.
 */
export function openJobPool(options: PoolOptions): Pool {
  const pool = openPool(options);
  pool.on('connect', (client) => void client.query('set synchronous_commit = off').catch(options.onError));
  return pool;
}

/** A few connections shared by all readers. They must never carry a transaction. */
export function openSharedPool({ url, max, limits, onError }: PoolOptions): {
  readonly db: Db;
  readonly close: () => Promise<void>;
} {
  const slots: (Promise<Client> | undefined)[] = Array.from({ length: max });
  const clients = new Set<Client>();
  let turn = 0;

  const open = async (slot: number): Promise<Client> => {
    const client = new Client(connectionOptions(url, limits));
    const forget = () => {
      clients.delete(client);
      slots[slot] = undefined;
    };
    client.on('error', (error) => {
      forget();
      onError(error);
    });
    client.on('end', forget);
    try {
      await client.connect();
      closeWhenSilent(client, limits);
    } catch (error) {
      forget();
      throw error;
    }
    clients.add(client);
    return client;
  };
  const next = (): Promise<Client> => {
    turn = (turn + 1) % max;
    return (slots[turn] ??= open(turn));
  };
  const close = async () => {
    await Promise.all([...clients].map((client) => client.end()));
  };
  return { db: { run: async (...query) => send(await next(), ...query) }, close };
}

// Connections. Every statement is prepared under a name made from its text, so PostgreSQL parses and plans it once per
// connection, and every connection is pipelined: statements are sent as they come and answered in order. Reads share a
// few connections; a transaction has one of its own from a pool.

import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import { Client, Pool, type PoolClient, types } from 'pg';
import { closeWhenSilent, type ConnectionLimits, optionsWithin } from './connection-limit.ts';
import type { DB } from './database.ts';

// Our bigints (sequence numbers, pull request numbers, milliseconds) stay far below 2^53.
types.setTypeParser(types.builtins.INT8, Number);

/** Sends one prepared statement and answers with its rows. */
type Run = (text: string, values: readonly unknown[]) => Promise<unknown[]>;

/** A database, as builders see it and as finished statements do, which skip the builders' layers. */
export type Db = Kysely<DB> & { readonly run: Run };

const names = new Map<string, string>();
/** Texts past this many are not named: only generated ones (lists of changing length) could be so many. */
const namesMax = 2_000;

function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= namesMax) return known;
  const name = `s${createHash('sha1').update(text).digest('base64url')}`;
  names.set(text, name);
  return name;
}

/** What a connection is asked; without values it may be a script, which cannot be prepared. */
function queryOf(text: string, values: readonly unknown[]) {
  const name = values.length > 0 ? statementName(text) : undefined;
  return name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };
}

type Connection = Pick<PoolClient, 'query'>;

/** Sockets that keep what is written to them until the end of this turn. */
const gathering = new WeakSet<Writable>();

/**
 * What is sent on a connection in one turn of the event loop goes out in one piece, and PostgreSQL wakes up once for all
 * of it. The driver would write each statement by itself.
 */
export function gatherSends(client: Connection): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection;
  if (gathering.has(stream)) return;
  gathering.add(stream);
  stream.cork();
  process.nextTick(() => {
    gathering.delete(stream);
    stream.uncork();
  });
}

/** Sends a statement beside whatever else is sent in this turn. */
function send(client: Connection, text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }> {
  gatherSends(client);
  return client.query(queryOf(text, values));
}

/** Kysely asks for pg's overloads; it calls only this one. */
const kyselyClient = (client: Connection, release: (destroy?: boolean) => void): PostgresPoolClient =>
  ({
    query: (text: string, values: readonly unknown[]) => client.query(queryOf(text, values)),
    release,
  }) as unknown as PostgresPoolClient;

const dbOf = (pool: PostgresPool, run: Run): Db =>
  Object.assign(new Kysely<DB>({ dialect: new PostgresDialect({ pool }) }), { run });

/** Made once for each connection: what a builder is made of costs more than a short statement. */
const ofConnection = new WeakMap<Connection, Db>();

/** A database on one connection that somebody else began a transaction on and will end. */
export function dbOnConnection(client: Connection): Db {
  const known = ofConnection.get(client);
  if (known !== undefined) return known;
  const only = kyselyClient(client, () => undefined);
  const pool = { options: {}, connect: () => Promise.resolve(only), end: () => Promise.resolve() };
  const db = dbOf(pool, async (text, values) => (await send(client, text, values)).rows);
  ofConnection.set(client, db);
  return db;
}

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
  // A connection that breaks while it is checked out tells its own listeners.
  pool.on('connect', (client) => {
    client.on('error', onError);
    closeWhenSilent(client, limits);
  });
  return pool;
}

/** For transactions: a connection belongs to one at a time. */
export function openTransactionPool(options: PoolOptions): {
  readonly pool: Pool;
  readonly db: Db;
} {
  const pool = openPool(options);
  const wrappers = new WeakMap<PoolClient, PostgresPoolClient>();
  const kyselyPool: PostgresPool = {
    options: {},
    connect: async () => {
      const client = await pool.connect();
      let wrapper = wrappers.get(client);
      if (wrapper === undefined) {
        wrapper = kyselyClient(client, (destroy) => client.release(destroy));
        wrappers.set(client, wrapper);
      }
      return wrapper;
    },
    end: () => pool.end(),
  };
  const db = dbOf(kyselyPool, async (text, values) => (await pool.query(queryOf(text, values))).rows);
  return { pool, db };
}

/**
 * For the library that keeps the jobs: it marks them as taken and as done. Nobody waits for the disk with that. What a
 * crash of the database takes back is a job that is done once more, and every job may be.
 */
export function openJobPool(options: PoolOptions): Pool {
  const pool = openPool(options);
  pool.on('connect', (client) => void client.query('set synchronous_commit = off').catch(options.onError));
  return pool;
}

/** A few connections shared by all readers at once. They must never carry a transaction. */
export function openSharedPool({ url, max, limits, onError }: PoolOptions): {
  readonly db: Db;
  readonly close: () => Promise<void>;
} {
  const slots: (Promise<Client> | undefined)[] = Array.from({ length: max });
  const clients = new Set<Client>();
  const wrappers = new WeakMap<Client, PostgresPoolClient>();
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
    wrappers.set(
      client,
      kyselyClient(client, () => undefined),
    );
    return client;
  };
  const next = (): Promise<Client> => {
    turn = (turn + 1) % max;
    return (slots[turn] ??= open(turn));
  };
  const close = async () => {
    await Promise.all([...clients].map((client) => client.end()));
  };
  const pool: PostgresPool = { options: {}, connect: async () => wrappers.get(await next())!, end: close };
  const db = dbOf(pool, async (text, values) => (await send(await next(), text, values)).rows);
  return { db, close };
}

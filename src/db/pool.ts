// Connections. Every statement is prepared under a name made from its text, so PostgreSQL parses and plans it once per
// connection. Reads share a few pipelined connections: any number of statements are in flight on each, and nothing
// waits for a free one. Transactions have a connection of their own from a pool.

import { createHash } from 'node:crypto';
import { Client, Pool, type PoolClient, types } from 'pg';
import type { PostgresPool, PostgresPoolClient } from 'kysely';

// Our bigints (sequence numbers, pull request numbers, milliseconds) stay far below 2^53.
types.setTypeParser(types.builtins.INT8, Number);

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

type Queryable = Pick<PoolClient, 'query'>;

function prepared(client: Queryable, release: (destroy?: boolean) => void): PostgresPoolClient {
  const query = (text: string, values: readonly unknown[]) => {
    const name = values.length > 0 ? statementName(text) : undefined;
    return client.query(
      name === undefined ? { text, values: [...values] } : { name, text, values: [...values] },
    );
  };
  // Kysely asks for pg's overloads; it calls only this one.
  return { query, release } as unknown as PostgresPoolClient;
}

export type PoolOptions = {
  readonly url: string;
  readonly max: number;
  readonly onError: (error: Error) => void;
};

const connectionOptions = (url: string) => ({
  connectionString: url,
  pipeline: true,
  connectionTimeoutMillis: 5_000,
  application_name: 'signalbox',
});

/** A pool for transactions: a connection belongs to one transaction at a time. */
export function transactionPool({ url, max, onError }: PoolOptions): { pool: Pool; kysely: PostgresPool } {
  const pool = new Pool({ ...connectionOptions(url), max, idleTimeoutMillis: 30_000 });
  pool.on('error', onError);
  // A connection that breaks while it is checked out tells its own listeners.
  pool.on('connect', (client) => client.on('error', onError));
  const wrappers = new WeakMap<PoolClient, PostgresPoolClient>();
  const kysely: PostgresPool = {
    options: {},
    connect: async () => {
      const client = await pool.connect();
      let wrapper = wrappers.get(client);
      if (wrapper === undefined) {
        wrapper = prepared(client, (destroy) => client.release(destroy));
        wrappers.set(client, wrapper);
      }
      return wrapper;
    },
    end: () => pool.end(),
  };
  return { pool, kysely };
}

/** A few connections shared by all readers at once. It must never carry a transaction. */
export function sharedPool({ url, max, onError }: PoolOptions): PostgresPool {
  const slots: (Promise<PostgresPoolClient> | undefined)[] = Array.from({ length: max });
  const clients = new Set<Client>();
  let turn = 0;

  const open = async (slot: number): Promise<PostgresPoolClient> => {
    const client = new Client(connectionOptions(url));
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
    } catch (error) {
      forget();
      throw error;
    }
    clients.add(client);
    return prepared(client, () => undefined);
  };

  return {
    options: {},
    connect: () => {
      turn = (turn + 1) % max;
      return (slots[turn] ??= open(turn));
    },
    end: async () => {
      await Promise.all([...clients].map((client) => client.end()));
    },
  };
}

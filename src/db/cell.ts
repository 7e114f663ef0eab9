// A cell is one database with whole organizations in it. No statement ever crosses two cells; any number of them stand
// side by side behind the same stateless API. A cell's name is part of every token and webhook address.

import type { Pool } from 'pg';
import { Kysely, PostgresDialect } from 'kysely';
import { appError } from '#base/error.ts';
import type { DB } from './database.ts';
import { type PoolOptions, sharedPool, transactionPool } from './pool.ts';

export type Cell = {
  readonly name: string;
  readonly url: string;
  /** For transactions and for statements that may take long. */
  readonly db: Kysely<DB>;
  /** For short reads outside a transaction: pipelined on a few shared connections. */
  readonly reader: Kysely<DB>;
  /** The pool behind `db`, which the worker shares. */
  readonly pool: Pool;
};

/** A transaction on a cell. Functions that must commit together with others take one. */
export type Tx = Kysely<DB>;

type CellOptions = {
  readonly name: string;
  readonly url: string;
  /** Most connections for transactions. */
  readonly connections: number;
  /** Connections shared by readers. */
  readonly readerConnections: number;
  readonly onError: PoolOptions['onError'];
};

export function openCell({ name, url, connections, readerConnections, onError }: CellOptions): Cell {
  const { pool, kysely } = transactionPool({ url, max: connections, onError });
  return {
    name,
    url,
    pool,
    db: new Kysely<DB>({ dialect: new PostgresDialect({ pool: kysely }) }),
    reader: new Kysely<DB>({
      dialect: new PostgresDialect({ pool: sharedPool({ url, max: readerConnections, onError }) }),
    }),
  };
}

export async function closeCell(cell: Cell): Promise<void> {
  await cell.reader.destroy();
  await cell.db.destroy();
  // Kysely leaves a pool that it never used open.
  if (!cell.pool.ended) await cell.pool.end();
}

/** The cells of this installation, in the order they were configured; the first is where unmarked tokens are looked up. */
export type Cells = {
  readonly first: Cell;
  readonly all: readonly Cell[];
  readonly find: (name: string) => Cell | undefined;
};

export function cellsOf(cells: readonly Cell[]): Cells {
  const [first] = cells;
  if (first === undefined) throw appError('INTERNAL', { public: 'No cell is configured.' });
  const byName = new Map(cells.map((cell) => [cell.name, cell]));
  return { first, all: cells, find: (name) => byName.get(name) };
}

// A cell is one database with whole organizations in it. No statement ever crosses two cells; any number of them stand
// side by side behind the same stateless API. A cell's name is part of every token and webhook address.

import type { Pool } from 'pg';
import { appError } from '#base/error.ts';
import { type Db, openSharedPool, openTransactionPool, type PoolOptions } from './pool.ts';

export type Cell = {
  readonly name: string;
  readonly url: string;
  /** For transactions and for statements that may take long. */
  readonly db: Db;
  /** For short reads outside a transaction: pipelined on a few shared connections. */
  readonly reader: Db;
  /** For locks of a session: always the same connection, for as long as it holds (db/alone.ts). */
  readonly locks: Db;
  /** The pool behind `db`, which the worker shares. */
  readonly pool: Pool;
  readonly close: () => Promise<void>;
};

/** A transaction on a cell (or, for what is a transaction by itself, the cell). */
export type Tx = Db;

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
  const { pool, db } = openTransactionPool({ url, max: connections, onError });
  const shared = openSharedPool({ url, max: readerConnections, onError });
  const locking = openSharedPool({ url, max: 1, onError });
  const close = async () => {
    await shared.close();
    await locking.close();
    await pool.end();
  };
  return { name, url, pool, db, reader: shared.db, locks: locking.db, close };
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

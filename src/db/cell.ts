// A cell is one database with whole organizations. No statement ever spans two cells; any number of cells run
// behind the same stateless API. A cell's name is part of every token and webhook URL.

import type { Pool } from 'pg';
import { appError } from '#base/error.ts';
import { maintenanceLimits, readLimits, workLimits } from './connection-limit.ts';
import { type Db, openSharedPool, openTransactionPool, type PooledDb, type PoolOptions } from './pool.ts';

export type Cell = {
  readonly name: string;
  readonly url: string;
  /** For transactions and for statements that may take long. */
  readonly db: PooledDb;
  /** For short reads outside a transaction: pipelined on a few shared connections. */
  readonly reader: Db;
  /** For long reads such as searches: each has its own connection, so nothing waits behind it. */
  readonly heavyReader: Db;
  /** For migrations and the removal of old rows, whose statements may take very long. */
  readonly maintenance: { readonly db: PooledDb; readonly pool: Pool };
  /** For session locks: always the same connection, for as long as it lives (db/alone.ts). */
  readonly locks: Db;
  /** The pool behind `db`, which the worker shares. */
  readonly pool: Pool;
  readonly close: () => Promise<void>;
};

/** A transaction on a cell, or the cell itself for a single statement. */
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

/** A long read must not use all processors of the database. */
const oneProcessor = '-c max_parallel_workers_per_gather=0';

/** Most concurrent long reads. */
const heavyConnections = 4;

export function openCell({ name, url, connections, readerConnections, onError }: CellOptions): Cell {
  const { pool, db } = openTransactionPool({ url, max: connections, limits: workLimits, onError });
  const shared = openSharedPool({ url, max: readerConnections, limits: readLimits, onError });
  const heavy = openTransactionPool({
    url,
    max: heavyConnections,
    limits: readLimits,
    settings: oneProcessor,
    onError,
  });
  const locking = openSharedPool({ url, max: 1, limits: readLimits, onError });
  const maintenance = openTransactionPool({ url, max: 2, limits: maintenanceLimits, onError });
  const close = async () => {
    await shared.close();
    await locking.close();
    await Promise.all([pool.end(), heavy.pool.end(), maintenance.pool.end()]);
  };
  return {
    name,
    url,
    pool,
    db,
    reader: shared.db,
    heavyReader: heavy.db,
    maintenance,
    locks: locking.db,
    close,
  };
}

/** The cells of this installation in configured order; tokens without a cell are looked up in the first. */
export type Cells = {
  readonly first: Cell;
  readonly all: readonly Cell[];
  readonly find: (name: string) => Cell | undefined;
};

export function indexCells(cells: readonly Cell[]): Cells {
  const [first] = cells;
  if (first === undefined) throw appError('INTERNAL', { public: 'No cell is configured.' });
  const byName = new Map(cells.map((cell) => [cell.name, cell]));
  return { first, all: cells, find: (name) => byName.get(name) };
}

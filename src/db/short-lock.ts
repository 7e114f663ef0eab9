// Schema changes beside a running service. A statement that waits for a lock makes every later statement wait
// that needs a conflicting lock. So a schema change waits for its locks only for a moment, gives up, lets the
// waiting statements go first, and retries: even behind a pg_dump of hours nothing else is blocked for longer
// than that moment.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, PooledDb } from './pool.ts';

export type Patience = {
  /** Longest wait for one lock. */
  readonly lockMs: number;
  /** The number of attempts. */
  readonly tries: number;
  /** Pause after the first attempt; it grows with each, up to ten times as much. */
  readonly pauseMs: number;
};

/** lock_not_available and deadlock_detected: a transaction that fails with them leaves nothing behind. */
const lockCodes = new Set(['55P03', '40P01']);

const isLockFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && lockCodes.has(String(error.code));

/** A lock was not available in time. The work can be retried later. */
export class LockedOutError extends Error {
  override readonly name = 'LockedOutError';
}

/**
 * Does the work on one connection, with the lock timeout and the number of attempts of `patience`. `work`
 * must be repeatable: it is a transaction, or its statements can be repeated.
 */
export async function withShortLocks<Result>(
  db: PooledDb,
  { lockMs, tries, pauseMs }: Patience,
  work: (connection: Db) => Promise<Result>,
): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await db.onConnection(async (connection) => {
        await connection.run(`set lock_timeout = ${lockMs}`, []);
        try {
          return await work(connection);
        } finally {
          // If this fails, the connection is broken and is not used again.
          await connection.run('reset lock_timeout', []).catch(() => undefined);
        }
      });
    } catch (error) {
      if (!isLockFailure(error)) throw error;
      if (tried >= tries)
        throw new LockedOutError(
          'A long transaction, such as a backup or a report, holds a lock on a table that the migration changes. ' +
            'Try again when it has finished.',
          { cause: error },
        );
      await sleep(pauseMs * Math.min(tried, 10));
    }
  }
}

/** Runs `work` as one transaction on a connection that has none. */
export async function inTransaction(connection: Db, work: () => Promise<void>): Promise<void> {
  await connection.run('begin', []);
  try {
    await work();
  } catch (error) {
    // If this fails, the connection is broken, and PostgreSQL rolls back.
    await connection.run('rollback', []).catch(() => undefined);
    throw error;
  }
  await connection.run('commit', []);
}

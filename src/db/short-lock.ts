// Changes of the schema beside a service that runs. A statement that waits for a lock makes every later statement wait
// that needs a conflicting one. So a change of the schema waits for its locks only for a moment, gives up, lets everything
// that waited go first, and tries again: behind a pg_dump of hours nothing else stands still for longer than that.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { DB } from './database.ts';

export type Patience = {
  /** Longest wait for one lock. */
  readonly lockMs: number;
  /** How often it is tried. */
  readonly tries: number;
  /** Pause after the first try; it grows with each, up to ten times as much. */
  readonly pauseMs: number;
};

/** lock_not_available, and deadlock_detected: a transaction that ends with them leaves nothing behind. */
const lockCodes = new Set(['55P03', '40P01']);

const isLockFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && lockCodes.has(String(error.code));

/** A lock could not be had in time. It can be tried later. */
export class LockedOutError extends Error {
  override readonly name = 'LockedOutError';
}

/**
 * Does the work on one connection whose statements wait for a lock only as long as `patience` says, and as often.
 * `work` must be repeatable: it is a transaction, or its statements can be repeated.
 */
export async function withShortLocks<Result>(
  db: Kysely<DB>,
  { lockMs, tries, pauseMs }: Patience,
  work: (connection: Kysely<DB>) => Promise<Result>,
): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await db.connection().execute(async (connection) => {
        await sql.raw(`set lock_timeout = ${lockMs}`).execute(connection);
        try {
          return await work(connection);
        } finally {
          // If this fails, the connection is broken and is not used again.
          await sql`reset lock_timeout`.execute(connection).catch(() => undefined);
        }
      });
    } catch (error) {
      if (!isLockFailure(error)) throw error;
      if (tried >= tries)
        throw new LockedOutError(
          'A long transaction, such as a backup or a report, holds a lock on a table that has to be changed. ' +
            'Try again when it has ended.',
          { cause: error },
        );
      await sleep(pauseMs * Math.min(tried, 10));
    }
  }
}

// Transactions, and the lock that permits writing a queue.
//
// A transaction that writes the queue as a whole (the plan, a change of settings) holds the queue's lock
// exclusively. One that writes a single entry shares the queue's lock with others of its kind and holds that
// entry's lock. They are advisory locks rather than row locks: they are fair, so a stream of commands cannot
// starve the plan, and taking one writes nothing. Two queues whose ids have the same hash only wait for each
// other.

import { assert } from '#base/assert.ts';
import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Cell, Tx } from './cell.ts';
import { dbOnConnection, gatherSends } from './pool.ts';
import { statement } from './statement.ts';

declare const held: unique symbol;
/** Held until the transaction ends. Functions that write queue state require one as a parameter. */
export type QueueLock = { readonly queueId: QueueId; readonly [held]: true };

/** Held until the transaction ends, by a transaction that writes the test data of a repository. */
export type TestsLock = { readonly repositoryId: RepositoryId; readonly [held]: true };

export const lockEntryStatement = `
  select pg_advisory_xact_lock_shared(hashtextextended($1, 0)), pg_advisory_xact_lock(hashtextextended($2, 0))`;

const lockQueue = statement<[queueId: string]>('select pg_advisory_xact_lock(hashtextextended($1, 0))');
const lockEntry = statement<[queueId: string, entryKey: string]>(lockEntryStatement);

/** The result of a transaction, and its last statements: the commit follows at once and waits for them. */
type TransactionResult<Result> = { readonly result: Result; readonly sent?: readonly Promise<unknown>[] };

/**
 * Connections are pipelined: `begin` goes out with the first statement and `commit` with the last, so a short
 * transaction costs two round trips. A statement that fails makes the commit a rollback, and the failure is thrown.
 */
async function transact<Result>(
  cell: Cell,
  work: (tx: Tx) => Promise<TransactionResult<Result>>,
): Promise<Result> {
  const client = await cell.pool.connect();
  let broken: Error | undefined;
  try {
    gatherSends(client);
    const begun = client.query('begin');
    begun.catch(() => undefined);
    try {
      const { result, sent = [] } = await work(dbOnConnection(client));
      const commit = client.query('commit');
      await settled([begun, ...sent, commit]);
      assert((await commit).command === 'COMMIT', 'a transaction whose statements succeeded commits');
      return result;
    } catch (error) {
      await client.query('rollback').catch((failure: unknown) => (broken = failure as Error));
      throw error;
    }
  } finally {
    // A connection that could not even roll back is not used again.
    client.release(broken);
  }
}

/** Waits for all to end, then throws the first failure: no statement is left running on the connection. */
async function settled(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises))
    if (outcome.status === 'rejected') throw outcome.reason;
}

export function withTransaction<Result>(cell: Cell, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return transact(cell, async (tx) => ({ result: await work(tx) }));
}

/**
 * The lock is sent ahead of the first statement of `work`. PostgreSQL answers in order, so that statement
 * reads under the lock. Anything `work` does outside the database must wait for an answer of the database
 * first.
 */
export function withQueueLock<Result>(
  cell: Cell,
  queueId: QueueId,
  work: (tx: Tx, lock: QueueLock) => Promise<Result>,
): Promise<Result> {
  return transact(cell, (tx) =>
    behind(lockQueue(tx, queueId), async () => ({ result: await work(tx, { queueId } as QueueLock) })),
  );
}

/** The same, for one entry. */
export function withEntryLock<Result>(
  cell: Cell,
  queueId: QueueId,
  prNumber: number,
  work: (tx: Tx, lock: QueueLock) => Promise<TransactionResult<Result>>,
): Promise<Result> {
  return transact(cell, (tx) =>
    behind(lockEntry(tx, queueId, `${queueId}#${prNumber}`), () => work(tx, { queueId } as QueueLock)),
  );
}

async function behind<Result>(locked: Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
  locked.catch(() => undefined);
  try {
    return await work();
  } finally {
    // If the lock failed, its error is the cause of the failure of `work`.
    await locked;
  }
}

const lockTests = statement<[repositoryId: string]>(
  "select pg_advisory_xact_lock(hashtextextended('tests ' || $1, 0))",
);

export function withTestsLock<Result>(
  cell: Cell,
  repositoryId: RepositoryId,
  work: (tx: Tx, lock: TestsLock) => Promise<Result>,
): Promise<Result> {
  return withTransaction(cell, async (tx) => {
    await lockTests(tx, repositoryId);
    return work(tx, { repositoryId } as TestsLock);
  });
}

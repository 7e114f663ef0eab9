// One transaction, and the lock that says who may write a queue.
//
// Whoever writes the queue as a whole (the plan, a change of settings) holds it exclusively; whoever writes one entry
// shares the queue with others of its kind and holds that entry. Advisory locks rather than row locks: they are fair,
// so a stream of commands cannot starve the plan, and taking one writes nothing. Two queues whose ids hash alike only
// wait for each other.

import { assert } from '#base/assert.ts';
import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Cell, Tx } from './cell.ts';
import { dbOnConnection, gatherSends } from './pool.ts';
import { statement } from './statement.ts';

declare const held: unique symbol;
/** Held until the transaction ends. A function that writes queue state takes one, so it cannot be called without. */
export type QueueLock = { readonly queueId: QueueId; readonly [held]: true };

/** Held until the transaction ends, by whoever writes what is known of a repository's tests. */
export type TestsLock = { readonly repositoryId: RepositoryId; readonly [held]: true };

export const lockEntryStatement = `
  select pg_advisory_xact_lock_shared(hashtextextended($1, 0)), pg_advisory_xact_lock(hashtextextended($2, 0))`;

const lockQueue = statement<[queueId: string]>('select pg_advisory_xact_lock(hashtextextended($1, 0))');
const lockEntry = statement<[queueId: string, entryKey: string]>(lockEntryStatement);

/** What a transaction answers with, and what it sent last without waiting: the commit follows at once, and waits for it. */
type Outcome<Result> = { readonly result: Result; readonly sent?: readonly Promise<unknown>[] };

/**
 * Connections are pipelined: `begin` goes out with the first statement and `commit` with the last, so a short
 * transaction costs two round trips. A statement that fails makes the commit a rollback, and the failure is thrown.
 */
async function transact<Result>(cell: Cell, work: (tx: Tx) => Promise<Outcome<Result>>): Promise<Result> {
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

/** Waits for all to end, then throws the first failure: nothing is left under way on the connection. */
async function settled(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises))
    if (outcome.status === 'rejected') throw outcome.reason;
}

export function withTransaction<Result>(cell: Cell, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return transact(cell, async (tx) => ({ result: await work(tx) }));
}

/**
 * The lock goes out ahead of what `work` sends first; PostgreSQL answers in order, so that is read under the lock. What
 * `work` does elsewhere must wait for an answer of the database.
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

/** The same, of one entry. */
export function withEntryLock<Result>(
  cell: Cell,
  queueId: QueueId,
  prNumber: number,
  work: (tx: Tx, lock: QueueLock) => Promise<Outcome<Result>>,
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
    // If it failed, that is why the work did.
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

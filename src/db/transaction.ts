// One transaction, and the lock that says who may write a queue.
//
// Whoever writes the queue as a whole (the plan, a change of settings) holds it exclusively; whoever writes one entry
// shares the queue with others of its kind and holds that entry. Advisory locks rather than row locks: they are fair,
// so a stream of commands cannot starve the plan, and taking one writes nothing. Two queues whose ids hash alike only
// wait for each other.

import type { QueueId } from '#base/id.ts';
import type { Cell, Tx } from './cell.ts';
import { statement } from './statement.ts';

declare const held: unique symbol;
/** Held until the transaction ends. A function that writes queue state takes one, so it cannot be called without. */
export type QueueLock = { readonly queueId: QueueId; readonly [held]: true };

const lockQueue = statement<[queueId: string]>('select pg_advisory_xact_lock(hashtextextended($1, 0))');
const lockEntry = statement<[queueId: string, entryKey: string]>(
  `select pg_advisory_xact_lock_shared(hashtextextended($1, 0)), pg_advisory_xact_lock(hashtextextended($2, 0))`,
);

export function withTransaction<Result>(cell: Cell, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return cell.db.transaction().execute(work);
}

export function withQueueLock<Result>(
  cell: Cell,
  queueId: QueueId,
  work: (tx: Tx, lock: QueueLock) => Promise<Result>,
): Promise<Result> {
  return withTransaction(cell, async (tx) => {
    await lockQueue(tx, queueId);
    return work(tx, { queueId } as QueueLock);
  });
}

/** The lock statement goes ahead of what `work` sends first, without waiting for its answer: one round trip less. */
export function withEntryLock<Result>(
  cell: Cell,
  queueId: QueueId,
  prNumber: number,
  work: (tx: Tx, lock: QueueLock) => Promise<Result>,
): Promise<Result> {
  return withTransaction(cell, async (tx) => {
    const [, result] = await Promise.all([
      lockEntry(tx, queueId, `${queueId}#${prNumber}`),
      work(tx, { queueId } as QueueLock),
    ]);
    return result;
  });
}

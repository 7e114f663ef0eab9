// Work that only one process of the installation does at a time. A session lock says which one: it writes
// nothing, and it ends with its connection, so no process waits for one that died. If a connection breaks in
// the middle of the work, a second process can start it, so doing the work twice must do no harm.
//
// The named queues of the job library do not fit: a worker that takes a job from one of them locks the rows
// of all free named queues (docs/decision/0001-engine.md).

import { isDatabaseAway } from './away.ts';
import type { Cell } from './cell.ts';
import { statement } from './statement.ts';

const tryLock = statement<[what: string], { is_ours: boolean }>(
  `select pg_try_advisory_lock(hashtextextended('alone ' || $1, 0)) as is_ours`,
);
const unlock = statement<[what: string]>(`select pg_advisory_unlock(hashtextextended('alone ' || $1, 0))`);

/** The work that this process does now: PostgreSQL would grant its own session the same lock twice. */
const underWay = new WeakMap<Cell, Set<string>>();

/** Does the work unless another caller or process is doing it; returns whether it did. */
export async function alone(cell: Cell, what: string, work: () => Promise<void>): Promise<boolean> {
  let ours = underWay.get(cell);
  if (ours === undefined) underWay.set(cell, (ours = new Set()));
  if (ours.has(what)) return false;
  ours.add(what);
  try {
    const [answer] = await tryLock(cell.locks, what);
    if (answer?.is_ours !== true) return false;
    try {
      await work();
    } finally {
      await unlock(cell.locks, what).catch(unlessAway);
    }
    return true;
  } finally {
    ours.delete(what);
  }
}

/** A lost connection has released its locks. */
function unlessAway(error: unknown): void {
  if (!isDatabaseAway(error)) throw error;
}

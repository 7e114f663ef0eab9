// Work that one does at a time, whoever's process it is. A lock of a session says who is at it: it writes nothing, and it
// ends with its connection, so nobody waits for a process that died. A connection that breaks in the middle lets a second
// begin, so what is done twice must do no harm.
//
// Not by the library's named queues: whoever takes a job of one of them locks the rows of all that are free
// (docs/decision/0001-engine.md).

import { isDatabaseAway } from './away.ts';
import type { Cell } from './cell.ts';
import { statement } from './statement.ts';

const tryLock = statement<[what: string], { is_ours: boolean }>(
  `select pg_try_advisory_lock(hashtextextended('alone ' || $1, 0)) as is_ours`,
);
const unlock = statement<[what: string]>(`select pg_advisory_unlock(hashtextextended('alone ' || $1, 0))`);

/** What this process is at: its own session would be given the same lock twice. */
const underWay = new WeakMap<Cell, Set<string>>();

/** Does the work unless somebody is at it; answers whether it did. */
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

/** A connection that is lost has taken its locks with it. */
function unlessAway(error: unknown): void {
  if (!isDatabaseAway(error)) throw error;
}

// The one way an entry is changed by a command: lock, load, decide, then facts and the dirty mark in one transaction.

import { v7 as newId } from 'uuid';
import { appError } from '#base/error.ts';
import type { EntryId, QueueId } from '#base/id.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import { decide } from '#core/queue/decide.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { loadEntry, saveEntries } from '#db/entry-store.ts';
import { enqueueReconcile } from '#db/job.ts';
import { withEntryLock } from '#db/transaction.ts';

type EntryRef = { readonly cell: Cell; readonly queueId: QueueId; readonly prNumber: number };

/** Throws what the rules refuse; answers false when the queue was deleted meanwhile. */
export async function changeEntry(
  { cell, queueId, prNumber }: EntryRef,
  commandFor: (nextSeniority: number) => EntryCommand,
  now: Date,
  /** What is recorded with the change, in its transaction. */
  alsoRecord: (tx: Tx) => readonly Promise<unknown>[] = () => [],
): Promise<boolean> {
  return withEntryLock(cell, queueId, prNumber, async (tx, lock) => {
    const loaded = await loadEntry(tx, lock, prNumber);
    if (loaded === null) return { result: false };
    const { queue, entry: before } = loaded;
    const decision = decide({ queue, entry: before }, commandFor(loaded.nextSeniority), now);
    if (decision.kind === 'rejected') throw appError(decision.code, { public: decision.message });
    if (decision.facts.length === 0) return { result: true };
    const change = { before, facts: decision.facts, newId: newId() as EntryId };
    return {
      result: true,
      sent: [saveEntries(tx, lock, [change], loaded.isTold), enqueueReconcile(tx, lock), ...alsoRecord(tx)],
    };
  });
}

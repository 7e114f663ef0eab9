// Every command that changes an entry works this way: lock, load, decide, then facts and the dirty mark in one transaction.

import { v7 as newId } from 'uuid';
import { appError } from '#base/error.ts';
import type { EntryId, QueueId } from '#base/id.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import { decide } from '#core/queue/decide.ts';
import { type AuditChange, type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Cell } from '#db/cell.ts';
import { loadEntry, saveEntries } from '#db/queue/entry-store.ts';
import { enqueueReconcile } from '#db/job/job.ts';
import { withEntryLock } from '#db/transaction.ts';

type EntryRef = { readonly cell: Cell; readonly queueId: QueueId; readonly prNumber: number };

/** Throws if the rules refuse the change; returns false if the queue was deleted meanwhile. */
export async function changeEntry(
  { cell, queueId, prNumber }: EntryRef,
  commandFor: (nextSeniority: number) => EntryCommand,
  now: Date,
  /** The line that the audit log gets with the change; absent: none. */
  audited?: { readonly by: Auditor; readonly change: AuditChange },
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
      sent: [
        saveEntries(tx, lock, [change], loaded.hasEndpoints),
        enqueueReconcile(tx, lock),
        ...(audited === undefined ? [] : [recordAudit(tx, audited.by, audited.change)]),
      ],
    };
  });
}

// What the worker does. Each task is at least once and idempotent: it reads the present state and acts on that.

import type { Clock } from '#base/clock.ts';
import type { EntryId } from '#base/id.ts';
import { changeEntry } from '#command/change-entry.ts';
import { planQueue } from '#core/queue/plan.ts';
import type { Cell } from '#db/cell.ts';
import { type EntryChange, loadLiveEntries, saveEntries } from '#db/entry-store.ts';
import { enqueueWakeUp, type JobPayloads } from '#db/job.ts';
import { dropOldPartitions, ensurePartitions } from '#db/partition.ts';
import { loadQueue, saveQueue } from '#db/queue-store.ts';
import { listQueuesOf } from '#db/queue-view.ts';
import { findRepository } from '#db/repository-store.ts';
import { withQueueLock } from '#db/transaction.ts';
import type { HostFor } from '#host/host.ts';

export type TaskDeps = {
  readonly cell: Cell;
  readonly clock: Clock;
  readonly hostFor: HostFor;
  readonly historyMonths: number;
};

/** Lock, one read, one pure decision, one transaction. */
export async function reconcileQueue(
  { cell, clock }: TaskDeps,
  { queueId }: JobPayloads['reconcile-queue'],
): Promise<void> {
  await withQueueLock(cell, queueId, async (tx, lock) => {
    const loaded = await loadQueue(tx, lock);
    if (loaded === null) return;
    const entries = await loadLiveEntries(tx, lock);
    const plan = planQueue({ queue: loaded.queue, entries }, clock.now());
    if (plan.queue !== loaded.queue) await saveQueue(tx, lock, plan.queue);
    const before = new Map(entries.map(({ entry }) => [entry.pullRequest.number, entry]));
    const changes = plan.facts.map(({ prNumber, fact }): EntryChange => {
      const entry = before.get(prNumber)!;
      return { before: entry, facts: [fact], newId: entry.id satisfies EntryId };
    });
    if (changes.length > 0) await saveEntries(tx, lock, changes);
    if (plan.wakeAt !== null) await enqueueWakeUp(tx, queueId, plan.wakeAt);
  });
}

/** Asks the host for a pull request and tells every queue of its repository what it said. */
export async function refreshPullRequest(
  { cell, clock, hostFor }: TaskDeps,
  { repositoryId, prNumber }: JobPayloads['refresh-pull-request'],
): Promise<void> {
  const repository = await findRepository(cell.reader, repositoryId);
  if (repository === null) return;
  const host = hostFor(cell.name, repository.host);
  if (host === null) return;
  for (const { queueId, branch } of await listQueuesOf(cell.reader, repositoryId, prNumber)) {
    const pullRequest = await host.readPullRequest({ repository, number: prNumber, targetBranch: branch });
    await changeEntry({ cell, queueId, prNumber }, () => ({ kind: 'observe', pullRequest }), clock.now());
  }
}

/** Once a day: the partitions of the coming months, and an end to those that are too old. */
export async function maintainHistory({ cell, clock, historyMonths }: TaskDeps): Promise<void> {
  await ensurePartitions(cell.db, clock.now());
  await dropOldPartitions(cell.db, clock.now(), historyMonths);
}

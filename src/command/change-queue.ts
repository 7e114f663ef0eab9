// Creating, changing, stopping and deleting a queue. Each is one transaction with its fact, its line in the
// audit log and the dirty mark.

import { v7 as newId } from 'uuid';
import { appError } from '#base/error.ts';
import type { OrganizationId, QueueId, RepositoryId } from '#base/id.ts';
import { countText } from '#base/number-text.ts';
import type { QueueChange } from '#core/queue/command.ts';
import { decideQueueChange, queueDifference, stopQueue } from '#core/queue/decide-queue.ts';
import type { Queue } from '#core/queue/model.ts';
import { changeSettings, defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import { type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { enqueueAtHost, enqueueDiagnosis, enqueueForRepository, enqueueReconcile } from '#db/job/job.ts';
import { noticeQueue } from '#db/queue-notice.ts';
import * as store from '#db/queue/queue-store.ts';
import { forgetUsual } from '#db/queue/trouble-store.ts';
import { ensureRepository, type FoundRepository } from '#db/account/repository-store.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { type QueueLock, withQueueLock, withTransaction } from '#db/transaction.ts';

type NewQueue = {
  readonly repository: FoundRepository;
  readonly branch: string;
  readonly settings: Partial<QueueSettings>;
};

/** A queue as the audit log names it. */
const auditSubject = (repository: RepositoryName, branch: string): string =>
  `${fullName(repository)} ${branch}`;

export function createQueue(
  cell: Cell,
  { repository, branch, settings }: NewQueue,
  by: Auditor,
): Promise<{ readonly queue: Queue; readonly repository: RepositoryRecord }> {
  return withTransaction(cell, async (tx) => {
    const kept = await ensureRepository(tx, by.organizationId, repository);
    const queue: Queue = {
      id: newId() as QueueId,
      targetBranch: branch,
      state: 'RUNNING',
      settings: changeSettings(defaultSettings, settings),
      switching: null,
      stateReason: null,
    };
    if (!(await store.createQueue(tx, kept.id, queue)))
      throw appError('QUEUE_ALREADY_EXISTS', {
        public: `The branch ${branch} of ${fullName(kept)} already has a merge queue. Change it with updateQueue.`,
      });
    const { actor, now } = by;
    await store.appendQueueFact(tx, queue.id, { kind: 'queue_created', payload: queue.settings }, actor, now);
    await recordAudit(tx, by, {
      action: 'queue.create',
      subject: auditSubject(kept, branch),
      before: null,
      after: settings,
    });
    // The branch is read before the first pull request is submitted.
    await enqueueAtHost(tx, 'sweep-queue', { queueId: queue.id });
    if (!repository.isSandbox) {
      await enqueueDiagnosis(tx, kept.id);
      await enqueueForRepository(tx, 'set-webhook', { repositoryId: kept.id });
    }
    return { queue, repository: kept };
  });
}

type QueueRef = {
  readonly cell: Cell;
  readonly queueId: QueueId;
  readonly repository: RepositoryName & { readonly id: RepositoryId };
  readonly by: Auditor;
};

const gone = () =>
  appError('QUEUE_NOT_FOUND', { public: 'The queue was deleted meanwhile. Create it with createQueue.' });

export function changeQueue(
  { cell, queueId, repository, by }: QueueRef,
  change: QueueChange,
): Promise<Queue> {
  return withQueueLock(cell, queueId, async (tx, lock) => {
    const loaded = await store.loadQueue(tx, lock);
    if (loaded === null) throw gone();
    const decision = decideQueueChange(loaded.queue, change, loaded.isAnythingUnderTest);
    if (decision.kind === 'rejected') throw appError(decision.code, { public: decision.message });
    await store.saveQueue(tx, lock, loaded.queue, decision.queue, by);
    if (Object.keys(change.settings).length > 0) {
      await forgetUsual(tx, queueId, by.now);
      await enqueueDiagnosis(tx, repository.id);
    }
    const payload = { ...change.settings, ...(change.state === undefined ? {} : { state: change.state }) };
    await store.appendQueueFact(tx, queueId, { kind: 'queue_changed', payload }, by.actor, by.now);
    const difference = queueDifference(loaded.queue, decision.queue);
    if (difference !== null)
      await recordAudit(tx, by, {
        action: 'queue.update',
        subject: auditSubject(repository, loaded.queue.targetBranch),
        ...difference,
      });
    await enqueueReconcile(tx, lock);
    return decision.queue;
  });
}

/**
 * Stops a queue until a person has acted, in the transaction that records the cause. A queue that is already
 * stopped for this reason stays as it is.
 */
export async function haltQueue(
  tx: Tx,
  lock: QueueLock,
  { organizationId, ...repository }: RepositoryName & { readonly organizationId: OrganizationId },
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<void> {
  const loaded = await store.loadQueue(tx, lock);
  if (loaded === null) return;
  const stopped = stopQueue(loaded.queue, reason);
  const difference = queueDifference(loaded.queue, stopped);
  if (difference === null) return;
  await store.saveQueue(tx, lock, loaded.queue, stopped, { actor: 'queue', now });
  const subject = auditSubject(repository, stopped.targetBranch);
  await recordAudit(
    tx,
    { organizationId, actor: 'queue', now },
    { action: 'queue.stop', subject, ...difference },
  );
}

export function deleteQueue({ cell, queueId, repository, by }: QueueRef): Promise<void> {
  return withQueueLock(cell, queueId, async (tx, lock) => {
    const loaded = await store.loadQueue(tx, lock);
    if (loaded === null) throw gone();
    const { queue, liveCount } = loaded;
    if (liveCount > 0)
      throw appError('QUEUE_NOT_EMPTY', {
        public: `The queue for ${queue.targetBranch} in ${fullName(repository)} still has ${countText(liveCount, 'pull request')}. Cancel them, or wait until they have merged.`,
      });
    await store.deleteQueue(tx, lock, by.now);
    await store.appendQueueFact(tx, queueId, { kind: 'queue_deleted', payload: {} }, by.actor, by.now);
    const subject = auditSubject(repository, queue.targetBranch);
    await recordAudit(tx, by, { action: 'queue.delete', subject, before: queue.settings, after: null });
    await noticeQueue(tx, queueId);
  });
}

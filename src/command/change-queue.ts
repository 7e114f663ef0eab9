// Creating, changing and deleting a queue. Each is one transaction with its fact and the dirty mark.

import { v7 as newId } from 'uuid';
import { appError } from '#base/error.ts';
import type { OrganizationId, QueueId } from '#base/id.ts';
import type { QueueChange } from '#core/queue/command.ts';
import { decideQueueChange } from '#core/queue/decide-queue.ts';
import type { Queue } from '#core/queue/model.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import type { Cell } from '#db/cell.ts';
import { enqueueAtHost, enqueueReconcile } from '#db/job.ts';
import { noticeQueue } from '#db/queue-notice.ts';
import * as store from '#db/queue-store.ts';
import { ensureRepository } from '#db/repository-store.ts';
import type { Repository } from '#db/scope-view.ts';
import { withQueueLock, withTransaction } from '#db/transaction.ts';

type NewQueue = {
  readonly organizationId: OrganizationId;
  readonly repository: RepositoryName;
  readonly branch: string;
  readonly settings: Partial<QueueSettings>;
  readonly actor: string;
};

export function createQueue(
  cell: Cell,
  { organizationId, repository, branch, settings, actor }: NewQueue,
  now: Date,
): Promise<{ readonly queue: Queue; readonly repository: Repository }> {
  return withTransaction(cell, async (tx) => {
    const kept = await ensureRepository(tx, organizationId, repository);
    const queue: Queue = {
      id: newId() as QueueId,
      targetBranch: branch,
      state: 'RUNNING',
      settings: { ...defaultSettings, ...settings },
      switching: null,
      stateReason: null,
    };
    if (!(await store.createQueue(tx, kept.id, queue)))
      throw appError('QUEUE_ALREADY_EXISTS', {
        public: `The branch ${branch} of ${fullName(kept)} already has a merge queue. Change it with updateQueue.`,
      });
    await store.appendQueueFact(tx, queue.id, { kind: 'queue_created', payload: queue.settings }, actor, now);
    // The branch is looked at before the first pull request comes.
    await enqueueAtHost(tx, 'sweep-queue', { queueId: queue.id });
    return { queue, repository: kept };
  });
}

type QueueRef = { readonly cell: Cell; readonly queueId: QueueId; readonly actor: string };

const gone = () =>
  appError('QUEUE_NOT_FOUND', { public: 'The queue was deleted meanwhile. Create it with createQueue.' });

export function changeQueue(
  { cell, queueId, actor }: QueueRef,
  change: QueueChange,
  now: Date,
): Promise<Queue> {
  return withQueueLock(cell, queueId, async (tx, lock) => {
    const loaded = await store.loadQueue(tx, lock);
    if (loaded === null) throw gone();
    const decision = decideQueueChange(loaded.queue, change, loaded.isAnythingUnderTest);
    if (decision.kind === 'rejected') throw appError(decision.code, { public: decision.message });
    await store.saveQueue(tx, lock, decision.queue);
    const payload = { ...change.settings, ...(change.state === undefined ? {} : { state: change.state }) };
    await store.appendQueueFact(tx, queueId, { kind: 'queue_changed', payload }, actor, now);
    await enqueueReconcile(tx, lock);
    return decision.queue;
  });
}

export function deleteQueue(
  { cell, queueId, actor }: QueueRef,
  repository: RepositoryName,
  now: Date,
): Promise<void> {
  return withQueueLock(cell, queueId, async (tx, lock) => {
    const loaded = await store.loadQueue(tx, lock);
    if (loaded === null) throw gone();
    const { queue, liveCount } = loaded;
    if (liveCount > 0)
      throw appError('QUEUE_NOT_EMPTY', {
        public: `The queue for ${queue.targetBranch} in ${fullName(repository)} still holds ${liveCount} pull request${liveCount === 1 ? '' : 's'}. Cancel or merge them first.`,
      });
    await store.deleteQueue(tx, lock, now);
    await store.appendQueueFact(tx, queueId, { kind: 'queue_deleted', payload: {} }, actor, now);
    await noticeQueue(tx, queueId);
  });
}

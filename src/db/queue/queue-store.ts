// Writes queue, and the facts about queues themselves.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Queue } from '#core/queue/model.ts';
import { queueChangeEvent } from '#core/queue/watch/queue-event.ts';
import type { Tx } from '../cell.ts';
import { queueColumns, toQueue, type QueueRow } from '../row.ts';
import { statement } from '../statement.ts';
import type { QueueLock } from '../transaction.ts';
import { recordQueueEvent } from '../webhook/queue-event.ts';

const insertQueue = statement<
  [id: string, repositoryId: string, branch: string, state: string, mode: string, settings: string],
  { id: string }
>(`
  insert into queue (id, repository_id, branch, state, mode, settings) values ($1, $2, $3, $4, $5, $6)
  on conflict (repository_id, branch) where deleted_at is null do nothing
  returning id`);

/** False when the branch already has a queue. */
export async function createQueue(tx: Tx, repositoryId: RepositoryId, queue: Queue): Promise<boolean> {
  const { mode, ...settings } = queue.settings;
  const rows = await insertQueue(
    tx,
    queue.id,
    repositoryId,
    queue.targetBranch,
    queue.state,
    mode,
    JSON.stringify(settings),
  );
  return rows.length > 0;
}

const selectQueue = statement<[id: string], QueueRow & { is_under_test: boolean; live_count: number }>(`
  select ${queueColumns},
    exists (select from queue_entry e where e.queue_id = q.id and e.line_rank = 0) as is_under_test,
    (select count(*) from queue_entry e where e.queue_id = q.id and e.line_rank is not null) as live_count
  from queue q where q.id = $1 and q.deleted_at is null`);

export type LoadedQueue = {
  readonly queue: Queue;
  readonly isAnythingUnderTest: boolean;
  /** Entries that have not ended. */
  readonly liveCount: number;
};

/** Null when the queue was deleted meanwhile. */
export async function loadQueue(tx: Tx, lock: QueueLock): Promise<LoadedQueue | null> {
  const [row] = await selectQueue(tx, lock.queueId);
  if (row === undefined) return null;
  return { queue: toQueue(row), isAnythingUnderTest: row.is_under_test, liveCount: row.live_count };
}

const updateQueue = statement<
  [
    id: string,
    state: string,
    mode: string,
    switchingMode: string | null,
    switchingReturnTo: string | null,
    settings: string,
    stateReason: string | null,
  ]
>(`
  update queue set state = $2, mode = $3, switching_mode = $4, switching_return_to = $5, settings = $6,
    state_reason = $7
  where id = $1`);

/** Who changed a queue, and when. */
type ChangeSource = { readonly actor: string; readonly now: Date };

/** Saves a queue as it is now, with the event of a change of its state. */
export async function saveQueue(
  tx: Tx,
  lock: QueueLock,
  before: Queue,
  queue: Queue,
  { actor, now }: ChangeSource,
): Promise<void> {
  const { mode, ...settings } = queue.settings;
  await updateQueue(
    tx,
    lock.queueId,
    queue.state,
    mode,
    queue.switching?.mode ?? null,
    queue.switching?.returnTo ?? null,
    JSON.stringify(settings),
    queue.stateReason,
  );
  const event = queueChangeEvent(before, queue, actor);
  if (event !== null) await recordQueueEvent(tx, lock.queueId, 'queue', event, now);
}

const markDeleted = statement<[id: string, at: Date]>(`update queue set deleted_at = $2 where id = $1`);

export async function deleteQueue(tx: Tx, lock: QueueLock, at: Date): Promise<void> {
  await markDeleted(tx, lock.queueId, at);
}

const insertQueueFact = statement<[queueId: string, at: Date, kind: string, actor: string, payload: string]>(`
  insert into queue_fact (queue_id, recorded_at, kind, actor, payload) values ($1, $2, $3, $4, $5)`);

type QueueFact = {
  readonly kind: 'queue_created' | 'queue_changed' | 'queue_deleted';
  readonly payload: object;
};

export async function appendQueueFact(
  tx: Tx,
  queueId: QueueId,
  fact: QueueFact,
  actor: string,
  at: Date,
): Promise<void> {
  await insertQueueFact(tx, queueId, at, fact.kind, actor, JSON.stringify(fact.payload));
}

// A host reports that something changed. Check results are recorded as reported; pull requests and branches
// are read again from the host. Repositories that the organization does not have are ignored: a webhook can
// name anything. A repository that was renamed or transferred is found by the id that its host gave it, and
// has its new name from then on.
//
// Events that arrive within a few milliseconds are recorded in one transaction, and each delivery is answered
// after the commit: under load a transaction costs more than its content. Few transactions run at once, and
// events that arrive meanwhile go into the next: the more there is to record, the larger the batches.

import { setTimeout as sleep } from 'node:timers/promises';
import type { OrganizationId, QueueId, RepositoryId } from '#base/id.ts';
import { mayBeCommand } from '#core/queue/text/comment-command.ts';
import type { KnownHead } from '#core/queue/rule/authority.ts';
import type { HostEvent, RepositoryMoved, WrittenComment } from '#core/queue/host-event.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { isDatabaseAway } from '#db/away.ts';
import { type CheckUpdate, recordChecks } from '#db/run/check-store.ts';
import { recordHead } from '#db/host/head-store.ts';
import {
  enqueueBranchPoll,
  enqueueDiagnosis,
  enqueueForRepository,
  enqueueReconciles,
  enqueueRefresh,
  type JobPayloads,
} from '#db/job/job.ts';
import { listQueues, listQueuesOnBranch } from '#db/queue/queue-view.ts';
import { followRepositories } from '#db/account/repository-move.ts';
import { withTransaction } from '#db/transaction.ts';
import { markCommentProcessed } from '#db/host/comment-store.ts';

type RecordedEvent = HostEvent | RepositoryMoved;
type Arrived = { readonly organizationId: OrganizationId; readonly event: RecordedEvent };
/** The events of one caller, and the promise that answers it. */
type Delivery = { readonly arrived: readonly Arrived[]; readonly answer: PromiseWithResolvers<void> };
type HostEventBatch = { readonly deliveries: Delivery[]; count: number };

const gatherMs = 2;
const batchMax = 1_000;
/** One computes while the other waits for the disk. */
const underWayMax = 2;

type Intake = {
  /** The batch that collects new events. */
  open: HostEventBatch | null;
  underWay: number;
  /** Batches that wait for their turn. */
  readonly waiting: (() => void)[];
};

const intakes = new WeakMap<Cell, Intake>();

/** Resolves when the events are durable. */
export function recordHostEvents(
  cell: Cell,
  organizationId: OrganizationId,
  events: readonly RecordedEvent[],
): Promise<void> {
  if (events.length === 0) return Promise.resolve();
  let intake = intakes.get(cell);
  if (intake === undefined) intakes.set(cell, (intake = { open: null, underWay: 0, waiting: [] }));
  if (intake.open === null || intake.open.count >= batchMax) intake.open = openBatch(cell, intake);
  const arrived = events.map((event) => ({ organizationId, event: storable(event) }));
  const answer = Promise.withResolvers<void>();
  intake.open.deliveries.push({ arrived, answer });
  intake.open.count += arrived.length;
  return answer.promise;
}

function openBatch(cell: Cell, intake: Intake): HostEventBatch {
  const batch: HostEventBatch = { deliveries: [], count: 0 };
  const recordInTurn = async () => {
    await sleep(gatherMs);
    if (intake.underWay >= underWayMax) await new Promise<void>((resolve) => intake.waiting.push(resolve));
    intake.underWay += 1;
    if (intake.open === batch) intake.open = null;
    try {
      await recordBatch(cell, batch);
    } finally {
      intake.underWay -= 1;
      intake.waiting.shift()?.();
    }
  };
  void recordInTurn();
  return batch;
}

/** Never rejects: each caller gets the result of its own events. */
async function recordBatch(cell: Cell, { deliveries }: HostEventBatch): Promise<void> {
  const together = (arrived: readonly Arrived[]) => withTransaction(cell, (tx) => record(tx, arrived));
  try {
    await together(deliveries.flatMap(({ arrived }) => arrived));
    for (const { answer } of deliveries) answer.resolve();
  } catch (error) {
    for (const { arrived, answer } of deliveries) {
      // While the database is unreachable, recording one by one fails as well, and takes longer.
      const failure = isDatabaseAway(error) ? error : await recordOneByOne(arrived, together);
      if (failure === null) answer.resolve();
      else answer.reject(failure);
    }
  }
}

/** An event that cannot be recorded does not affect the others. Returns null, or the first error. */
async function recordOneByOne(
  arrived: readonly Arrived[],
  recordAll: (arrived: readonly Arrived[]) => Promise<void>,
): Promise<unknown> {
  let failure: unknown = null;
  for (const one of arrived)
    await recordAll([one]).catch((error: unknown) => {
      failure ??= error;
    });
  return failure;
}

/** A text that PostgreSQL can store: without U+0000 and without lone surrogates, which JSON can contain. */
const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The same value with every text in it made storable. */
function storable<Value>(value: Value): Value {
  if (typeof value === 'string') return storableText(value) as Value;
  if (Array.isArray(value)) return value.map(storable) as Value;
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, storable(part)])) as Value;
}

async function record(tx: Tx, arrived: readonly Arrived[]): Promise<void> {
  const ids = await followRepositories(
    tx,
    arrived.map(({ organizationId, event: { repository } }) => ({ organizationId, repository })),
  );
  const checkUpdates: CheckUpdate[] = [];
  const refreshes = new Map<string, readonly [RepositoryId, number]>();
  const heads = new Map<string, readonly [RepositoryId, number, KnownHead]>();
  const comments: (WrittenComment & { readonly repositoryId: RepositoryId })[] = [];
  const labels = new Map<string, JobPayloads['handle-label']>();
  const moves: { repositoryId: RepositoryId; branch: string; sha: string | null }[] = [];
  const workflowMoves = new Map<RepositoryId, string[]>();
  for (const [index, { event }] of arrived.entries()) {
    const repositoryId = ids[index];
    if (repositoryId === null || repositoryId === undefined) continue;
    if (event.kind === 'check-changed')
      checkUpdates.push({ repositoryId, sha: event.sha, check: event.check });
    else if (event.kind === 'repository-moved') continue;
    else if (event.kind === 'branch-moved') {
      moves.push({ repositoryId, branch: event.branch, sha: event.sha });
      if (event.changesWorkflows === true)
        workflowMoves.set(repositoryId, [...(workflowMoves.get(repositoryId) ?? []), event.branch]);
    } else if (event.kind === 'comment-written') {
      const { kind: _, repository: _named, ...comment } = event;
      if (comment.action !== undefined || mayBeCommand(comment.text))
        comments.push({ ...comment, repositoryId });
    } else if (event.kind === 'label-changed') {
      const { number, label, labels: on } = event;
      labels.set(`${repositoryId} ${number} ${label}`, { repositoryId, number, label, labels: on });
    } else {
      const { number, head } = event;
      refreshes.set(`${repositoryId} ${number}`, [repositoryId, number]);
      if (head !== undefined)
        heads.set(`${repositoryId} ${number} ${head.sha}`, [
          repositoryId,
          number,
          { sha: head.sha, since: head.at },
        ]);
    }
  }
  // In a fixed order, so that two batches never deadlock.
  const dirty = checkUpdates.length === 0 ? [] : await recordChecks(tx, checkUpdates);
  if (dirty.length > 0) await enqueueReconciles(tx, dirty);
  for (const key of [...heads.keys()].toSorted()) await recordHead(tx, ...heads.get(key)!);
  const commentKey = (comment: (typeof comments)[number]) => `${comment.repositoryId} ${comment.commentId}`;
  const newComments: typeof comments = [];
  for (const comment of comments.toSorted((a, b) => (commentKey(a) < commentKey(b) ? -1 : 1)))
    if (await markCommentProcessed(tx, comment.repositoryId, comment.commentId)) newComments.push(comment);
  const moved = await movedQueues(tx, moves);
  const toCheck = await repositoriesToCheck(tx, workflowMoves);
  // All at once, so that the jobs are added in the order of their keys.
  await Promise.all([
    ...[...refreshes.values()].map((refresh) => enqueueRefresh(tx, ...refresh)),
    ...newComments.map((comment) => enqueueForRepository(tx, 'handle-comment', comment)),
    ...[...labels.values()].map((label) => enqueueForRepository(tx, 'handle-label', label)),
    ...moved.map((queueId) => enqueueBranchPoll(tx, queueId)),
    ...toCheck.map((repositoryId) => enqueueDiagnosis(tx, repositoryId)),
  ]);
}

/** The queues whose branch is not at its recorded commit. */
async function movedQueues(
  tx: Tx,
  moves: readonly { repositoryId: RepositoryId; branch: string; sha: string | null }[],
): Promise<readonly QueueId[]> {
  const found = new Set<QueueId>();
  for (const { repositoryId, branch, sha } of moves)
    for (const queueId of await listQueuesOnBranch(tx, repositoryId, branch, sha)) found.add(queueId);
  return [...found].toSorted();
}

/** The repositories in which a branch with a queue got other workflows. */
async function repositoriesToCheck(
  tx: Tx,
  moves: ReadonlyMap<RepositoryId, readonly string[]>,
): Promise<readonly RepositoryId[]> {
  const found: RepositoryId[] = [];
  for (const [repositoryId, branches] of moves) {
    const queues = await listQueues(tx, repositoryId);
    if (queues.some(({ targetBranch }) => branches.includes(targetBranch))) found.push(repositoryId);
  }
  return found.toSorted();
}

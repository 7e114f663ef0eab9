// A host says that something changed. What it says of checks is recorded as it is; pull requests and branches are asked
// for anew. Repositories the organization does not have are passed over: a webhook can name anything. A repository that was
// renamed or transferred is known by the id that its host gave it, and is called by its new name from then on.
//
// What arrives within a few milliseconds is recorded in one transaction, and each is answered when that has committed:
// under load a transaction costs more than what is in it. Few are under way at once, and what arrives meanwhile goes into
// the next: the more there is to record, the larger the batches.

import { setTimeout as sleep } from 'node:timers/promises';
import type { OrganizationId, QueueId, RepositoryId } from '#base/id.ts';
import { mayBeCommand } from '#core/queue/comment-command.ts';
import type { KnownHead } from '#core/queue/authority.ts';
import type { HostEvent, RepositoryMoved, WrittenComment } from '#core/queue/host-event.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { isDatabaseAway } from '#db/away.ts';
import { type CheckWord, recordChecks } from '#db/check-store.ts';
import { recordHead } from '#db/head-store.ts';
import {
  enqueueBranchLook,
  enqueueComment,
  enqueueLabel,
  enqueueReconciles,
  enqueueRefresh,
  type JobPayloads,
} from '#db/job.ts';
import { listQueuesOnBranch } from '#db/queue-view.ts';
import { followRepositories } from '#db/repository-move.ts';
import { withTransaction } from '#db/transaction.ts';
import { hearComment } from '#db/words-store.ts';

type RecordedEvent = HostEvent | RepositoryMoved;
type Arrived = { readonly organizationId: OrganizationId; readonly event: RecordedEvent };
/** What one caller brought, and whom to answer. */
type Delivery = { readonly arrived: readonly Arrived[]; readonly answer: PromiseWithResolvers<void> };
type Batch = { readonly deliveries: Delivery[]; count: number };

const gatherMs = 2;
const batchMax = 1_000;
/** One is being worked on while the other waits for the disk. */
const underWayMax = 2;

type Intake = {
  /** The batch that takes what arrives. */
  open: Batch | null;
  underWay: number;
  /** Batches that wait for their turn. */
  readonly waiting: (() => void)[];
};

const intakes = new WeakMap<Cell, Intake>();

/** Answers when it is durable. */
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

function openBatch(cell: Cell, intake: Intake): Batch {
  const batch: Batch = { deliveries: [], count: 0 };
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

/** Never rejects: each caller is answered for what it brought. */
async function recordBatch(cell: Cell, { deliveries }: Batch): Promise<void> {
  const together = (arrived: readonly Arrived[]) => withTransaction(cell, (tx) => record(tx, arrived));
  try {
    await together(deliveries.flatMap(({ arrived }) => arrived));
    for (const { answer } of deliveries) answer.resolve();
  } catch (error) {
    for (const { arrived, answer } of deliveries) {
      // While the database cannot be reached, one by one fails as well, and takes longer.
      const failure = isDatabaseAway(error) ? error : await recordOneByOne(arrived, together);
      if (failure === null) answer.resolve();
      else answer.reject(failure);
    }
  }
}

/** One event that cannot be recorded takes no other with it. Null, or what the first of those that failed said. */
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

/** A text as PostgreSQL can hold it: without U+0000, and without halves of surrogate pairs, which JSON can name. */
const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The same with every text in it as PostgreSQL can hold it. */
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
  const words: CheckWord[] = [];
  const refreshes = new Map<string, readonly [RepositoryId, number]>();
  const heads = new Map<string, readonly [RepositoryId, number, KnownHead]>();
  const comments: (WrittenComment & { readonly repositoryId: RepositoryId })[] = [];
  const labels = new Map<string, JobPayloads['obey-label']>();
  const moves: { repositoryId: RepositoryId; branch: string; sha: string | null }[] = [];
  for (const [index, { event }] of arrived.entries()) {
    const repositoryId = ids[index];
    if (repositoryId === null || repositoryId === undefined) continue;
    if (event.kind === 'check-changed') words.push({ repositoryId, sha: event.sha, check: event.check });
    else if (event.kind === 'repository-moved') continue;
    else if (event.kind === 'branch-moved')
      moves.push({ repositoryId, branch: event.branch, sha: event.sha });
    else if (event.kind === 'comment-written') {
      const { number, commentId, author, text, writtenAt } = event;
      if (mayBeCommand(text)) comments.push({ repositoryId, number, commentId, author, text, writtenAt });
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
  // In a fixed order, so that two batches never wait for each other in a circle.
  const dirty = words.length === 0 ? [] : await recordChecks(tx, words);
  if (dirty.length > 0) await enqueueReconciles(tx, dirty);
  for (const key of [...heads.keys()].toSorted()) await recordHead(tx, ...heads.get(key)!);
  const commentKey = (comment: (typeof comments)[number]) => `${comment.repositoryId} ${comment.commentId}`;
  const newComments: typeof comments = [];
  for (const comment of comments.toSorted((a, b) => (commentKey(a) < commentKey(b) ? -1 : 1)))
    if (await hearComment(tx, comment.repositoryId, comment.commentId)) newComments.push(comment);
  const moved = await movedQueues(tx, moves);
  // In one turn, so that they are added in the order of their keys.
  await Promise.all([
    ...[...refreshes.values()].map((refresh) => enqueueRefresh(tx, ...refresh)),
    ...newComments.map((comment) => enqueueComment(tx, comment)),
    ...[...labels.values()].map((label) => enqueueLabel(tx, label)),
    ...moved.map((queueId) => enqueueBranchLook(tx, queueId)),
  ]);
}

/** The queues whose branch is not where we know it to be. */
async function movedQueues(
  tx: Tx,
  moves: readonly { repositoryId: RepositoryId; branch: string; sha: string | null }[],
): Promise<readonly QueueId[]> {
  const found = new Set<QueueId>();
  for (const { repositoryId, branch, sha } of moves)
    for (const queueId of await listQueuesOnBranch(tx, repositoryId, branch, sha)) found.add(queueId);
  return [...found].toSorted();
}

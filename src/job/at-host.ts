// Classifies trouble with a Git host, once for every job that calls one. If the host does not answer, or is
// rate limited, the queue is marked as waiting for it, which stops its clocks, and the work is delayed and
// retried after a growing pause, without limit, and never earlier than the host asks for. A name that no host
// serves counts as a host that does not answer: its connection may be readable again in a moment. Everything
// else is thrown, for the worker's own retries and log.
//
// `atHost` is for the work of a queue, and opens the mirror of its repository. `withHost` is for work that
// events name by repository: a changed pull request, a comment, a label.
//
// Comments, checks and labels do not stop a queue: GitHub's incidents are often partial. Their job is
// delayed, and the queue stays as it is.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Tx } from '#db/cell.ts';
import type { QueueAtHost } from '#db/host/host-view.ts';
import { recordHostAway, recordHostBack } from '#db/host/host-store.ts';
import {
  enqueueAtHost,
  enqueueForRepository,
  enqueueReconciles,
  hurryAtHost,
  type HostTask,
  type JobPayloads,
  type RepositoryTask,
} from '#db/job/job.ts';
import { findRepository } from '#db/account/repository-store.ts';
import { withTransaction } from '#db/transaction.ts';
import { GitError } from '#git/error.ts';
import { type Host, HostError, type HostRepository } from '#host/host.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import type { TaskDeps } from './deps.ts';

/** The work cannot be done yet, though the host answers: it is delayed, and the queue continues meanwhile. */
export class NotYet extends Error {}

/** How long the host asks to wait; null if the error is of another kind. */
function pauseAsked(error: unknown): number | null {
  if (error instanceof NotYet) return 0;
  if (error instanceof HostError && error.trouble !== 'forbidden') return error.retryAfterMs ?? 0;
  return error instanceof GitError && putOffKinds.has(error.kind) ? 0 : null;
}

const putOffKinds: ReadonlySet<GitError['kind']> = new Set(['unreachable', 'fetching', 'damaged', 'no_room']);

/** The problem is our own disk, not the host or a pull request. */
const isOwnDisk = (error: unknown): error is GitError =>
  error instanceof GitError && (error.kind === 'damaged' || error.kind === 'no_room');

/** The mirror of the repository is incomplete: the host answers, and another worker may have a mirror. */
const isFetching = (error: unknown): boolean => error instanceof GitError && error.kind === 'fetching';

/**
 * Short at first, so that a worker that has the repository takes over; soon after a short first fetch, and
 * rarely during one that takes an hour.
 */
const pauseFetchingMaxMs = 5_000;

const pauseMaxMs = 30_000;
/** A name may stay unserved for good: only a landing keeps the usual pace of retries. */
const pauseUnservedMaxMs = 600_000;

class NoHost extends HostError {
  constructor(name: string) {
    super(
      'unavailable',
      `No connection serves the Git host ${name}. Connect it on the page Git hosts of the dashboard, or with \`signalbox admin connect\`.`,
    );
  }
}

function computeRetryPause(task: HostTask | RepositoryTask, tries: number, error: unknown): number {
  const isUnserved = error instanceof NoHost && task !== 'land';
  const max = isFetching(error) ? pauseFetchingMaxMs : isUnserved ? pauseUnservedMaxMs : pauseMaxMs;
  return Math.min(max, (isFetching(error) ? 250 : 500) * 2 ** Math.min(tries, 20));
}

/** Work that reads or writes a pull request for people: a queue does not wait for it. */
const isForPeople: Partial<Record<HostTask | RepositoryTask, true>> = {
  'post-status': true,
  'handle-comment': true,
  'handle-label': true,
  'sync-issues': true,
  'find-culprits': true,
  'comment-culprit': true,
  'set-webhook': true,
  'diagnose-queues': true,
  'verify-fixes': true,
};

/** Whether trouble with this work means that nothing can be decided about the queue. */
const stopsQueue = (task: HostTask | RepositoryTask, error: unknown): boolean =>
  isForPeople[task] !== true && !(error instanceof NotYet) && !isFetching(error) && !isOwnDisk(error);

type HostAttempt = {
  readonly task: HostTask | RepositoryTask;
  readonly tries: number;
  /** What the work is about, for the log. */
  readonly about: { readonly queue: QueueId } | { readonly repository: RepositoryId };
  /** The queues that wait while the host does not answer. */
  readonly queueIds: readonly QueueId[];
  readonly work: () => Promise<unknown>;
  readonly putOff: (tx: Tx, tries: number, pauseMs: number) => Promise<void>;
};

/**
 * Does the work. If the host does not answer, the work is delayed for at least as long as the host asks for.
 */
async function attempt({ cell, clock, log }: TaskDeps, wanted: HostAttempt): Promise<void> {
  const { task, tries, queueIds } = wanted;
  try {
    await wanted.work();
  } catch (error) {
    const asked = pauseAsked(error);
    if (asked === null) throw error;
    const now = clock.now();
    const pauseMs = Math.max(asked, computeRetryPause(task, tries, error));
    await withTransaction(cell, async (tx) => {
      const stopped: QueueId[] = [];
      // In a fixed order, so that two transactions cannot deadlock.
      if (stopsQueue(task, error))
        for (const queueId of queueIds.toSorted())
          if (await recordHostAway(tx, queueId, now)) stopped.push(queueId);
      await enqueueReconciles(tx, stopped);
      await wanted.putOff(tx, tries + 1, pauseMs);
    });
    const fields = { ...wanted.about, task, tries, err: error };
    if (isFetching(error)) log.debug(fields, 'job delayed until the git host is ready');
    else log.warn(fields, 'job delayed until the git host is ready');
  }
}

/** The host of these queues answers: delayed work is done now. */
async function recordAnswer({ cell, log }: TaskDeps, queueIds: readonly QueueId[]): Promise<void> {
  for (const queueId of queueIds) {
    await withTransaction(cell, async (tx) => {
      if (!(await recordHostBack(tx, queueId))) return;
      await enqueueReconciles(tx, [queueId]);
      await hurryAtHost(tx, queueId);
    });
    log.info({ queue: queueId }, 'git host reachable again');
  }
}

/** Does the work of a job at the host of its queue, with what `load` reads for it; null if there is nothing to do. */
export async function atHost<Task extends HostTask, Work extends QueueAtHost>(
  deps: TaskDeps,
  task: Task,
  payload: JobPayloads[Task],
  load: () => Promise<Work | null>,
  work: (loaded: Work, place: HostSession) => Promise<unknown>,
): Promise<void> {
  const { queueId, tries = 0 } = payload;
  await attempt(deps, {
    task,
    tries,
    about: { queue: queueId },
    queueIds: [queueId],
    putOff: (tx, nextTries, pauseMs) => enqueueAtHost(tx, task, { ...payload, tries: nextTries }, pauseMs),
    work: async () => {
      const loaded = await load();
      if (loaded === null) return;
      const place = await openHostSession(deps, loaded);
      try {
        await work(loaded, place);
      } catch (error) {
        if (isOwnDisk(error)) await recoverDisk(deps, loaded, error);
        throw error;
      } finally {
        deps.mirrors.leave(loaded.repository.id);
      }
      if (loaded.isHostAway && isForPeople[task] !== true) await recordAnswer(deps, [queueId]);
    },
  });
}

export type Served = { readonly host: Host; readonly repository: HostRepository };

/** A queue that the work of a repository is about. */
type ConcernedQueue = { readonly queueId: QueueId; readonly isHostAway: boolean };

/** Does the work of a job at the host of a repository; nothing if the repository is gone. */
export async function withHost<Task extends RepositoryTask>(
  deps: TaskDeps,
  task: Task,
  payload: JobPayloads[Task],
  queues: readonly ConcernedQueue[],
  work: (served: Served) => Promise<unknown>,
): Promise<void> {
  const { repositoryId, tries = 0 } = payload;
  await attempt(deps, {
    task,
    tries,
    about: { repository: repositoryId },
    queueIds: queues.map(({ queueId }) => queueId),
    putOff: (tx, nextTries, pauseMs) =>
      enqueueForRepository(tx, task, { ...payload, tries: nextTries }, pauseMs),
    work: async () => {
      const repository = await findRepository(deps.cell.reader, repositoryId);
      if (repository === null) return;
      await work({ host: await servingHost(deps, repository), repository });
      const waiting = queues.filter(({ isHostAway }) => isHostAway);
      await recordAnswer(
        deps,
        waiting.map(({ queueId }) => queueId),
      );
    },
  });
}

/** A damaged mirror is fetched again; on a full disk, the least recently used mirror is removed. */
async function recoverDisk(
  { mirrors, log }: TaskDeps,
  { repository }: QueueAtHost,
  error: GitError,
): Promise<void> {
  log.error({ repository: repository.id, err: error }, 'repository mirror unusable');
  if (error.kind === 'damaged') await mirrors.discard(repository.id);
  else await mirrors.makeRoom();
}

export type HostSession = { readonly host: Host; readonly mirror: Mirror };

/** The host of a queue and our mirror of its repository. */
async function openHostSession(deps: TaskDeps, { repository }: QueueAtHost): Promise<HostSession> {
  const host = await servingHost(deps, repository);
  return { host, mirror: await deps.mirrors.open(repository.id, () => host.remoteOf(repository)) };
}

async function servingHost(
  { hostFor, refreshHosts, cell }: TaskDeps,
  repository: HostRepository,
): Promise<Host> {
  const find = () => hostFor(cell.name, repository.host);
  const known = find();
  if (known !== null) return known;
  // It may have been connected a moment ago.
  await refreshHosts();
  const host = find();
  if (host === null) throw new NoHost(repository.host);
  return host;
}

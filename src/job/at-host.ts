// The boundary at which trouble with a host is sorted, once. A host that does not answer is nobody's fault: the queue is
// marked as waiting for it, which stops its clocks, and the work is put off and tried again after a growing pause, for
// as long as it takes. A name that no host serves counts as one that does not answer: its connection may be read again in
// a moment. Everything else is thrown, and the worker's own retries and log see it.
//
// Comments, checks and labels are no reason to stop a queue: GitHub's incidents are often partial. Their job puts itself
// off and leaves the queue as it is.

import type { QueueAtHost } from '#db/host-view.ts';
import { recordHostAway, recordHostBack } from '#db/host-store.ts';
import { enqueueAtHost, enqueueReconciles, hurryAtHost, type HostTask, type JobPayloads } from '#db/job.ts';
import { withTransaction } from '#db/transaction.ts';
import { GitError } from '#git/error.ts';
import { type Host, HostError } from '#host/host.ts';
import type { Mirror } from '#git/mirror.ts';
import type { TaskDeps } from './deps.ts';

/** The work cannot be done yet, though the host answers: it is put off, and the queue continues meanwhile. */
export class NotYet extends Error {}

/** How long the host may want us to wait; null if this is not that sort of trouble. */
function pauseAsked(error: unknown): number | null {
  if (error instanceof NotYet) return 0;
  if (error instanceof HostError && error.trouble !== 'forbidden') return error.retryAfterMs ?? 0;
  return error instanceof GitError && putOffKinds.has(error.kind) ? 0 : null;
}

const putOffKinds: ReadonlySet<GitError['kind']> = new Set(['unreachable', 'fetching', 'damaged', 'no_room']);

/** What is wrong with our own disk, and nothing with the host or with a pull request. */
const isOwnDisk = (error: unknown): error is GitError =>
  error instanceof GitError && (error.kind === 'damaged' || error.kind === 'no_room');

/** The mirror of the repository is not complete yet: the host answers, and another worker may have a mirror. */
const isFetching = (error: unknown): boolean => error instanceof GitError && error.kind === 'fetching';

/** Short at first, for a worker that has the repository; soon enough after the first fetch, and seldom enough for one that takes an hour. */
const pauseFetchingMaxMs = 5_000;

const pauseMaxMs = 30_000;
/** A name that no host serves may stay so for good: only a landing is tried as often as ever. */
const pauseUnservedMaxMs = 600_000;

class NoHost extends HostError {
  constructor(name: string) {
    super('unavailable', `No host serves ${name}: its connection is missing, or could not be read.`);
  }
}

function pauseOf(task: HostTask, tries: number, error: unknown): number {
  const isUnserved = error instanceof NoHost && task !== 'land';
  const max = isFetching(error) ? pauseFetchingMaxMs : isUnserved ? pauseUnservedMaxMs : pauseMaxMs;
  return Math.min(max, (isFetching(error) ? 250 : 500) * 2 ** Math.min(tries, 20));
}

/** Whether trouble with this work means that nothing can be decided about the queue. */
const stopsQueue = (task: HostTask, error: unknown): boolean =>
  task !== 'tell' && !(error instanceof NotYet) && !isFetching(error) && !isOwnDisk(error);

/** Does the work of a job at the host of its queue, with what `load` reads for it; null if there is nothing to do. */
export async function atHost<Task extends HostTask, Work extends QueueAtHost>(
  deps: TaskDeps,
  task: Task,
  payload: JobPayloads[Task],
  load: () => Promise<Work | null>,
  work: (loaded: Work, place: Place) => Promise<unknown>,
): Promise<void> {
  const { cell, clock, log } = deps;
  const { queueId, tries = 0 } = payload;
  try {
    const loaded = await load();
    if (loaded === null) return;
    const place = await placeOf(deps, loaded);
    try {
      await work(loaded, place);
    } catch (error) {
      if (isOwnDisk(error)) await recoverDisk(deps, loaded, error);
      throw error;
    } finally {
      deps.mirrors.leave(loaded.repository.id);
    }
    if (!loaded.isHostAway || task === 'tell') return;
    await withTransaction(cell, async (tx) => {
      if (!(await recordHostBack(tx, queueId))) return;
      await enqueueReconciles(tx, [queueId]);
      await hurryAtHost(tx, queueId);
    });
    log.info({ queue: queueId }, 'the host answers again');
  } catch (error) {
    const asked = pauseAsked(error);
    if (asked === null) throw error;
    const now = clock.now();
    const pauseMs = Math.max(asked, pauseOf(task, tries, error));
    await withTransaction(cell, async (tx) => {
      if (stopsQueue(task, error) && (await recordHostAway(tx, queueId, now)))
        await enqueueReconciles(tx, [queueId]);
      await enqueueAtHost(tx, task, { ...payload, tries: tries + 1 }, pauseMs);
    });
    const fields = { queue: queueId, task, tries, err: error };
    if (isFetching(error)) log.debug(fields, 'work at the host put off');
    else log.warn(fields, 'work at the host put off');
  }
}

/** A damaged mirror is fetched again; on a full disk, the mirror that was used least recently goes. */
async function recoverDisk(
  { mirrors, log }: TaskDeps,
  { repository }: QueueAtHost,
  error: GitError,
): Promise<void> {
  log.error({ repository: repository.id, err: error }, 'the mirror of a repository cannot be used');
  if (error.kind === 'damaged') await mirrors.discard(repository.id);
  else await mirrors.makeRoom();
}

export type Place = { readonly host: Host; readonly mirror: Mirror };

/** The host of a queue and our mirror of its repository. */
async function placeOf({ hostFor, cell, mirrors }: TaskDeps, { repository }: QueueAtHost): Promise<Place> {
  const host = hostFor(cell.name, repository.host);
  if (host === null) throw new NoHost(repository.host);
  return { host, mirror: await mirrors.open(repository.id, () => host.remoteOf(repository)) };
}

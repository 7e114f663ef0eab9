// The boundary at which trouble with a host is sorted, once. A host that does not answer is nobody's fault: the queue is
// marked as waiting for it, which stops its clocks, and the work is put off and tried again after a growing pause, for
// as long as it takes. Everything else is thrown, and the worker's own retries and log see it.

import type { QueueAtHost } from '#db/host-view.ts';
import { recordHostAway, recordHostBack } from '#db/host-store.ts';
import { enqueueAtHost, enqueueReconciles, hurryAtHost, type HostTask, type JobPayloads } from '#db/job.ts';
import { withTransaction } from '#db/transaction.ts';
import { GitError } from '#git/error.ts';
import { type Host, HostError } from '#host/host.ts';
import type { Mirror } from '#git/mirror.ts';
import type { TaskDeps } from './deps.ts';

/** How long the host may want us to wait; null if this is not that sort of trouble. */
function pauseAsked(error: unknown): number | null {
  if (error instanceof HostError && error.trouble !== 'forbidden') return error.retryAfterMs ?? 0;
  return error instanceof GitError && error.kind === 'unreachable' ? 0 : null;
}

const pauseMaxMs = 30_000;
const pauseOf = (tries: number): number => Math.min(pauseMaxMs, 500 * 2 ** tries);

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
    const place = loaded === null ? null : await placeOf(deps, loaded);
    if (loaded === null || place === null) return;
    await work(loaded, place);
    if (!loaded.isHostAway) return;
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
    const at = new Date(Date.now() + Math.max(asked, pauseOf(tries)));
    await withTransaction(cell, async (tx) => {
      if (await recordHostAway(tx, queueId, now)) await enqueueReconciles(tx, [queueId]);
      await enqueueAtHost(tx, task, { ...payload, tries: tries + 1 }, at);
    });
    log.warn({ queue: queueId, tries, err: error }, 'the host does not answer');
  }
}

export type Place = { readonly host: Host; readonly mirror: Mirror };

/** The host of a queue and our mirror of its repository; null if no host serves it any more. */
async function placeOf(
  { hostFor, cell, mirrors }: TaskDeps,
  { repository }: QueueAtHost,
): Promise<Place | null> {
  const host = hostFor(cell.name, repository.host);
  if (host === null) return null;
  return { host, mirror: await mirrors.open(repository.id, () => host.remoteOf(repository)) };
}

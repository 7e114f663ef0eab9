// A look at a queue: lock, one read, one pure decision, one transaction. What is to be done in the world follows as jobs
// of the same transaction, and what comes of it is recorded and marks the queue dirty again.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as newId } from 'uuid';
import type { RunId } from '#base/id.ts';
import { type Look, look } from '#core/queue/engine/look.ts';
import type { PictureEntry } from '#core/queue/engine/picture.ts';
import { headGate } from '#core/queue/head-gate.ts';
import { isEnded, isMergeabilityKnown, type Queue } from '#core/queue/model.ts';
import {
  enqueueAtHost,
  enqueueWithin,
  enqueueForgottenLanding,
  enqueueReconcile,
  enqueueRefresh,
  enqueueRefreshSoon,
  enqueueTell,
  enqueueTidy,
  enqueueWakeUp,
  type JobPayloads,
} from '#db/job.ts';
import { loadPicture } from '#db/picture-view.ts';
import { saveLook } from '#db/plan-store.ts';
import { withQueueLock } from '#db/transaction.ts';
import type { TaskDeps } from './deps.ts';

/** So many facts are decided and written within one short turn of the event loop. */
const turnMax = 200;

/** Test branches that nobody needs are removed together. */
const tidyAfterMs = 2_000;

/** When something is to be told: what begins or ends soon, what lies between with some patience. */
function tellingsOf(before: 'not' | 'soon' | 'later', { facts }: Look): Set<'soon' | 'later'> {
  const due = new Set<'soon' | 'later'>(before === 'not' ? [] : [before]);
  for (const bodies of facts.values())
    for (const body of bodies) due.add(body.kind === 'moved' && isEnded(body.to) ? 'soon' : 'later');
  return due;
}

const isTold = ({ settings }: Queue): boolean =>
  settings.commentsEnabled ||
  settings.statusCheckEnabled ||
  settings.stateLabelsEnabled ||
  settings.labelCommandsEnabled;

export async function reconcileQueue(
  { cell, clock, targets, queues, sweepMs, hostFor }: TaskDeps,
  { queueId }: JobPayloads['reconcile-queue'],
): Promise<void> {
  await withQueueLock(cell, queueId, async (tx, lock) => {
    const loaded = await loadPicture(tx, lock, targets.source, queues);
    if (loaded === null) return;
    const now = clock.now();
    const result = look(loaded.picture, now.getTime(), () => newId() as RunId);
    queues?.find(queueId)?.expectClosed(result);
    // What is decided about many entries has taken a while, and so does writing it: others have their turn in between.
    if (result.facts.size > turnMax) await nextTurn();
    const sent = [saveLook(tx, lock, loaded, result, now)];
    const send = (job: Promise<unknown>) => sent.push(job.then(() => undefined));
    // What is pushed for new runs takes the branches of ended ones with it.
    if (result.started.length > 0) send(enqueueAtHost(tx, 'publish-runs', { queueId }));
    else if (result.concluded.length > 0) send(enqueueTidy(tx, queueId, tidyAfterMs));
    if (result.landing !== null)
      send(enqueueAtHost(tx, 'land', { queueId, number: result.landing.landing.id }));
    else if (result.stored.landing !== null) send(enqueueForgottenLanding(tx, result.queue));
    if (result.probes.length > 0) send(enqueueAtHost(tx, 'probe-entries', { queueId }));
    // Who is ready is read before a look: with another mode it is another question.
    if (result.queue.settings.mode !== loaded.picture.queue.settings.mode) send(enqueueReconcile(tx, lock));
    // What was heard of them meanwhile was left to the landing to say, and it has nothing to say.
    if (loaded.picture.landing !== null && loaded.picture.landing.kind !== 'landed')
      for (const pr of loaded.picture.stored?.landing?.members ?? [])
        send(enqueueRefresh(tx, loaded.repository.id, pr));
    const open = loaded.picture.entries.flatMap(({ entry: { stage, pullRequest } }) =>
      stage.kind === 'not_ready' && !isMergeabilityKnown(pullRequest) ? [pullRequest.number] : [],
    );
    const host = hostFor(cell.name, loaded.repository.host);
    if (open.length > 0 && host?.leavesMergeToTry === true)
      send(enqueueAtHost(tx, 'try-merges', { queueId }));
    else for (const number of open) send(enqueueRefreshSoon(tx, loaded.repository.id, number));
    const isUnexamined = ({ entry }: PictureEntry) =>
      !isEnded(entry.stage) && headGate(loaded.picture.queue.settings, entry).kind === 'unexamined';
    if (host !== null && loaded.picture.entries.some(isUnexamined))
      send(enqueueAtHost(tx, 'examine-heads', { queueId }));
    // Where no host serves the repository there is nobody to tell.
    if (host !== null && isTold(result.queue))
      for (const when of tellingsOf(loaded.untold, result)) send(enqueueTell(tx, queueId, when));
    if (result.wakeAt !== null) send(enqueueWakeUp(tx, queueId, result.wakeAt - now.getTime()));
    // A queue that was stopped because its branch is not there is not asked about it again and again.
    const isUnseen = loaded.picture.branchSha === null;
    if (isUnseen && loaded.picture.queue.stateReason === null)
      send(enqueueAtHost(tx, 'sweep-queue', { queueId }));
    else if (isUnseen || result.places.size > 0) send(enqueueWithin(tx, 'sweep-queue', { queueId }, sweepMs));
    await Promise.all(sent);
  });
}

// Reconciles a queue: lock, one read, one pure decision, one transaction. The effects on the Git host follow
// as jobs of the same transaction; their results are recorded and mark the queue dirty again.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as newId } from 'uuid';
import type { RunId } from '#base/id.ts';
import { type Reconciliation, reconcile } from '#core/queue/engine/reconcile.ts';
import type { InputEntry } from '#core/queue/engine/reconcile-input.ts';
import { headGate } from '#core/queue/rule/head-gate.ts';
import { isEnded, isMergeabilityKnown, type Queue } from '#core/queue/model.ts';
import {
  enqueueAtHost,
  enqueueWithin,
  enqueueForgottenLanding,
  enqueueReconcile,
  enqueueRefresh,
  enqueueRefreshSoon,
  enqueueStatusComments,
  enqueueTidy,
  enqueueWakeUp,
  type JobPayloads,
} from '#db/job/job.ts';
import { loadReconcileInput } from '#db/queue/reconcile-view.ts';
import { saveReconciliation } from '#db/queue/plan-store.ts';
import { withQueueLock } from '#db/transaction.ts';
import type { TaskDeps } from '../deps.ts';

/** This many entries are read, decided and written within one short turn of the event loop. */
const turnMax = 200;

/** Test branches that no run needs are removed together. */
const tidyAfterMs = 2_000;
/** While no host serves the repository, removing them would only fail and be retried. */
const tidyUnservedMs = 600_000;

/**
 * When statuses are reported: the end of an attempt soon, other changes with some delay, and `before` as it
 * was due.
 */
function findDueStatusUpdates(
  before: 'not' | 'soon' | 'later',
  { facts }: Reconciliation,
): Set<'soon' | 'later'> {
  const due = new Set<'soon' | 'later'>(before === 'not' ? [] : [before]);
  for (const bodies of facts.values())
    for (const body of bodies) due.add(body.kind === 'moved' && isEnded(body.to) ? 'soon' : 'later');
  return due;
}

const reportsToHost = ({ settings }: Queue): boolean =>
  settings.commentsEnabled ||
  settings.statusCheckEnabled ||
  settings.stateLabelsEnabled ||
  settings.labelCommandsEnabled;

export async function reconcileQueue(
  { cell, clock, targets, queues, sweepMs, hostFor }: TaskDeps,
  { queueId }: JobPayloads['reconcile-queue'],
): Promise<void> {
  await withQueueLock(cell, queueId, async (tx, lock) => {
    const now = clock.now();
    const loaded = await loadReconcileInput(tx, lock, targets.source, now, queues);
    if (loaded === null) return;
    // With many entries reading, deciding and writing each take a while: let other work run in between.
    const isLong = loaded.input.entries.length > turnMax;
    if (isLong) await nextTurn();
    const result = reconcile(loaded.input, now.getTime(), () => newId() as RunId);
    queues?.find(queueId)?.expectClosed(result);
    if (isLong) await nextTurn();
    const sent = [saveReconciliation(tx, lock, loaded, result, now)];
    const send = (job: Promise<unknown>) => sent.push(job.then(() => undefined));
    const host = hostFor(cell.name, loaded.repository.host);
    // A push for new runs also deletes the branches of ended ones.
    if (result.started.length > 0) send(enqueueAtHost(tx, 'publish-runs', { queueId }));
    else if (result.concluded.length > 0 && host !== null) send(enqueueTidy(tx, queueId, tidyAfterMs));
    else if (result.concluded.length > 0)
      send(enqueueWithin(tx, 'publish-runs', { queueId }, tidyUnservedMs));
    for (const { run: number, suites, after } of result.reruns)
      send(enqueueAtHost(tx, 'rerun-jobs', { queueId, number, suites, after }));
    if (result.landing !== null)
      send(enqueueAtHost(tx, 'land', { queueId, number: result.landing.landing.id }));
    else if (result.stored.landing !== null) send(enqueueForgottenLanding(tx, result.queue));
    if (result.probes.length > 0) send(enqueueAtHost(tx, 'probe-entries', { queueId }));
    // Readiness is read before the queue is reconciled, and it depends on the mode: a new mode needs another
    // read.
    if (result.queue.settings.mode !== loaded.input.queue.settings.mode) send(enqueueReconcile(tx, lock));
    // Updates of these pull requests were left to the landing while it ran. It did not land, so they are read
    // again.
    if (loaded.input.landing !== null && loaded.input.landing.kind !== 'landed')
      for (const pr of loaded.input.stored?.landing?.members ?? [])
        send(enqueueRefresh(tx, loaded.repository.id, pr));
    const open = loaded.input.entries.flatMap(({ entry: { stage, pullRequest } }) =>
      stage.kind === 'not_ready' && !isMergeabilityKnown(pullRequest) ? [pullRequest.number] : [],
    );
    if (open.length > 0 && host?.leavesMergeToTry === true)
      send(enqueueAtHost(tx, 'try-merges', { queueId }));
    else for (const number of open) send(enqueueRefreshSoon(tx, loaded.repository.id, number));
    const isUnexamined = ({ entry }: InputEntry) =>
      !isEnded(entry.stage) && headGate(loaded.input.queue.settings, entry).kind === 'unexamined';
    if (host !== null && loaded.input.entries.some(isUnexamined))
      send(enqueueAtHost(tx, 'examine-heads', { queueId }));
    // Where no host serves the repository, statuses cannot be reported.
    if (host !== null && reportsToHost(result.queue))
      for (const when of findDueStatusUpdates(loaded.statusCommentDue, result))
        send(enqueueStatusComments(tx, queueId, when));
    if (result.wakeAt !== null) send(enqueueWakeUp(tx, queueId, result.wakeAt - now.getTime()));
    // A queue that was stopped because its branch is missing does not poll for it all the time.
    const isUnseen = loaded.input.branchSha === null;
    if (isUnseen && loaded.input.queue.stateReason === null)
      send(enqueueAtHost(tx, 'sweep-queue', { queueId }));
    else if (isUnseen || result.places.size > 0) send(enqueueWithin(tx, 'sweep-queue', { queueId }, sweepMs));
    await Promise.all(sent);
  });
}

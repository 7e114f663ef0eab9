// Polls the Git host for what webhooks missed: the tip of the branch, the checks of every run, test branches
// that a crash left behind, and pull requests without a recent event. Active queues are polled at most once
// per interval, idle ones about once an hour.

import { createTtlCache, type TtlCache } from '#base/ttl-cache.ts';
import { type CheckUpdate, recordChecks } from '#db/run/check-store.ts';
import { concludeForgottenRuns } from '#db/run/run-store.ts';
import { isMergeabilityKnown } from '#core/queue/model.ts';
import {
  listLivePulls,
  listTestBranches,
  type LiveEntry,
  loadSweeping,
  recordBranch,
  type Sweeping,
} from '#db/host/host-store.ts';
import {
  enqueueAtHost,
  enqueueWithin,
  enqueueForgottenLanding,
  enqueueReconcile,
  enqueueRefresh,
  type JobPayloads,
} from '#db/job/job.ts';
import { withQueueLock } from '#db/transaction.ts';
import { recordCommentsSynced, findCommentsSyncedAt } from '#db/host/comment-store.ts';
import { haltQueue } from '#command/change-queue.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import { GitError } from '#git/error.ts';
import { branchRef } from '#git/ref.ts';
import { HostError } from '#host/host.ts';
import { atHost, type HostSession } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';
import { readChecksByCommit } from '../run-check.ts';

/**
 * One poll in this many reads pull requests, comments and labels. Each poll reads pull requests of unknown
 * mergeability.
 */
const refreshEvery = 10;

/** How often each worker has polled each queue. It only saves calls, so losing it does no harm. */
const sweepsByWorker = new WeakMap<TaskDeps, TtlCache<number>>();
const sweepsMax = 100_000;

export async function sweepQueue(deps: TaskDeps, payload: JobPayloads['sweep-queue']): Promise<void> {
  const { cell, sweepMs } = deps;
  const { isQuick = false, ...rest } = payload;
  const { queueId } = rest;
  const load = () => loadSweeping(cell.db, queueId);
  await atHost(deps, 'sweep-queue', rest, load, async (work, place) => {
    await sweep(deps, work, place, isQuick);
    if (work.live.length > 0 && !isQuick) await enqueueWithin(cell.db, 'sweep-queue', { queueId }, sweepMs);
  });
}

/**
 * The refs to read from the remote: the branch and, unless the poll is quick, the test branches of its queue.
 */
export const refsToPoll = (targetBranch: string, isQuick: boolean): readonly string[] => [
  branchRef(targetBranch),
  ...(isQuick ? [] : [`refs/heads/signalbox/${targetBranch}/*`]),
];

async function sweep(deps: TaskDeps, work: Sweeping, place: HostSession, isQuick: boolean): Promise<void> {
  const { cell } = deps;
  const { queue, repository } = work;
  const ref = branchRef(queue.targetBranch);
  const refs = await place.mirror.remoteRefs(refsToPoll(queue.targetBranch, isQuick));
  const { updates: checkUpdates, refresh } = isQuick
    ? { updates: [], refresh: [] }
    : await sweepRest(deps, work, place, refs);
  const tip = refs.get(ref) ?? null;
  const { isKnown, halt } = await whyHalt(work, place, tip);
  await withQueueLock(cell, queue.id, async (tx, lock) => {
    const news = checkUpdates.length > 0 ? await recordChecks(tx, checkUpdates) : [];
    const moved = isKnown && tip !== null && (await recordBranch(tx, queue.id, tip, work.branchEpoch));
    if (halt !== null && (moved || tip === null))
      await haltQueue(tx, lock, repository, { reason: halt, now: deps.clock.now() });
    if (moved || news.length > 0 || tip === null) await enqueueReconcile(tx, lock);
    // In one turn of the event loop, so that they are added in the order of their keys.
    await Promise.all([...refresh].map((number) => enqueueRefresh(tx, repository.id, number)));
    await enqueueForgottenLanding(tx, queue);
    if (work.hasForgottenRuns) {
      await concludeForgottenRuns(tx, lock, deps.clock.now());
      await enqueueAtHost(tx, 'publish-runs', { queueId: queue.id });
    }
  });
}

/**
 * Polls everything but the branch: removes stray test branches, records comments and labels, and returns the
 * check updates and the pull requests to refresh.
 */
async function sweepRest(
  deps: TaskDeps,
  work: Sweeping,
  place: HostSession,
  refs: ReadonlyMap<string, string>,
): Promise<{ readonly updates: readonly CheckUpdate[]; readonly refresh: readonly number[] }> {
  const { queue } = work;
  // Read after the refs of the host: a run is recorded before its branch is pushed, so a branch that is not
  // needed is a stray.
  const needed = await listTestBranches(deps.cell.db, queue.id);
  await removeStrays(work, place, refs, new Set(needed.map(branchRef)));
  const turn = takePollTurn(deps, queue.id);
  if (turn % refreshEvery === 0) {
    await pollCommentsAndLabels(deps, work, place);
    await dropEndedPulls(deps, work, place);
  }
  return { updates: await readRunChecks(work, place), refresh: await dueForRefresh(deps, work, place, turn) };
}

async function removeStrays(
  { queue }: Sweeping,
  { mirror }: HostSession,
  refs: ReadonlyMap<string, string>,
  needed: ReadonlySet<string>,
): Promise<void> {
  // Only refs that end in the id of a run: a queue on a longer branch name may have its test branches below
  // this prefix.
  const prefix = `refs/heads/signalbox/${queue.targetBranch}/`;
  const isOurs = (ref: string) =>
    ref.startsWith(prefix) && /^(?:pr-\d+|fix)\/[0-9a-f-]{36}$/.test(ref.slice(prefix.length));
  const strays = [...refs].filter(([ref]) => isOurs(ref) && !needed.has(ref));
  if (strays.length === 0) return;
  await mirror.push(
    strays.map(([ref, sha]) => ({ ref, from: sha, to: null })),
    { isAtomic: false },
  );
}

/**
 * Drops the refs of pull requests that are in no queue from the mirror. The refs are listed before the
 * entries, so those of a new entry are not dropped.
 */
async function dropEndedPulls(
  { cell }: TaskDeps,
  { repository }: Sweeping,
  { mirror }: HostSession,
): Promise<void> {
  const numbers = await mirror.pullNumbers();
  if (numbers.length === 0) return;
  const live = await listLivePulls(cell.db, repository.id);
  await mirror.dropPulls(numbers.filter((number) => !live.has(number)));
}

async function readRunChecks({ repository, runs }: Sweeping, { host }: HostSession): Promise<CheckUpdate[]> {
  const shas = runs.map(({ sha }) => sha);
  const found = await readChecksByCommit(host, repository, shas);
  return [...found].flatMap(([sha, checks]) =>
    checks.map((check) => ({ repositoryId: repository.id, sha, check })),
  );
}

/**
 * A branch that lost commits or is missing stops the queue: a person must decide. `isKnown` is false while
 * the mirror is incomplete; a later poll then decides.
 */
async function whyHalt(
  { queue, branchSha }: Sweeping,
  { mirror }: HostSession,
  tip: string | null,
): Promise<{ readonly isKnown: boolean; readonly halt: string | null }> {
  const { targetBranch } = queue;
  const known = (halt: string | null) => ({ isKnown: true, halt });
  if (tip === null)
    return known(`The Git host has no branch ${targetBranch}. Restore it, then set the queue RUNNING.`);
  if (branchSha === null || branchSha === tip) return known(null);
  try {
    await mirror.fetch({ branch: targetBranch, pulls: [] });
  } catch (error) {
    if (error instanceof GitError && error.kind === 'fetching') return { isKnown: false, halt: null };
    throw error;
  }
  const isForward = await mirror.contains(branchSha, tip).catch(() => false);
  return known(
    isForward
      ? null
      : `The branch ${targetBranch} was moved from ${branchSha.slice(0, 12)} to ${tip.slice(0, 12)}, which does not contain it: commits were removed. Check that this was intended, then set the queue RUNNING.`,
  );
}

/** How often this worker has polled the queue, as far as it remembers. */
function takePollTurn(deps: TaskDeps, queueId: string): number {
  const sweeps = sweepsByWorker.get(deps) ?? createTtlCache<number>({ max: sweepsMax });
  sweepsByWorker.set(deps, sweeps);
  const turn = sweeps.get(queueId) ?? 0;
  sweeps.set(queueId, turn + 1);
  return turn;
}

/** For hosts that read many pull requests at once: above this number, they are polled half as often. */
const manyLive = 250;

/**
 * The pull requests to read again: those that the poll finds changed, or all if the host reads them one by
 * one.
 */
async function dueForRefresh(
  deps: TaskDeps,
  work: Sweeping,
  place: HostSession,
  turn: number,
): Promise<number[]> {
  const { live } = work;
  const { host } = place;
  const every = live.length > manyLive ? 2 * refreshEvery : refreshEvery;
  const isUnknown = (entry: LiveEntry) => !isMergeabilityKnown(entry) && !host.leavesMergeToTry;
  if (turn % every !== every - 1) return live.filter(isUnknown).map(({ number }) => number);
  const found = await poll(deps, work, place);
  const isDue = (entry: LiveEntry) =>
    found === null || isUnknown(entry) || entry.needsApproval || hasChanged(entry, found.get(entry.number));
  return live.filter(isDue).map(({ number }) => number);
}

/** Null: the host has no call for it. The result decides nothing, so an error does not stop the queue. */
async function poll({ log }: TaskDeps, { queue, repository, live }: Sweeping, { host }: HostSession) {
  if (host.readPullRequests === undefined) return null;
  const numbers = live.map(({ number }) => number);
  try {
    return await host.readPullRequests({ repository, numbers });
  } catch (error) {
    if (!(error instanceof HostError) || error.trouble === 'forbidden') throw error;
    log.warn({ queue: queue.id, err: error }, 'could not poll pull requests');
    return new Map(live.map((entry) => [entry.number, entry]));
  }
}

/** A host that is still computing the mergeability reports no change of it. */
const hasChanged = (known: LiveEntry, found: Omit<LiveEntry, 'needsApproval'> | undefined): boolean =>
  found === undefined ||
  found.headSha !== known.headSha ||
  found.baseBranch !== known.baseBranch ||
  found.title !== known.title ||
  found.draft !== known.draft ||
  found.state !== known.state ||
  (isMergeabilityKnown(found) && found.mergeability !== known.mergeability);

/** The clocks of hosts differ from ours. An event that is read twice is handled once. */
const overlapMs = 60_000;

/** Records commands and labels that no webhook reported. */
async function pollCommentsAndLabels(
  { cell, clock }: TaskDeps,
  { queue, repository }: Sweeping,
  { host }: HostSession,
): Promise<void> {
  const { commandsEnabled, labelCommandsEnabled, enqueueingLabel } = queue.settings;
  if (!commandsEnabled && !labelCommandsEnabled) return;
  const asked = clock.now();
  const readAt = await findCommentsSyncedAt(cell.reader, repository.id);
  if (readAt === null) return;
  const since = new Date(readAt.getTime() - overlapMs);
  const events = await host.readCommentsAndLabels(repository, since, enqueueingLabel);
  await recordHostEvents(cell, repository.organizationId, events);
  await recordCommentsSynced(cell.db, repository.id, asked);
}

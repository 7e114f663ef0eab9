// What webhooks missed is asked for: where the branch is, what CI says of every run, test branches that a crash left
// behind, and pull requests that nobody has spoken of for a while. Active queues at most every so often, idle ones about
// once an hour.

import { type CheckWord, recordChecks } from '#db/check-store.ts';
import { isMergeabilityKnown } from '#core/queue/model.ts';
import {
  listLivePulls,
  listTestBranches,
  type LiveEntry,
  loadSweeping,
  recordBranch,
  type Sweeping,
} from '#db/host-store.ts';
import {
  enqueueWithin,
  enqueueForgottenLanding,
  enqueueReconcile,
  enqueueRefresh,
  type JobPayloads,
} from '#db/job.ts';
import { withQueueLock } from '#db/transaction.ts';
import { recordWordsRead, wordsReadAt } from '#db/words-store.ts';
import { haltQueue } from '#command/change-queue.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import { GitError } from '#git/error.ts';
import { branchRef } from '#git/ref.ts';
import { HostError } from '#host/host.ts';
import { atHost, type Place } from './at-host.ts';
import type { TaskDeps } from './deps.ts';

/** Pull requests and people's words are asked for with every so many sweeps; one whose mergeability is not known with each. */
const refreshEvery = 10;

/** How often each worker has swept each queue; only a saving, so forgetting it does no harm. */
const sweepsByWorker = new WeakMap<TaskDeps, Map<string, number>>();
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

/** What is asked of the remote: the branch, and unless it is all that matters now, the test branches of its queue. */
export const refsToPoll = (targetBranch: string, isQuick: boolean): readonly string[] => [
  branchRef(targetBranch),
  ...(isQuick ? [] : [`refs/heads/signalbox/${targetBranch}/*`]),
];

async function sweep(deps: TaskDeps, work: Sweeping, place: Place, isQuick: boolean): Promise<void> {
  const { cell } = deps;
  const { queue, repository } = work;
  const ref = branchRef(queue.targetBranch);
  const refs = await place.mirror.remoteRefs(refsToPoll(queue.targetBranch, isQuick));
  const { words, refresh } = isQuick ? { words: [], refresh: [] } : await sweepRest(deps, work, place, refs);
  const tip = refs.get(ref) ?? null;
  const { isJudged, halt } = await whyHalt(work, place, tip);
  await withQueueLock(cell, queue.id, async (tx, lock) => {
    const news = words.length > 0 ? await recordChecks(tx, words) : [];
    const moved = isJudged && tip !== null && (await recordBranch(tx, queue.id, tip, work.branchEpoch));
    if (halt !== null && (moved || tip === null))
      await haltQueue(tx, lock, repository, { reason: halt, now: deps.clock.now() });
    if (moved || news.length > 0 || tip === null) await enqueueReconcile(tx, lock);
    // In one turn, so that they are added in the order of their keys.
    await Promise.all([...refresh].map((number) => enqueueRefresh(tx, repository.id, number)));
    await enqueueForgottenLanding(tx, queue);
  });
}

/** Everything but the branch: strays go, what CI and people said is heard; answers with what is to be recorded. */
async function sweepRest(
  deps: TaskDeps,
  work: Sweeping,
  place: Place,
  refs: ReadonlyMap<string, string>,
): Promise<{ readonly words: readonly CheckWord[]; readonly refresh: readonly number[] }> {
  const { queue } = work;
  // Asked after the host: a run is recorded before its branch is pushed, so what is there and not needed is a stray.
  const needed = await listTestBranches(deps.cell.db, queue.id);
  await removeStrays(work, place, refs, new Set(needed.map(branchRef)));
  const turn = turnOf(deps, queue.id);
  if (turn % refreshEvery === 0) {
    await hearWords(deps, work, place);
    await dropEndedPulls(deps, work, place);
  }
  return { words: await checkWords(work, place), refresh: await dueForRefresh(deps, work, place, turn) };
}

async function removeStrays(
  { queue }: Sweeping,
  { mirror }: Place,
  refs: ReadonlyMap<string, string>,
  needed: ReadonlySet<string>,
): Promise<void> {
  // Only what ends in the id of a run: a queue on a longer branch name may have its test branches below ours.
  const prefix = `refs/heads/signalbox/${queue.targetBranch}/`;
  const isOurs = (ref: string) =>
    ref.startsWith(prefix) && /^pr-\d+\/[0-9a-f-]{36}$/.test(ref.slice(prefix.length));
  const strays = [...refs].filter(([ref]) => isOurs(ref) && !needed.has(ref));
  if (strays.length === 0) return;
  await mirror.push(
    strays.map(([ref, sha]) => ({ ref, from: sha, to: null })),
    { isAtomic: false },
  );
}

/** What is in no queue any more has no references in our mirror. They are listed first: what comes later is not dropped. */
async function dropEndedPulls(
  { cell }: TaskDeps,
  { repository }: Sweeping,
  { mirror }: Place,
): Promise<void> {
  const numbers = await mirror.pullNumbers();
  if (numbers.length === 0) return;
  const live = await listLivePulls(cell.db, repository.id);
  await mirror.dropPulls(numbers.filter((number) => !live.has(number)));
}

async function checkWords({ repository, runs }: Sweeping, { host }: Place): Promise<CheckWord[]> {
  const words: CheckWord[] = [];
  if (host.readChecksOf !== undefined) {
    const shas = runs.map(({ sha }) => sha);
    for (const [sha, checks] of await host.readChecksOf(repository, shas))
      words.push(...checks.map((check) => ({ repositoryId: repository.id, sha, check })));
    return words;
  }
  for (const { sha } of runs)
    for (const check of await host.readChecks(repository, sha))
      words.push({ repositoryId: repository.id, sha, check });
  return words;
}

/**
 * A branch that lost commits, or is gone, is not ours to guess about. Not judged: our mirror is not complete yet, and a later
 * sweep decides what became of the branch.
 */
async function whyHalt(
  { queue, branchSha }: Sweeping,
  { mirror }: Place,
  tip: string | null,
): Promise<{ readonly isJudged: boolean; readonly halt: string | null }> {
  const { targetBranch } = queue;
  const judged = (halt: string | null) => ({ isJudged: true, halt });
  if (tip === null)
    return judged(
      `The branch ${targetBranch} is gone from its host. Restore it, then set the queue RUNNING.`,
    );
  if (branchSha === null || branchSha === tip) return judged(null);
  try {
    await mirror.fetch({ branch: targetBranch, pulls: [] });
  } catch (error) {
    if (error instanceof GitError && error.kind === 'fetching') return { isJudged: false, halt: null };
    throw error;
  }
  const isForward = await mirror.contains(branchSha, tip).catch(() => false);
  return judged(
    isForward
      ? null
      : `The branch ${targetBranch} was moved from ${branchSha.slice(0, 12)} to ${tip.slice(0, 12)}, which does not contain it: commits were removed. Check that this was meant, then set the queue RUNNING.`,
  );
}

/** How often the queue was swept before, as far as this worker knows. */
function turnOf(deps: TaskDeps, queueId: string): number {
  const sweeps = sweepsByWorker.get(deps) ?? new Map<string, number>();
  sweepsByWorker.set(deps, sweeps);
  if (sweeps.size > sweepsMax) sweeps.clear();
  const turn = sweeps.get(queueId) ?? 0;
  sweeps.set(queueId, turn + 1);
  return turn;
}

/** Where hosts read many at once; with more than this in the queue, pull requests are polled half as often. */
const manyLive = 250;

/** The pull requests to read again: those that the poll finds changed, or all where the host reads them one by one. */
async function dueForRefresh(deps: TaskDeps, work: Sweeping, place: Place, turn: number): Promise<number[]> {
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

/** Null: the host has no call for it. Nothing is decided by what it finds, so trouble with it does not stop the queue. */
async function poll({ log }: TaskDeps, { queue, repository, live }: Sweeping, { host }: Place) {
  if (host.readPullRequests === undefined) return null;
  const { targetBranch } = queue;
  const numbers = live.map(({ number }) => number);
  try {
    return await host.readPullRequests({ repository, targetBranch, numbers });
  } catch (error) {
    if (!(error instanceof HostError) || error.trouble === 'forbidden') throw error;
    log.warn({ queue: queue.id, err: error }, 'pull requests could not be polled');
    return new Map(live.map((entry) => [entry.number, entry]));
  }
}

/** A host that is still working out whether it can be merged says nothing new about that. */
const hasChanged = (known: LiveEntry, found: Omit<LiveEntry, 'needsApproval'> | undefined): boolean =>
  found === undefined ||
  found.headSha !== known.headSha ||
  found.baseBranch !== known.baseBranch ||
  found.title !== known.title ||
  found.draft !== known.draft ||
  found.state !== known.state ||
  (isMergeabilityKnown(found) && found.mergeability !== known.mergeability);

/** Hosts' clocks and ours differ; what is told twice is heard once. */
const overlapMs = 60_000;

/** Commands and labels that no webhook told of. */
async function hearWords(
  { cell }: TaskDeps,
  { queue, repository }: Sweeping,
  { host }: Place,
): Promise<void> {
  const { commandsEnabled, labelCommandsEnabled, enqueueingLabel } = queue.settings;
  if (!commandsEnabled && !labelCommandsEnabled) return;
  const asked = new Date();
  const since = new Date((await wordsReadAt(cell.reader, repository.id)).getTime() - overlapMs);
  const events = await host.readWords(repository, since, enqueueingLabel);
  await recordHostEvents(cell, repository.organizationId, events);
  await recordWordsRead(cell.db, repository.id, asked);
}

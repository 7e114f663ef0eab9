// What webhooks missed is asked for: where the branch is, what CI says of every run, test branches that a crash left
// behind, and pull requests that nobody has spoken of for a while. Active queues at most every so often, idle ones about
// once an hour.

import { type CheckWord, recordChecks } from '#db/check-store.ts';
import {
  listLivePulls,
  listTestBranches,
  loadSweeping,
  recordBranch,
  type Sweeping,
} from '#db/host-store.ts';
import {
  enqueueBy,
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
    if (work.live.length > 0 && !isQuick)
      await enqueueBy(cell.db, 'sweep-queue', { queueId }, new Date(Date.now() + sweepMs));
  });
}

async function sweep(deps: TaskDeps, work: Sweeping, place: Place, isQuick: boolean): Promise<void> {
  const { cell } = deps;
  const { queue, repository } = work;
  const ref = branchRef(queue.targetBranch);
  const testRefs = `refs/heads/signalbox/${queue.targetBranch}/*`;
  const refs = await place.mirror.remoteRefs(isQuick ? [ref] : [ref, testRefs]);
  const { words, refresh } = isQuick ? { words: [], refresh: [] } : await sweepRest(deps, work, place, refs);
  const tip = refs.get(ref) ?? null;
  const { isJudged, halt } = await whyHalt(work, place, tip);
  await withQueueLock(cell, queue.id, async (tx, lock) => {
    const news = words.length > 0 ? await recordChecks(tx, words) : [];
    const moved = isJudged && tip !== null && (await recordBranch(tx, queue.id, tip, work.branchEpoch));
    if (halt !== null && (moved || tip === null))
      await haltQueue(tx, lock, repository, { reason: halt, now: deps.clock.now() });
    if (moved || news.length > 0 || tip === null) await enqueueReconcile(tx, lock);
    for (const number of refresh) await enqueueRefresh(tx, repository.id, number);
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
  return { words: await checkWords(work, place), refresh: dueForRefresh(work, place, turn) };
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

const dueForRefresh = ({ live }: Sweeping, { host }: Place, turn: number): number[] =>
  live
    .filter(
      ({ isMergeabilityKnown }) =>
        turn % refreshEvery === refreshEvery - 1 || (!isMergeabilityKnown && !host.leavesMergeToTry),
    )
    .map(({ number }) => number);

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

// Lands an intended landing on the branch. It can be retried any number of times: the branch itself shows
// whether it happened. Only what was tested lands: either the very commits of the run (landing-push.ts), or
// the result of the host's merge call, compared with them before and after each call (landing-merge.ts).
// Whether it may still happen is in landing-check.ts.
//
// A landing is never forgotten. While the host does not answer, its job is delayed. A problem that only a
// person can fix, such as a permission, stops the queue with the reason, and the landing stays intended: it
// is retried once the queue is set RUNNING, because every reconcile and every poll adds the job of an
// intended landing that has none.

import type { Log } from '#base/log.ts';
import { changeEntry } from '#command/change-entry.ts';
import { haltQueue } from '#command/change-queue.ts';
import { enqueueReconcile, type JobPayloads } from '#db/job/job.ts';
import { type IntendedLanding, loadLanding, recordLanded, recordNotLanded } from '#db/run/landing-store.ts';
import { withQueueLock } from '#db/transaction.ts';
import { recordQueueEvent } from '#db/webhook/queue-event.ts';
import { GitError } from '#git/error.ts';
import { HostError } from '#host/host.ts';
import { atHost, NotYet, type HostSession } from '../at-host.ts';
import { identified } from '../queue/commit-identity.ts';
import type { TaskDeps } from '../deps.ts';
import { prepareLandingCommits } from './landing-commits.ts';
import { mergeAtHost } from './landing-merge.ts';
import { resolveLandingMode } from '#host/landing-mode.ts';
import { lost, type Outcome } from './landing-outcome.ts';
import { directProof } from './landing-rules.ts';
import { fastForward } from './landing-push.ts';

export async function land(deps: TaskDeps, payload: JobPayloads['land']): Promise<void> {
  const load = () => loadLanding(deps.cell.db, payload.queueId, payload.number);
  try {
    await atHost(deps, 'land', payload, load, async (loaded, place) => {
      const landing = { ...loaded, members: await identified(deps, loaded, place, loaded.members) };
      await conclude(deps, landing, await attempt(deps, landing, place, payload.tries ?? 0));
    });
  } catch (error) {
    const why = haltReason(error);
    const landing = why === null ? null : await load();
    if (why === null || landing === null) throw error;
    await haltLanding(deps, landing, why, error);
  }
}

async function conclude(deps: TaskDeps, landing: IntendedLanding, outcome: Outcome): Promise<void> {
  const { cell, clock, log } = deps;
  const { queue, number } = landing;
  const now = clock.now();
  const { seen, halt, mismatch } = outcome;
  // Before the landing ends: the plan that follows must know that this one is not to be landed again.
  if (seen !== undefined) {
    const where = { cell, queueId: queue.id, prNumber: seen.number };
    await changeEntry(where, () => ({ kind: 'observe', pullRequest: seen }), now);
  }
  await withQueueLock(cell, queue.id, async (tx, lock) => {
    if (outcome.kind === 'landed') await recordLanded(tx, queue.id, number, outcome.commits, now);
    else await recordNotLanded(tx, queue.id, outcome.report, now);
    if (halt !== null) {
      log.error({ queue: queue.id, landing: number, reason: halt }, 'queue halted by a landing');
      await haltQueue(tx, lock, landing.repository, { reason: halt, now });
    }
    if (mismatch !== undefined) {
      const { tree, testedTree, isMerged } = mismatch;
      const numbers = landing.members.map((member) => member.number);
      const trees = { tree, tested_tree: testedTree, is_merged: isMerged };
      const body = { action: 'mismatch', pr_numbers: numbers, reason: halt, ...trees };
      await recordQueueEvent(tx, queue.id, 'landing', body, now);
    }
    await enqueueReconcile(tx, lock);
  });
}

/** Why the queue stops for this error until a person has acted; null: a later retry may be enough. */
function haltReason(error: unknown): string | null {
  const then = 'Then set the queue RUNNING: Signalbox tries the landing again.';
  if (error instanceof HostError && error.trouble === 'forbidden')
    return `The Git host does not let Signalbox merge: ${error.message} Give it access again; \`signalbox doctor\` names what is missing. ${then}`;
  if (error instanceof GitError && error.kind !== 'unreachable' && error.kind !== 'moved')
    return `The landing failed in git (${error.kind}): ${error.message} Fix the cause. ${then}`;
  if (error instanceof TooLate) return `${error.message} Check that the Git host is healthy. ${then}`;
  return null;
}

/** The landing stays intended, even if part of it happened: the next attempt finds out. */
async function haltLanding(
  { cell, clock, log }: TaskDeps,
  { queue, number, repository }: IntendedLanding,
  reason: string,
  error: unknown,
): Promise<void> {
  log.error({ queue: queue.id, landing: number, err: error }, 'queue halted: landing failed');
  await withQueueLock(cell, queue.id, async (tx, lock) => {
    await haltQueue(tx, lock, repository, { reason, now: clock.now() });
    await enqueueReconcile(tx, lock);
  });
}

/** How often a landing is delayed because the host is not ready: with growing pauses, about five minutes. */
const putOffMax = 15;

/** The host was not ready in all that time. */
class TooLate extends Error {}

async function attempt(
  { log }: TaskDeps,
  landing: IntendedLanding,
  place: HostSession,
  tries: number,
): Promise<Outcome> {
  try {
    return await tryToLand(landing, place, log);
  } catch (error) {
    if (error instanceof NotYet && tries >= putOffMax) throw new TooLate(error.message);
    throw error;
  }
}

async function tryToLand(landing: IntendedLanding, place: HostSession, log: Log): Promise<Outcome> {
  const { number, members, baseSha, run } = landing;
  if (run?.ranAllTests === false)
    return lost(landing, baseSha, {
      restart: members.map((member) => member.number),
      halt: `Test run ${run.id} ran only some tests, so it permits no merge. Signalbox pushed nothing. Keep the log and report this defect of Signalbox, then set the queue RUNNING.`,
    });
  const wanted = await prepareLandingCommits(landing, place);
  if (wanted.kind === 'missing') {
    const report = { kind: 'refused', number, pr: wanted.pr, reason: 'PR_UPDATED_AT_MERGE_TIME' } as const;
    return { kind: 'ended', report, halt: null };
  }
  // Parallel lanes with separate targets can still change the same lines: the pull requests are then tested
  // again, on the current branch.
  if (wanted.kind === 'conflict')
    return lost(landing, baseSha, { restart: members.map((member) => member.number) });
  if (landing.proof === 'exact' && wanted.tree !== run!.tree)
    return lost(landing, baseSha, {
      mismatch: { tree: wanted.tree, testedTree: run!.tree, isMerged: false },
      halt: `The tree to merge is not the tested tree: ${wanted.tree} instead of ${run!.tree} (test run ${run!.id}). Signalbox pushed nothing. Keep the log and report this defect of Signalbox, then set the queue RUNNING.`,
    });
  const outcome =
    resolveLandingMode(place.host, landing.queue.settings, landing.method) === 'host'
      ? await mergeAtHost(landing, place, wanted)
      : await fastForward(landing, place, wanted, log);
  if (run !== null || outcome.kind !== 'landed') return outcome;
  return { ...outcome, commits: { ...outcome.commits, direct: await directProof(landing, place) } };
}

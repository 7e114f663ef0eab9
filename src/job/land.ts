// Puts a landing on the branch that was intended. It can be tried any number of times: the branch itself says whether it
// happened. What lands is what was tested: either the very commits of the run, or, where others landed in between, the
// same changes on the branch as it is; the tree is compared with the tested one before anything is pushed wherever
// nothing came in between.

import { haltQueue } from '#command/change-queue.ts';
import { enqueueReconcile, type JobPayloads } from '#db/job.ts';
import {
  type IntendedLanding,
  type LandedCommits,
  loadLanding,
  recordLanded,
  recordNotLanded,
} from '#db/landing-store.ts';
import type { LandingReport } from '#core/queue/engine/picture.ts';
import { withQueueLock } from '#db/transaction.ts';
import { buildCandidate, type Candidate } from '#git/candidate.ts';
import { GitError } from '#git/error.ts';
import { branchRef } from '#git/ref.ts';
import { atHost, type Place } from './at-host.ts';
import type { TaskDeps } from './deps.ts';
import { changesOf } from './publish.ts';

export async function land(deps: TaskDeps, payload: JobPayloads['land']): Promise<void> {
  const load = () => loadLanding(deps.cell.db, payload.queueId, payload.number);
  await atHost(deps, 'land', payload, load, async (landing, place) =>
    conclude(deps, landing, await attempt(landing, place)),
  );
}

type Outcome =
  | { readonly kind: 'landed'; readonly commits: LandedCommits; readonly halt: string | null }
  | { readonly kind: 'ended'; readonly report: Exclude<LandingReport, { kind: 'landed' }> }
  /** Nothing was pushed, and nothing will be until a person has looked. */
  | { readonly kind: 'halted'; readonly tip: string; readonly why: string };

async function conclude({ cell, clock, log }: TaskDeps, landing: IntendedLanding, outcome: Outcome) {
  const { queue, number } = landing;
  const now = clock.now();
  await withQueueLock(cell, queue.id, async (tx, lock) => {
    switch (outcome.kind) {
      case 'landed':
        await recordLanded(tx, queue.id, number, outcome.commits, now);
        break;
      case 'ended':
        await recordNotLanded(tx, queue.id, outcome.report, now);
        break;
      case 'halted':
        await recordNotLanded(tx, queue.id, { kind: 'lost', number, tip: outcome.tip, restart: [] }, now);
        break;
    }
    const halt = outcome.kind === 'landed' ? outcome.halt : outcome.kind === 'halted' ? outcome.why : null;
    if (halt !== null) {
      log.error({ queue: queue.id, landing: number }, halt);
      await haltQueue(tx, lock, landing.repository, { reason: halt, now });
    }
    await enqueueReconcile(tx, lock);
  });
}

async function attempt(landing: IntendedLanding, place: Place): Promise<Outcome> {
  const { number, members } = landing;
  const wanted = await commitsOf(landing, place);
  if (wanted.kind === 'missing')
    return {
      kind: 'ended',
      report: { kind: 'refused', number, pr: wanted.pr, reason: 'PR_UPDATED_AT_MERGE_TIME' },
    };
  // Lanes whose targets are apart can still touch the same lines: then the tests begin anew, on the branch as it is.
  if (wanted.kind === 'conflict')
    return {
      kind: 'ended',
      report: {
        kind: 'lost',
        number,
        tip: landing.baseSha,
        restart: members.map((member) => member.number),
      },
    };
  if (landing.proof === 'exact' && wanted.tree !== landing.run!.tree)
    return {
      kind: 'halted',
      tip: landing.baseSha,
      why: `What would land is not what was tested: tree ${wanted.tree} instead of ${landing.run!.tree} (test run ${landing.run!.id}). Nothing was pushed.`,
    };
  return modeOf(landing, place) === 'host'
    ? mergeAtHost(landing, place, wanted)
    : fastForward(landing, place, wanted);
}

/** Pushes the commits if the branch is where it was; what the branch says afterwards decides. */
async function fastForward(landing: IntendedLanding, place: Place, wanted: Wanted): Promise<Outcome> {
  const { queue, number, repository, baseSha } = landing;
  const { mirror, host } = place;
  const refusal = await staleMember(landing, place);
  const update = { ref: branchRef(queue.targetBranch), from: baseSha, to: wanted.sha };
  // One that should not land may have done so before a crash.
  const answer = refusal === null ? await mirror.push([update]) : ({ kind: 'moved' } as const);
  if (answer.kind === 'refused')
    return {
      kind: 'halted',
      tip: baseSha,
      why: `The host refuses our push to ${queue.targetBranch}: ${answer.message}. Let Signalbox push to it, or set landingMode to host; then set the queue RUNNING.`,
    };
  if (answer.kind === 'moved') {
    const { tip } = await mirror.fetch({ branch: queue.targetBranch, pulls: [] });
    if (tip === null)
      return {
        kind: 'halted',
        tip: baseSha,
        why: `The branch ${queue.targetBranch} is gone from its host. Restore it, then set the queue RUNNING.`,
      };
    if (!(await mirror.contains(wanted.sha, tip)))
      return {
        kind: 'ended',
        report:
          refusal === null || tip !== baseSha
            ? { kind: 'lost', number, tip, restart: [] }
            : refusal.reason === 'merged'
              ? { kind: 'lost', number, tip, restart: [refusal.pr] }
              : { kind: 'refused', number, pr: refusal.pr, reason: refusal.reason },
      };
  } else await host.afterPush(repository, [update]);
  for (const { number: pr, sha } of wanted.commits) await host.markMerged(repository, pr, sha);
  const { sha, tree, commits } = wanted;
  const testedTree = landing.run?.tree ?? tree;
  return {
    kind: 'landed',
    halt: null,
    commits: { mode: 'fast_forward', sha, tree, testedTree, members: commits, refused: null },
  };
}

const modeOf = ({ queue, method }: IntendedLanding, { host }: Place): 'fast_forward' | 'host' =>
  queue.settings.landingMode === 'auto'
    ? host.showsPushedAsMerged(method)
      ? 'fast_forward'
      : 'host'
    : queue.settings.landingMode;

type Wanted = Omit<Extract<Candidate, { kind: 'built' }>, 'kind'>;

type Commits =
  | ({ readonly kind: 'built' } & Wanted)
  | { readonly kind: 'conflict' }
  | { readonly kind: 'missing'; readonly pr: number };

/** The commits that are to be on the branch: the run's own where they stand on it, else the same changes built anew. */
async function commitsOf(landing: IntendedLanding, { mirror }: Place): Promise<Commits> {
  const { baseSha: base, method, run, proof, queue, members } = landing;
  const build = () => buildCandidate(mirror, { base, members: changesOf(members, 0), method });
  // Whoever made the run has everything; another worker has to fetch it first.
  const candidate = await build().catch(async (error: unknown) => {
    if (!(error instanceof GitError) || error.kind !== 'missing') throw error;
    const pulls = members.map(({ number, headSha: sha }) => ({ number, sha }));
    const { missing } = await mirror.fetch({ branch: queue.targetBranch, pulls });
    const [gone] = missing;
    return gone === undefined ? build() : { kind: 'missing' as const, pr: gone.number };
  });
  if (candidate.kind !== 'built') return candidate.kind === 'missing' ? candidate : { kind: 'conflict' };
  if (run === null || proof !== 'exact' || candidate.sha === run.sha) return candidate;
  // A run that repeats another has a last commit of its own.
  const last = candidate.commits.at(-1)!;
  const own = { number: last.number, sha: run.sha, tree: run.tree };
  const before = candidate.commits.at(-2)?.sha ?? base;
  return (await standsOn(mirror, before, run.sha))
    ? { kind: 'built', sha: run.sha, tree: run.tree, commits: [...candidate.commits.slice(0, -1), own] }
    : candidate;
}

/** Whether a commit of a run is one that follows on this state of the branch. */
const standsOn = (mirror: Place['mirror'], before: string, sha: string): Promise<boolean> =>
  mirror.contains(before, sha).catch(() => false);

/** Asked just before the push: a head that moved meanwhile was never tested, and what the host would not merge is not pushed. */
async function staleMember({ repository, queue, members, run }: IntendedLanding, { host }: Place) {
  for (const { number, headSha } of members) {
    const now = await host.readPullRequest({ repository, number, targetBranch: queue.targetBranch });
    if (now === null || now.state === 'closed')
      return { pr: number, reason: 'MERGE_REFUSED_BY_HOST' as const };
    // Somebody merged it, and nobody told: it begins anew, and is asked for meanwhile.
    if (now.state === 'merged' && run !== null) return { pr: number, reason: 'merged' as const };
    if (now.headSha !== headSha) return { pr: number, reason: 'PR_UPDATED_AT_MERGE_TIME' as const };
    if (now.draft || now.baseBranch !== queue.targetBranch)
      return { pr: number, reason: 'MERGE_REFUSED_BY_HOST' as const };
  }
  return null;
}

/** The host's own merge call, one pull request after the other; then the tree is compared. */
async function mergeAtHost(
  landing: IntendedLanding,
  { host, mirror }: Place,
  wanted: Wanted,
): Promise<Outcome> {
  const { queue, repository, members, number, method, baseSha } = landing;
  const merged: { number: number; sha: string }[] = [];
  let refused: LandedCommits['refused'] = null;
  const { tip } = await mirror.fetch({ branch: queue.targetBranch, pulls: [] });
  if (tip !== baseSha && !(await isOurs(landing, host)))
    return { kind: 'ended', report: { kind: 'lost', number, tip: tip ?? baseSha, restart: [] } };
  for (const [index, member] of members.entries()) {
    const words = method === 'rebase' ? null : await wordsOf(mirror, wanted.commits[index]!.sha);
    const answer = await host.merge({
      repository,
      number: member.number,
      targetBranch: queue.targetBranch,
      method,
      headSha: member.headSha,
      title: words?.title ?? member.title,
      message: words?.message ?? member.body,
    });
    if (answer.kind === 'merged') {
      // What the branch had before we began was merged by somebody, and nobody told: it begins anew, and is asked for.
      if (landing.run !== null && (await mirror.contains(answer.sha, baseSha).catch(() => false)))
        return {
          kind: 'ended',
          report: { kind: 'lost', number, tip: tip ?? baseSha, restart: [member.number] },
        };
      merged.push({ number: member.number, sha: answer.sha });
      continue;
    }
    const reason = answer.kind === 'head-moved' ? 'PR_UPDATED_AT_MERGE_TIME' : 'MERGE_REFUSED_BY_HOST';
    refused = { pr: member.number, reason };
    break;
  }
  const last = merged.at(-1);
  if (last === undefined) return { kind: 'ended', report: { kind: 'refused', number, ...refused! } };
  await mirror.fetch({ branch: queue.targetBranch, pulls: [] });
  const { sha } = last;
  const tree = await mirror.treeOf(sha);
  const testedTree = wanted.commits[merged.length - 1]!.tree;
  const halt =
    tree === testedTree
      ? null
      : `What the host merged is not what was tested: ${queue.targetBranch} has tree ${tree} at ${sha}, the tested tree is ${testedTree}. Look at what came between, then set the queue RUNNING.`;
  return { kind: 'landed', commits: { mode: 'host', sha, tree, testedTree, members: merged, refused }, halt };
}

/** What the tested commit says is what the host's own shall say. */
async function wordsOf(mirror: Place['mirror'], sha: string) {
  const { raw } = await mirror.commit(sha);
  const [title = '', ...rest] = raw.message.toString('utf8').split('\n');
  return { title, message: rest.join('\n').trim() };
}

/** After a crash: the branch moved because the first of them is merged already. */
async function isOurs(
  { repository, queue, members }: IntendedLanding,
  host: Place['host'],
): Promise<boolean> {
  const [first] = members;
  const now = await host.readPullRequest({
    repository,
    number: first!.number,
    targetBranch: queue.targetBranch,
  });
  return now?.state === 'merged';
}

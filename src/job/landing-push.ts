// Landing by a push of the very commits that were tested, with compare-and-swap on the branch.

import type { Log } from '#base/log.ts';
import { landedComment } from '#core/queue/message.ts';
import type { IntendedLanding } from '#db/landing-store.ts';
import { branchRef } from '#git/ref.ts';
import { HostError } from '#host/host.ts';
import type { Place } from './at-host.ts';
import { objectionTo, outcomeOf, readMembers } from './landing-check.ts';
import type { Wanted } from './landing-commits.ts';
import { lost, type Outcome } from './landing-outcome.ts';

/** Pushes the commits if the branch is where it was; what the branch says afterwards decides. */
export async function fastForward(
  landing: IntendedLanding,
  place: Place,
  wanted: Wanted,
  log: Log,
): Promise<Outcome> {
  const { queue, repository, baseSha } = landing;
  const { mirror, host } = place;
  const objection = await objectionTo(landing, place, await readMembers(landing, place, landing.members));
  const update = { ref: branchRef(queue.targetBranch), from: baseSha, to: wanted.sha };
  // One that must not land may have done so before a crash.
  const answer = objection === null ? await mirror.push([update]) : ({ kind: 'moved' } as const);
  if (answer.kind === 'refused')
    return lost(landing, baseSha, {
      halt: `The host refuses our push to ${queue.targetBranch}: ${answer.message}. Let Signalbox push to it, or set landingMode to host; then set the queue RUNNING.`,
    });
  let tip: string | null = wanted.sha;
  if (answer.kind === 'moved') {
    ({ tip } = await mirror.fetch({ branch: queue.targetBranch, pulls: [] }));
    if (tip === null)
      return lost(landing, baseSha, {
        halt: `The branch ${queue.targetBranch} is gone from its host. Restore it, then set the queue RUNNING.`,
      });
    if (!(await mirror.contains(wanted.sha, tip)))
      return objection === null || tip !== baseSha
        ? lost(landing, tip, seenIn(objection))
        : outcomeOf(landing, objection, tip);
  } else await host.afterPush(repository, [update]);
  for (const { number: pr, sha } of wanted.commits) await showLanded(landing, place, log, { pr, sha });
  const { sha, tree, commits } = wanted;
  const testedTree = landing.run?.tree ?? tree;
  return {
    kind: 'landed',
    halt: null,
    commits: { mode: 'fast_forward', sha, tip, tree, testedTree, members: commits, rest: null },
  };
}

/** What the host says of a member is passed on, also where the branch had moved anyway. */
const seenIn = (objection: Awaited<ReturnType<typeof objectionTo>>) =>
  objection?.kind === 'not-mergeable' ? { seen: objection.seen } : {};

/**
 * Its commits are on the branch: the pull request must not stay open. A host that cannot show it as merged shows it as
 * closed, with a comment that names the commit. Done again after a crash it finds what was done.
 */
async function showLanded(
  { queue, repository, method }: IntendedLanding,
  { host }: Place,
  log: Log,
  { pr, sha }: { readonly pr: number; readonly sha: string },
): Promise<void> {
  try {
    if (host.showsPushedAsMerged(method)) return await host.markMerged(repository, pr, sha);
    await host.writeComment(repository, pr, { id: null, mayExist: true, ...landedComment(queue, sha) });
    await host.closePullRequest(repository, pr);
  } catch (error) {
    // It has landed whatever the pull request shows, and a person can close it.
    if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
    log.warn({ queue: queue.id, pullRequest: pr, err: error }, 'landed pull request could not be closed');
  }
}

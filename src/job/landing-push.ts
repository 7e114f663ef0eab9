// Landing by a push of the very commits that were tested, with compare-and-swap on the branch.

import type { Log } from '#base/log.ts';
import { landedComment } from '#core/queue/message.ts';
import type { IntendedLanding } from '#db/landing-store.ts';
import { branchRef } from '#git/ref.ts';
import { HostError } from '#host/host.ts';
import type { Place } from './at-host.ts';
import { type Objection, objectionTo, outcomeOf } from './landing-check.ts';
import type { Wanted } from './landing-commits.ts';
import { pushHeads, readForPush, restoreHeads, waitUntilMerged } from './landing-head.ts';
import { lost, type Outcome } from './landing-outcome.ts';

/** Pushes the commits if the branch is where it was; what the branch says afterwards decides. */
export async function fastForward(
  landing: IntendedLanding,
  place: Place,
  wanted: Wanted,
  log: Log,
): Promise<Outcome> {
  const seen = await readForPush(landing, place, wanted);
  const objection = await objectionTo(landing, place, seen);
  const heads = await pushHeads(landing, place, seen, { onlyFound: objection !== null });
  const refused = { kind: 'refused', pr: 0, reason: 'PR_UPDATED_AT_MERGE_TIME' } as const;
  const why = objection ?? (heads.kind === 'moved' ? { ...refused, pr: heads.pr } : null);
  if (why === null) await closeDrafts(landing, place);
  const pushed = await pushBranch(landing, place, wanted, why);
  if (pushed.kind === 'not-landed') {
    await restoreHeads(landing, place, heads.heads);
    return pushed.outcome;
  }
  const merged = await waitUntilMerged(landing, place, heads.heads);
  for (const { number: pr, sha } of wanted.commits)
    if (!merged.has(pr)) await showLanded(landing, place, log, { pr, sha });
  const { sha, tree, commits } = wanted;
  const testedTree = landing.run?.tree ?? tree;
  const landed = {
    mode: 'fast_forward',
    sha,
    tree,
    testedTree,
    members: commits,
    rest: null,
    flaw: null,
  } as const;
  return { kind: 'landed', halt: null, commits: { ...landed, tip: pushed.tip } };
}

/**
 * A host shows a pull request as merged when its head gets onto the branch while it is open, and the head of a draft that
 * shows a test branch is a commit that lands.
 */
async function closeDrafts({ repository, drafts }: IntendedLanding, { host }: Place): Promise<void> {
  for (const number of drafts) await host.closePullRequest(repository, number);
}

type Pushed =
  | { readonly kind: 'landed'; readonly tip: string }
  | { readonly kind: 'not-landed'; readonly outcome: Outcome };

async function pushBranch(
  landing: IntendedLanding,
  { mirror, host }: Place,
  wanted: Wanted,
  objection: Objection | null,
): Promise<Pushed> {
  const { queue, repository, baseSha } = landing;
  const notLanded = (outcome: Outcome): Pushed => ({ kind: 'not-landed', outcome });
  const update = { ref: branchRef(queue.targetBranch), from: baseSha, to: wanted.sha };
  // One that must not land may have done so before a crash.
  const answer = objection === null ? await mirror.push([update]) : ({ kind: 'moved' } as const);
  if (answer.kind === 'refused')
    return notLanded(
      lost(landing, baseSha, {
        halt: `The host refuses our push to ${queue.targetBranch}: ${answer.message}. Let Signalbox push to it, or set landingMode to host; then set the queue RUNNING.`,
      }),
    );
  if (answer.kind === 'pushed') {
    await host.afterPush(repository, [update]);
    return { kind: 'landed', tip: wanted.sha };
  }
  const { tip } = await mirror.fetch({ branch: queue.targetBranch, pulls: [] });
  if (tip === null)
    return notLanded(
      lost(landing, baseSha, {
        halt: `The branch ${queue.targetBranch} is gone from its host. Restore it, then set the queue RUNNING.`,
      }),
    );
  if (await mirror.contains(wanted.sha, tip)) return { kind: 'landed', tip };
  return notLanded(
    objection === null || tip !== baseSha
      ? lost(landing, tip, seenIn(objection))
      : outcomeOf(landing, objection, tip),
  );
}

/** What the host says of a member is passed on, also where the branch had moved anyway. */
const seenIn = (objection: Objection | null) =>
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
    await host
      .writeComment(repository, pr, { id: null, mayExist: true, ...landedComment(queue, sha) })
      .catch((error: unknown) => {
        // The status comment says it too. What cannot be written now does not keep the queue waiting.
        if (!(error instanceof HostError)) throw error;
        log.warn(
          { queue: queue.id, pullRequest: pr, err: error },
          'comment on a landed pull request not written',
        );
      });
    await host.closePullRequest(repository, pr);
  } catch (error) {
    // It has landed whatever the pull request shows, and a person can close it.
    if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
    log.warn({ queue: queue.id, pullRequest: pr, err: error }, 'landed pull request could not be closed');
  }
}

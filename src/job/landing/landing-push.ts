// Landing by pushing the very commits that were tested, with compare-and-swap on the branch.

import type { Log } from '#base/log.ts';
import { landedComment } from '#core/queue/text/message.ts';
import type { IntendedLanding } from '#db/run/landing-store.ts';
import { branchRef } from '#git/ref.ts';
import { HostError } from '#host/host.ts';
import type { HostSession } from '../at-host.ts';
import { type Objection, objectionTo, outcomeAfterObjection } from './landing-check.ts';
import type { Wanted } from './landing-commits.ts';
import { pushHeads, readForPush, restoreHeads, waitUntilMerged } from './landing-head.ts';
import { lost, type Outcome } from './landing-outcome.ts';

/** Pushes the commits if the branch is unchanged; the state of the branch afterwards decides. */
export async function fastForward(
  landing: IntendedLanding,
  place: HostSession,
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
 * A host shows an open pull request as merged when its head is on the branch, and the head of the draft
 * for a test branch is a commit that lands. So the drafts are closed first.
 */
async function closeDrafts({ repository, drafts }: IntendedLanding, { host }: HostSession): Promise<void> {
  for (const number of drafts) await host.closePullRequest(repository, number);
}

type BranchPushResult =
  | { readonly kind: 'landed'; readonly tip: string }
  | { readonly kind: 'not-landed'; readonly outcome: Outcome };

async function pushBranch(
  landing: IntendedLanding,
  { mirror, host }: HostSession,
  wanted: Wanted,
  objection: Objection | null,
): Promise<BranchPushResult> {
  const { queue, repository, baseSha } = landing;
  const notLanded = (outcome: Outcome): BranchPushResult => ({ kind: 'not-landed', outcome });
  const update = { ref: branchRef(queue.targetBranch), from: baseSha, to: wanted.sha };
  // A landing with an objection may have happened before a crash.
  const answer = objection === null ? await mirror.push([update]) : ({ kind: 'moved' } as const);
  if (answer.kind === 'refused')
    return notLanded(
      lost(landing, baseSha, {
        halt: `The Git host refused the push to ${queue.targetBranch}: ${answer.message}. Let Signalbox push to the branch, or set landingMode to host. Then set the queue RUNNING.`,
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
        halt: `The Git host has no branch ${queue.targetBranch}. Restore it, then set the queue RUNNING.`,
      }),
    );
  if (await mirror.contains(wanted.sha, tip)) return { kind: 'landed', tip };
  return notLanded(
    objection === null || tip !== baseSha
      ? lost(landing, tip, seenIn(objection))
      : outcomeAfterObjection(landing, objection, tip),
  );
}

/** The host's state of a member is passed on, even if the branch had moved anyway. */
const seenIn = (objection: Objection | null) =>
  objection?.kind === 'not-mergeable' ? { seen: objection.seen } : {};

/**
 * The commits are on the branch: the pull request must not stay open. If the host cannot show it as merged,
 * it is closed, with a comment that names the commit. Repeated after a crash, this finds what was done.
 */
async function showLanded(
  { queue, repository, method }: IntendedLanding,
  { host }: HostSession,
  log: Log,
  { pr, sha }: { readonly pr: number; readonly sha: string },
): Promise<void> {
  try {
    if (host.showsPushedAsMerged(method)) return await host.markMerged(repository, pr, sha);
    await host
      .writeComment(repository, pr, { id: null, mayExist: true, ...landedComment(queue, sha) })
      .catch((error: unknown) => {
        // The status comment says it too, so an error here does not make the queue wait.
        if (!(error instanceof HostError)) throw error;
        log.warn(
          { queue: queue.id, pullRequest: pr, err: error },
          'could not comment on a merged pull request',
        );
      });
    await host.closePullRequest(repository, pr);
  } catch (error) {
    // It has landed whatever the pull request shows, and a person can close it.
    if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
    log.warn({ queue: queue.id, pullRequest: pr, err: error }, 'could not close a merged pull request');
  }
}

// What may be asked when: decide(state, command) → facts, or the rule that refuses.
//
// Example. #7 is pending at head a1. A push makes its head b2; before the host's word reaches us somebody submits #7
// again. The submission carries the fresh head, so the old trip ends here (PR_PUSHED_TO) and a new one begins: what
// was approved as a1 is never landed as b2.
//
//                 submit                    admit (plan)             start, verdicts, landing (plan)
//   (none) ────────────────► not_ready ◄───────────────► pending ──────────────► testing … merged | failed
//      ▲                          │                          │                          │
//      └── submit: next trip ── cancelled ◄── cancel, push, close, retarget, draft ─────┘
//
// Only `submit`, `cancel`, `restart` and the host's observations come through here; all other moves are the plan's.

import { unreachable } from '#base/assert.ts';
import type { ErrorCode } from '#base/error.ts';
import type { EntryCommand } from './command.ts';
import type { Fact, FactBody } from './fact.ts';
import {
  type Entry,
  type HeadReview,
  type PullRequest,
  type Queue,
  isEnded,
  isMergeabilityKnown,
  isUnderTest,
} from './model.ts';
import { defaultPriorityName, priorities } from './priority.ts';
import type { CancelledReason } from './reason.ts';

export type Decision =
  | { readonly kind: 'accepted'; readonly facts: readonly Fact[] }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly message: string };

const rejected = (code: ErrorCode, message: string): Decision => ({ kind: 'rejected', code, message });

/** One pull request in its queue; no entry if it was never submitted. */
export type EntryInQueue = { readonly queue: Queue; readonly entry: Entry | null };

export function decide(state: EntryInQueue, command: EntryCommand, now: Date): Decision {
  const { entry, queue } = state;
  const actor = 'actor' in command ? command.actor : 'host';
  const accepted = (...bodies: readonly FactBody[]): Decision => ({
    kind: 'accepted',
    facts: bodies.map((body) => ({ ...body, at: now, actor })),
  });

  if (command.kind === 'submit') return decideSubmit(state, command, accepted);
  if (entry === null) {
    // An observation about a pull request nobody submitted needs no answer.
    if (['observe', 'examine', 'try'].includes(command.kind)) return accepted();
    return rejected(
      'PULL_REQUEST_NOT_SUBMITTED',
      'This pull request was never submitted to this queue. Submit it with submitPullRequest first.',
    );
  }
  switch (command.kind) {
    case 'cancel':
      return decideCancel(entry, command.reason, accepted);
    case 'restart':
      if (!isUnderTest(entry.stage))
        return rejected(
          'TESTS_NOT_RESTARTABLE',
          `Pull request #${entry.pullRequest.number} is ${entry.stage.kind}: only tests that are running, passed or failed in the queue can be restarted.`,
        );
      return accepted({ kind: 'restart_requested', reason: command.reason });
    case 'observe':
      return decideObserve(entry, queue, command.pullRequest, accepted);
    case 'examine':
      return decideExamine(entry, command.review, accepted);
    case 'try':
      return decideTry(entry, command, accepted);
    default:
      return unreachable(command);
  }
}

type Accept = (...bodies: readonly FactBody[]) => Decision;

function decideSubmit(
  { entry, queue }: EntryInQueue,
  command: Extract<EntryCommand, { kind: 'submit' }>,
  accepted: Accept,
): Decision {
  const pullRequest = settled(entry?.pullRequest ?? null, command.pullRequest);
  if (pullRequest.state !== 'open' || entry?.stage.kind === 'merged') {
    const state = pullRequest.state === 'closed' ? 'closed' : 'already merged';
    return rejected(
      'PULL_REQUEST_NOT_ENQUEUEABLE',
      `Pull request #${pullRequest.number} is ${state}. Only an open pull request can be submitted.`,
    );
  }
  const wish = {
    priority: command.priority ?? priorities[defaultPriorityName],
    usedDefaultPriority: command.priority === null,
    noBatch: command.noBatch,
    forced: command.force,
  };
  const begin: FactBody = { kind: 'submitted', pullRequest, seniority: command.seniority, ...wish };
  if (entry === null || isEnded(entry.stage)) return accepted(begin);

  const endedBy = endingOf(queue, entry.pullRequest, pullRequest);
  if (endedBy !== null && entry.landing)
    return rejected(
      'PULL_REQUEST_NOT_ENQUEUEABLE',
      `Pull request #${pullRequest.number} is being put on the branch as it was before. Submit it again in a moment.`,
    );
  if (endedBy !== null) return accepted(ending(entry, endedBy), begin);
  const rewritten: FactBody = { kind: 'rewritten', ...wish };
  const seen = settled(entry.pullRequest, pullRequest);
  return samePullRequest(entry.pullRequest, seen)
    ? accepted(rewritten)
    : accepted(rewritten, { kind: 'observed', pullRequest: seen });
}

function decideCancel(entry: Entry, reason: CancelledReason, accepted: Accept): Decision {
  switch (entry.stage.kind) {
    case 'cancelled':
      return accepted();
    case 'merged':
    case 'failed':
      return rejected(
        'PULL_REQUEST_NOT_IN_QUEUE',
        `Pull request #${entry.pullRequest.number} has ${entry.stage.kind}: there is nothing left to cancel.`,
      );
    default:
      return accepted(ending(entry, reason));
  }
}

function decideObserve(entry: Entry, queue: Queue, seen: PullRequest | null, accepted: Accept): Decision {
  if (isEnded(entry.stage)) return accepted();
  if (seen === null) return accepted(ending(entry, 'PR_CLOSED'));
  const pullRequest = settled(entry.pullRequest, seen);
  const changed = !samePullRequest(entry.pullRequest, pullRequest);
  const observed: FactBody[] = changed ? [{ kind: 'observed', pullRequest }] : [];
  // What is being put on the branch is seen as merged before the landing has said so.
  if (pullRequest.state === 'merged' && entry.landing) return accepted();
  if (pullRequest.state === 'merged')
    return accepted(...observed, {
      kind: 'moved',
      to: { kind: 'merged', reason: 'MANUAL_MERGE', runId: null },
      reason: 'MANUAL_MERGE',
    });
  const endedBy = endingOf(queue, entry.pullRequest, pullRequest);
  // The record keeps the head it was submitted with: a cancelled trip never shows a commit it was not about.
  if (endedBy !== null) return accepted(ending(entry, endedBy));
  return accepted(...observed);
}

/** What was found out about another head, or is known already, changes nothing. */
function decideExamine(
  { stage, pullRequest, headReview }: Entry,
  review: HeadReview,
  accepted: Accept,
): Decision {
  if (isEnded(stage) || review.headSha !== pullRequest.headSha || isSameReview(headReview, review))
    return accepted();
  return accepted({ kind: 'examined', review });
}

const isSameReview = (a: HeadReview | null, b: HeadReview): boolean =>
  a !== null &&
  a.headSha === b.headSha &&
  a.globs === b.globs &&
  a.approvedBy === b.approvedBy &&
  a.protectedPaths.join('\n') === b.protectedPaths.join('\n');

/** The host's own word stands above it. */
function decideTry(
  { stage, pullRequest }: Entry,
  { headSha, isMergeable }: Extract<EntryCommand, { kind: 'try' }>,
  accepted: Accept,
): Decision {
  if (isEnded(stage) || pullRequest.headSha !== headSha || isMergeabilityKnown(pullRequest))
    return accepted();
  const mergeability = isMergeable ? 'mergeable' : 'not_mergeable';
  return accepted({ kind: 'observed', pullRequest: { ...pullRequest, mergeability } });
}

/**
 * A host that is still working out whether it can be merged has no news: that it can be merged, said before of the same
 * commits, stands. Hosts compute it again whenever the branch moves, which is with every landing. That it cannot be merged does
 * not stand: a host that works it out again has taken back what it had against it.
 */
const settled = (before: PullRequest | null, now: PullRequest): PullRequest =>
  before !== null &&
  before.mergeability === 'mergeable' &&
  !isMergeabilityKnown(now) &&
  now.headSha === before.headSha &&
  now.baseBranch === before.baseBranch &&
  now.draft === before.draft
    ? { ...now, mergeability: before.mergeability }
    : now;

/** Why the new word of the host ends the trip, or null if it does not. */
function endingOf(queue: Queue, before: PullRequest, after: PullRequest): CancelledReason | null {
  if (after.state === 'closed') return 'PR_CLOSED';
  if (after.headSha !== before.headSha) return 'PR_PUSHED_TO';
  // Retargeting onto the queue's branch is what a waiting entry waits for; only leaving it ends the trip.
  if (before.baseBranch === queue.targetBranch && after.baseBranch !== queue.targetBranch)
    return 'PR_BASE_BRANCH_CHANGED';
  if (after.draft && !before.draft) return 'PR_CONVERTED_TO_DRAFT';
  return null;
}

/** While it is being put on the branch, only the branch can say how that ended. */
const ending = (entry: Entry, reason: CancelledReason): FactBody =>
  entry.landing
    ? { kind: 'end_requested', reason }
    : { kind: 'moved', to: { kind: 'cancelled', reason }, reason };

const samePullRequest = (a: PullRequest, b: PullRequest): boolean =>
  a.title === b.title &&
  a.headSha === b.headSha &&
  a.baseBranch === b.baseBranch &&
  a.author === b.author &&
  a.fork === b.fork &&
  a.url === b.url &&
  a.mergeability === b.mergeability &&
  a.draft === b.draft &&
  a.state === b.state;

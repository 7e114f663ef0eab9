// What may be requested when: decide(state, command) → facts, or the rule that refuses.
//
// Example. #7 is pending at head a1. A push moves its head to b2, and before the webhook arrives #7 is
// submitted again. The submission carries the new head, so the old attempt ends here (PR_PUSHED_TO) and a new
// one begins: a pull request that was approved at a1 never lands at b2.
//
//                 submit                    admit (plan)             start, verdicts, landing (plan)
//   (none) ────────────────► not_ready ◄───────────────► pending ──────────────► testing … merged | failed
//      ▲                          │                          │                          │
//      └─ submit: new attempt ─ cancelled ◄── cancel, push, close, retarget, draft ─────┘
//
// Only `submit`, `cancel`, `restart` and the host's observations come through here; the plan decides the
// rest.

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
    // An observation about a pull request that was never submitted changes nothing.
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
          `Pull request #${entry.pullRequest.number} is ${entry.stage.kind}. Only tests that are running, or that passed or failed in the queue, can be restarted.`,
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
  const submitOptions = {
    priority: command.priority ?? priorities[defaultPriorityName],
    usedDefaultPriority: command.priority === null,
    noBatch: command.noBatch,
    forced: command.force,
  };
  const begin: FactBody = { kind: 'submitted', pullRequest, seniority: command.seniority, ...submitOptions };
  if (entry === null || isEnded(entry.stage)) return accepted(begin);

  const endedBy = cancellationReason(queue, entry.pullRequest, pullRequest);
  if (endedBy !== null && entry.landing)
    return rejected(
      'PULL_REQUEST_NOT_ENQUEUEABLE',
      `Pull request #${pullRequest.number} is merging now, at its previous head. Submit it again in a moment.`,
    );
  if (endedBy !== null) return accepted(ending(entry, endedBy), begin);
  const rewritten: FactBody = { kind: 'rewritten', ...submitOptions };
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
        `Pull request #${entry.pullRequest.number} has ${entry.stage.kind}. There is nothing left to cancel.`,
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
  // A pull request that is landing can be seen as merged before the landing is recorded.
  if (pullRequest.state === 'merged' && entry.landing) return accepted();
  if (pullRequest.state === 'merged')
    return accepted(...observed, {
      kind: 'moved',
      to: { kind: 'merged', reason: 'MANUAL_MERGE', runId: null },
      reason: 'MANUAL_MERGE',
    });
  const endedBy = cancellationReason(queue, entry.pullRequest, pullRequest);
  // The entry keeps the head it was submitted with: a cancelled attempt never shows another commit.
  if (endedBy !== null) return accepted(ending(entry, endedBy));
  return accepted(...observed);
}

/** A review of another head, or one that is already recorded, changes nothing. */
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

/** The mergeability that the host reports takes precedence. */
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
 * A host that is still computing mergeability reports nothing new, so an earlier `mergeable` of the same
 * commits stays: hosts compute it again whenever the branch moves, which is after every landing. An earlier
 * `not_mergeable` does not stay: a host that computes it again has withdrawn that answer.
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

/** Why the host's new report ends the attempt, or null if it does not. */
function cancellationReason(queue: Queue, before: PullRequest, after: PullRequest): CancelledReason | null {
  if (after.state === 'closed') return 'PR_CLOSED';
  if (after.headSha !== before.headSha) return 'PR_PUSHED_TO';
  // An entry may wait to be retargeted onto the queue's branch; only leaving that branch ends the attempt.
  if (before.baseBranch === queue.targetBranch && after.baseBranch !== queue.targetBranch)
    return 'PR_BASE_BRANCH_CHANGED';
  if (after.draft && !before.draft) return 'PR_CONVERTED_TO_DRAFT';
  return null;
}

/** While the entry is landing, only the branch shows how that ends. */
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

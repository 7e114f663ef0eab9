// "Why is my change where it is, and what would move it?" in sentences, as the API, the status comment, the command line and
// the dashboard show them.

import { admits } from '../decide-queue.ts';
import type { HeadGate } from '../rule/head-gate.ts';
import { type Entry, isEnded, type PullRequest, type Queue, unknownFork } from '../model.ts';
import { isReady, type Readiness } from '../rule/readiness.ts';
import {
  explainSituation,
  listNames,
  notEvaluated,
  type Situation,
  type SituationContext,
} from '../situation.ts';

export type WaitingFacts = {
  readonly readiness: Readiness;
  /** As the queue was last evaluated; null: it was not evaluated since the entry was submitted. */
  readonly situation: Situation | null;
  readonly context: Omit<SituationContext, 'settings'>;
  readonly isHostAway: boolean;
};

/** Everything that an entry waits for. */
export function explainWaiting(queue: Queue, entry: Entry, facts: WaitingFacts): readonly string[] {
  if (isEnded(entry.stage)) return [];
  const { settings } = queue;
  const away = facts.isHostAway ? ['The Git host does not answer. The queue waits until it does.'] : [];
  const own =
    entry.stage.kind === 'not_ready'
      ? explainUnready(queue, entry, facts.readiness)
      : facts.situation === null
        ? [notEvaluated]
        : [explainSituation(facts.situation, { settings, ...facts.context })];
  const end =
    entry.endRequested === null
      ? []
      : ['Cancellation requested; it takes effect unless the merge in progress succeeds.'];
  const isIn = entry.stage.kind !== 'not_ready' && entry.stage.kind !== 'pending';
  return [...away, ...own, ...end, ...explainState(queue, isIn), ...stopped(queue)];
}

const stopped = ({ state, stateReason }: Queue): string[] =>
  stateReason === null || state !== 'PAUSED' ? [] : [stateReason];

function explainUnready(queue: Queue, entry: Entry, readiness: Readiness): string[] {
  const { pullRequest } = entry;
  const sentences: string[] = [];
  if (!readiness.doesBaseBranchMatch)
    sentences.push(
      `Its base branch is ${pullRequest.baseBranch}, but this queue merges into ${queue.targetBranch}. Retarget the pull request to ${queue.targetBranch}.`,
    );
  if (!readiness.isMergeable) sentences.push(explainMergeability(entry));
  const gate = readiness.headGate;
  // A comparison takes a moment: where the queue admits nothing, it is not what the pull request waits for.
  if (gate.kind !== 'open' && (gate.kind !== 'unexamined' || admits(queue)))
    sentences.push(explainHeadGate(pullRequest, gate));
  if (readiness.requiresImpactedTargets && !readiness.hasImpactedTargets)
    sentences.push(
      `Its impacted targets are not known for commit ${pullRequest.headSha.slice(0, 12)}. Upload them with setImpactedTargets, or send "ALL".`,
    );
  if (isReady(readiness) && admits(queue)) sentences.push('It is ready and enters the queue within seconds.');
  return sentences;
}

/** Why the head of a pull request is not tested, and what would change that. */
function explainHeadGate({ headSha }: PullRequest, gate: Exclude<HeadGate, { kind: 'open' }>): string {
  const from = (fork: string) =>
    fork === unknownFork ? 'from an unknown repository' : `from the fork ${fork}`;
  switch (gate.kind) {
    case 'unexamined':
      return 'Signalbox is comparing the files that it changes with the protected paths of the queue.';
    case 'refused':
      return `It comes ${from(gate.fork)}, and this queue does not test pull requests from forks. Push its commits to a branch of the repository and open a pull request from there.`;
    case 'unapproved': {
      const why = [
        ...(gate.fork === null ? [] : [`comes ${from(gate.fork)}`]),
        ...(gate.protectedPaths.length === 0 ? [] : [`changes ${listNames(gate.protectedPaths)}`]),
      ].join(' and ');
      return `It ${why}. It waits until someone with write access, other than its author, approves commit ${headSha.slice(0, 12)}.`;
    }
  }
}

function explainMergeability({ pullRequest }: Entry): string {
  if (pullRequest.draft) return 'It is a draft. Mark it as ready for review.';
  return pullRequest.mergeability === 'not_mergeable'
    ? 'The Git host reports that it cannot be merged. Resolve conflicts with its base branch, and meet the requirements of branch protection.'
    : 'The Git host has not reported yet whether it can be merged. Signalbox asks again.';
}

/** What the state of the queue adds; `isUnderTest`: for an entry whose tests continue in every state. */
function explainState({ state }: Pick<Queue, 'state'>, isUnderTest: boolean): string[] {
  switch (state) {
    case 'RUNNING':
      return [];
    case 'PAUSED':
      return ['The queue is paused: it admits, tests and merges nothing until its state is RUNNING again.'];
    case 'DRAINING':
      return isUnderTest
        ? []
        : [
            'The queue is draining: it finishes what it has admitted and admits nothing new until its state is RUNNING again.',
          ];
    case 'SWITCHING_MODES':
      return isUnderTest
        ? []
        : ['The queue is switching modes: it admits nothing until the running tests have finished.'];
  }
}

// "Why is my change where it is, and what would move it?" in sentences, from the same facts as the decision.

import { unreachable } from '#base/assert.ts';
import { admits } from './decide-queue.ts';
import { type Entry, type Queue, isEnded } from './model.ts';
import { isReady, type Readiness } from './readiness.ts';

/** `position` counts what is ahead in the line; null for an entry that is not in it. */
export function explainWaiting(
  queue: Queue,
  entry: Entry,
  readiness: Readiness,
  position: number | null,
): readonly string[] {
  if (isEnded(entry.stage)) return [];
  const { kind } = entry.stage;
  switch (kind) {
    case 'not_ready':
      return [...explainUnready(queue, entry, readiness), ...explainQueueState(queue)];
    case 'pending':
      return [explainPlace(position ?? 0), ...explainQueueState(queue)];
    case 'testing':
      return ['Its tests are running. It lands once they pass and everything ahead of it has landed.'];
    case 'tests_passed':
      return queue.state === 'PAUSED'
        ? ['Its tests passed. It lands once the queue runs again: the queue is paused.']
        : ['Its tests passed. It lands once everything ahead of it has landed.'];
    case 'pending_failure':
      return ['Its tests failed. Whether it is to blame is settled once everything ahead of it has passed.'];
    case 'merged':
    case 'failed':
    case 'cancelled':
      return [];
    default:
      return unreachable(kind);
  }
}

function explainUnready(queue: Queue, entry: Entry, readiness: Readiness): string[] {
  const { pullRequest } = entry;
  const sentences: string[] = [];
  if (!readiness.doesBaseBranchMatch)
    sentences.push(
      `Its base branch is ${pullRequest.baseBranch}, and this queue lands on ${queue.targetBranch}: retarget the pull request to ${queue.targetBranch}.`,
    );
  if (!readiness.isMergeable) sentences.push(explainMergeability(entry));
  if (readiness.requiresImpactedTargets && !readiness.hasImpactedTargets)
    sentences.push(
      `Its impacted targets are not known for commit ${pullRequest.headSha.slice(0, 12)}: upload them with setImpactedTargets, or send "ALL".`,
    );
  if (isReady(readiness) && admits(queue))
    sentences.push('It is ready, and enters the line as soon as the queue has looked at it.');
  return sentences;
}

function explainMergeability({ pullRequest }: Entry): string {
  if (pullRequest.draft) return 'It is a draft: mark it as ready for review.';
  return pullRequest.mergeability === 'not_mergeable'
    ? 'Its host says it cannot be merged: resolve conflicts with its base branch and give it what branch protection asks for.'
    : 'Its host has not said yet whether it can be merged; Signalbox asks again.';
}

function explainPlace(position: number): string {
  if (position === 0) return 'It is next in line, waiting for a free test slot.';
  const ahead = position === 1 ? '1 pull request is' : `${position} pull requests are`;
  return `It is in line: ${ahead} ahead of it.`;
}

function explainQueueState(queue: Queue): string[] {
  switch (queue.state) {
    case 'RUNNING':
      return [];
    case 'PAUSED':
      return ['The queue is paused: nothing is admitted, tested or merged until its state is RUNNING again.'];
    case 'DRAINING':
      return [
        'The queue is draining: it finishes what was admitted before and admits nothing new until its state is RUNNING again.',
      ];
    case 'SWITCHING_MODES':
      return ['The queue is switching modes: it admits nothing until what is under test has finished.'];
    default:
      return unreachable(queue.state);
  }
}

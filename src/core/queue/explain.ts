// "Why is my change where it is, and what would move it?" in sentences. The planner and the API each say what they see
// of an entry's situation; the words are here, once.

import type { Verdict } from './check.ts';
import { admits } from './decide-queue.ts';
import type { HeadGate } from './head-gate.ts';
import { type Entry, isEnded, type PullRequest, type Queue, unknownFork } from './model.ts';
import { isReady, type Readiness } from './readiness.ts';

/** What holds an entry of the line where it is. */
export type Situation =
  | { readonly kind: 'landing' }
  | {
      readonly kind: 'pending';
      /** It conflicts with this one, which is ahead; null if with nobody. */
      readonly conflictsWith: number | null;
      /** The first of those that are considered before it, and how many they are. */
      readonly before: readonly number[];
      readonly beforeCount: number;
      readonly slots: number;
      readonly slotsTaken: number;
      /** It waits for others to be tested with it. */
      readonly batch: { readonly size: number; readonly waitMinutes: number } | null;
    }
  | {
      readonly kind: 'testing';
      /** What it is tested on top of, and has not landed yet. */
      readonly ahead: readonly number[];
      readonly askedMs: number;
      /** Null until CI has said something. */
      readonly runningMs: number | null;
      readonly timesOutInMs: number | null;
      /** What its checks are at, where that is known. */
      readonly checks: Extract<Verdict, { kind: 'open' }> | null;
    }
  | { readonly kind: 'passed'; readonly ahead: readonly number[] }
  | { readonly kind: 'retrying' }
  | { readonly kind: 'failed'; readonly ahead: readonly number[]; readonly isBatch: boolean }
  | { readonly kind: 'searched'; readonly suspects: readonly number[] };

const listedMax = 3;

function list(prs: readonly number[], count = prs.length): string {
  const shown = prs.slice(0, listedMax).map((pr) => `#${pr}`);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

const minutes = (ms: number): string => `${Math.max(0, Math.round(ms / 60_000))} min`;

const verb = (count: number, one: string, many: string): string => (count === 1 ? one : many);

export function explainSituation(situation: Situation): string {
  switch (situation.kind) {
    case 'landing':
      return 'It is landing: its commits are being put on the branch.';
    case 'pending':
      return explainPending(situation);
    case 'testing':
      return explainTesting(situation);
    case 'passed':
      return situation.ahead.length === 0
        ? 'Its tests passed: it lands next.'
        : `Its tests passed on top of ${list(situation.ahead)}: it lands once ${list(situation.ahead)} can.`;
    case 'retrying':
      return 'CI gave no result about it. Its tests are repeated after a pause.';
    case 'failed':
      return explainFailed(situation);
    case 'searched': {
      const { suspects } = situation;
      return `The tests of its batch failed, and the culprit is searched for: ${list(suspects)} ${verb(suspects.length, 'is', 'are')} suspected. The others go back to the line.`;
    }
  }
}

function explainPending(situation: Extract<Situation, { kind: 'pending' }>): string {
  const { conflictsWith, before, beforeCount, slots, slotsTaken, batch } = situation;
  if (conflictsWith !== null)
    return `It conflicts with #${conflictsWith}, which is ahead of it: it waits until that one has landed or left.`;
  const isNext = beforeCount === 0;
  const taken = slots === 1 ? 'the one test slot is taken' : `all ${slots} test slots are taken`;
  if (slotsTaken >= slots)
    return isNext
      ? `It is next: ${taken}, and it gets the first that is free.`
      : `${list(before, beforeCount)} ${verb(beforeCount, 'is', 'are')} before it, and ${taken}.`;
  if (batch !== null)
    return `Its batch fills: it starts with ${batch.size} pull requests, or when the oldest has waited ${batch.waitMinutes} min.`;
  return isNext
    ? 'It is next, and starts with the queue’s next look.'
    : `It waits for ${list(before, beforeCount)}, before it in the line.`;
}

function explainTesting(situation: Extract<Situation, { kind: 'testing' }>): string {
  const { ahead, askedMs, runningMs, timesOutInMs, checks } = situation;
  const on = ahead.length === 0 ? 'on the branch' : `on top of ${list(ahead)}`;
  const limit = timesOutInMs === null ? '' : ` It times out in ${minutes(timesOutInMs)}.`;
  const state =
    runningMs === null
      ? `Its tests were asked for ${minutes(askedMs)} ago and have not begun.`
      : `Its tests have run for ${minutes(runningMs)}.`;
  return `${state}${checks === null ? '' : explainChecks(checks)}${limit} It is tested ${on}.`;
}

const names = (checks: readonly string[]): string => {
  const shown = checks.slice(0, listedMax).join(', ');
  return checks.length > listedMax ? `${shown} and ${checks.length - listedMax} more` : shown;
};

function explainChecks({ running, missing }: Extract<Verdict, { kind: 'open' }>): string {
  const under = running.length === 0 ? '' : ` Under way: ${names(running)}.`;
  const unheard = missing.length === 0 ? '' : ` Not reported yet: ${names(missing)}.`;
  return `${under}${unheard}`;
}

function explainFailed({ ahead, isBatch }: Extract<Situation, { kind: 'failed' }>): string {
  if (ahead.length > 0)
    return `Its tests failed on top of ${list(ahead)}: whether it is to blame is known once ${list(ahead)} ${verb(ahead.length, 'has', 'have')} passed.`;
  return isBatch
    ? 'The tests of its batch failed: the culprit is searched for next.'
    : 'Its tests failed: the next pull requests behind it are waited for before that is final.';
}

export type WaitingFacts = {
  readonly readiness: Readiness;
  /** Null for one that is not in the line. */
  readonly situation: Situation | null;
  readonly isHostAway: boolean;
};

/** Everything that an entry waits for, as the API tells it. */
export function explainWaiting(queue: Queue, entry: Entry, facts: WaitingFacts): readonly string[] {
  if (isEnded(entry.stage)) return [];
  const away = facts.isHostAway ? ['Its host does not answer: nothing is decided until it does.'] : [];
  const own =
    entry.stage.kind === 'not_ready'
      ? explainUnready(queue, entry, facts.readiness)
      : facts.situation === null
        ? ['It moves with the queue’s next look.']
        : [explainSituation(facts.situation)];
  const end =
    entry.endRequested === null ? [] : ['It was asked to leave, and does so unless this landing succeeds.'];
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
      `Its base branch is ${pullRequest.baseBranch}, and this queue lands on ${queue.targetBranch}: retarget the pull request to ${queue.targetBranch}.`,
    );
  if (!readiness.isMergeable) sentences.push(explainMergeability(entry));
  const gate = readiness.headGate;
  // A comparison takes a moment: where the queue admits nothing, it is not what the pull request waits for.
  if (gate.kind !== 'open' && (gate.kind !== 'unexamined' || admits(queue)))
    sentences.push(explainHeadGate(pullRequest, gate));
  if (readiness.requiresImpactedTargets && !readiness.hasImpactedTargets)
    sentences.push(
      `Its impacted targets are not known for commit ${pullRequest.headSha.slice(0, 12)}: upload them with setImpactedTargets, or send "ALL".`,
    );
  if (isReady(readiness) && admits(queue))
    sentences.push('It is ready, and enters the line as soon as the queue has looked at it.');
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
      return `It comes ${from(gate.fork)}, and this queue does not test pull requests from forks: push its commits to a branch of the repository and open a pull request from there.`;
    case 'unapproved': {
      const why = [
        ...(gate.fork === null ? [] : [`comes ${from(gate.fork)}`]),
        ...(gate.protectedPaths.length === 0 ? [] : [`changes ${names(gate.protectedPaths)}`]),
      ].join(' and ');
      return `It ${why}: it waits for an approval of commit ${headSha.slice(0, 12)} by a person with write access who is not its author.`;
    }
  }
}

function explainMergeability({ pullRequest }: Entry): string {
  if (pullRequest.draft) return 'It is a draft: mark it as ready for review.';
  return pullRequest.mergeability === 'not_mergeable'
    ? 'Its host says it cannot be merged: resolve conflicts with its base branch and give it what branch protection asks for.'
    : 'Its host has not said yet whether it can be merged; Signalbox asks again.';
}

/** What the state of the queue adds; `isUnderTest`: for one whose tests go on whatever the state. */
export function explainState({ state }: Pick<Queue, 'state'>, isUnderTest: boolean): string[] {
  switch (state) {
    case 'RUNNING':
      return [];
    case 'PAUSED':
      return ['The queue is paused: nothing is admitted, tested or merged until its state is RUNNING again.'];
    case 'DRAINING':
      return isUnderTest
        ? []
        : [
            'The queue is draining: it finishes what was admitted before and admits nothing new until its state is RUNNING again.',
          ];
    case 'SWITCHING_MODES':
      return isUnderTest
        ? []
        : ['The queue is switching modes: it admits nothing until what is under test has finished.'];
  }
}

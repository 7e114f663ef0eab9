// Polls a pull request until it has left the queue, and continues through times when the service does not
// answer.

import { setTimeout as sleep } from 'node:timers/promises';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import type { Api } from '../client/api.ts';
import type { PullRequestPlace } from '../client/pull-request-place.ts';
import { ServiceError } from '../client/transport.ts';
import type { ExitName } from '../exit-codes.ts';
import { hasEnded } from '../queue/state-text.ts';

export type Follower = {
  /** After every answer. */
  readonly onAnswer: (answer: SubmittedPullRequest) => void;
  /** The service does not answer, and why. */
  readonly onSilence: (why: string) => void;
};

type FollowOptions = {
  /** Null: for ever. */
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal;
};

export type FollowEnd =
  | { readonly kind: 'ended'; readonly answer: SubmittedPullRequest }
  | { readonly kind: 'timeout' | 'interrupted' };

/** Changes seldom come alone: polling is more frequent after one. */
const [pauseMsMin, pauseMsMax] = [1_000, 5_000];
/** A service that is unreachable for longer will not be back soon. */
const silenceMsMax = 10 * 60_000;

export async function follow(
  api: Api,
  place: PullRequestPlace,
  { onAnswer, onSilence }: Follower,
  { timeoutMs, signal }: FollowOptions,
): Promise<FollowEnd> {
  const begunAt = performance.now();
  let lastAnswerAt = begunAt;
  let pauseMs = pauseMsMin;
  let last = '';
  for (;;) {
    try {
      const answer = await api.call('getSubmittedPullRequest', { ...place, includeTimeline: true });
      lastAnswerAt = performance.now();
      onAnswer(answer);
      if (hasEnded(answer.state)) return { kind: 'ended', answer };
      const seen = `${answer.state} ${answer.queuePosition} ${answer.stateChangedAt}`;
      pauseMs = seen === last ? Math.min(pauseMs * 1.3, pauseMsMax) : pauseMsMin;
      last = seen;
    } catch (error) {
      const mayPass =
        error instanceof ServiceError &&
        (error.status === null || error.status === 429 || error.status >= 500);
      if (!mayPass || performance.now() - lastAnswerAt > silenceMsMax) throw error;
      onSilence(error.sentence);
      pauseMs = pauseMsMax;
    }
    if (signal.aborted) return { kind: 'interrupted' };
    const leftMs = timeoutMs === null ? Infinity : begunAt + timeoutMs - performance.now();
    if (leftMs <= 0) return { kind: 'timeout' };
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return { kind: 'interrupted' };
  }
}

/** The exit code of a command that waited for the pull request. */
export function chooseExitName(end: FollowEnd): ExitName {
  if (end.kind !== 'ended') return end.kind;
  return end.answer.state === 'merged' ? 'done' : end.answer.state === 'failed' ? 'failed' : 'cancelled';
}

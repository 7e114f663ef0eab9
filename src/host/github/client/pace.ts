// How fast content is created. The limit is in core/content-budget.ts: it is counted for all processes
// together, and landings have a reserved share, so that no comment delays a merge.
//
// One process may send a burst at once, because a change of the whole queue writes many texts at a time;
// after that it sends one per second, as GitHub's best practices ask. A long wait is not spent here: the
// caller gets an error that says when to retry.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { ContentBudget } from '../../connection.ts';
import { HostError } from '../../host.ts';

/** Waits until `count` may be created, or throws `rate_limited`. */
export type Pace = (isUrgent: boolean, count?: number) => Promise<void>;

const intervalMs = 1_000;
const burst = 14;
const urgentBurst = 6;
const waitMaxMs = 10_000;

export function createPace(now: () => number = () => performance.now()): Pace {
  // When all writes so far would have been sent at one per second.
  let dueAt = 0;
  return async (isUrgent, count = 1) => {
    const at = now();
    const ahead = ((isUrgent ? burst + urgentBurst : burst) - 1) * intervalMs;
    const waitMs = Math.max(0, dueAt - at - ahead);
    if (waitMs > waitMaxMs) throw tooMuch(waitMs);
    dueAt = Math.max(dueAt, at) + count * intervalMs;
    if (waitMs > 0) await sleep(waitMs);
  };
}

const tooMuch = (retryAfterMs: number): HostError =>
  new HostError(
    'rate_limited',
    'The limit of GitHub for new content is used up. Signalbox sends the rest later.',
    {
      retryAfterMs,
    },
  );

/** Also limits the writes of all processes together. */
export const createSharedPace =
  (budget: ContentBudget, key: string, clock: Clock, pace: Pace): Pace =>
  async (isUrgent, count = 1) => {
    await pace(isUrgent, count);
    const waitMs = await budget.take(key, { at: clock.now(), count, isLanding: isUrgent });
    if (waitMs !== null) throw tooMuch(waitMs);
  };

/** An Enterprise Server has no such limits unless its operator sets some; its answers then report them. */
export const unpaced: Pace = () => Promise.resolve();

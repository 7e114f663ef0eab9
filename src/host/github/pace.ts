// How fast content is created. How much may be is in core/content-budget.ts: it is counted for all processes together, and
// landings have a share that nothing else may use, so that no comment keeps a merge waiting.
//
// In one process a burst is let through at once, as a queue that changes whole writes many texts at a time; after that they
// come one a second, as GitHub's best practices ask for. A wait that would be long is not waited here: the caller is told
// when to try again.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { ContentBudget } from '../connection.ts';
import { HostError } from '../host.ts';

/** Waits until `count` may be created, or throws `rate_limited`. */
export type Pace = (isUrgent: boolean, count?: number) => Promise<void>;

const intervalMs = 1_000;
const burst = 14;
const urgentBurst = 6;
const waitMaxMs = 10_000;

export function createPace(now: () => number = () => performance.now()): Pace {
  // When all that was let through so far would have come, one a second.
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
  new HostError('rate_limited', 'The budget of content at GitHub is used up: the rest waits.', {
    retryAfterMs,
  });

/** The same with the count of all processes. */
export const createSharedPace =
  (budget: ContentBudget, key: string, clock: Clock, pace: Pace): Pace =>
  async (isUrgent, count = 1) => {
    await pace(isUrgent, count);
    const waitMs = await budget.take(key, { at: clock.now(), count, isLanding: isUrgent });
    if (waitMs !== null) throw tooMuch(waitMs);
  };

/** An Enterprise Server has no such limits unless its operator sets some, and says so by itself. */
export const unpaced: Pace = () => Promise.resolve();

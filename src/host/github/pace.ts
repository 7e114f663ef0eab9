// How fast we write. GitHub asks for about a write a second, and locks out who makes more than 80 in a minute. A burst is
// let through at once, as a queue that changes whole writes many words at a time; after that they come one a second.
// Landing has a share of its own, so that no comment keeps a merge waiting. A wait that would be long is not waited here.

import { setTimeout as sleep } from 'node:timers/promises';
import { HostError } from '../host.ts';

export type Pace = (isUrgent: boolean) => Promise<void>;

const intervalMs = 1_000;
const burst = 14;
const urgentBurst = 6;
const waitMaxMs = 10_000;

export function createPace(now: () => number = () => performance.now()): Pace {
  // When all that was let through so far would have come, one a second.
  let dueAt = 0;
  return async (isUrgent) => {
    const at = now();
    const ahead = ((isUrgent ? burst + urgentBurst : burst) - 1) * intervalMs;
    const waitMs = Math.max(0, dueAt - at - ahead);
    if (waitMs > waitMaxMs)
      throw new HostError('rate_limited', 'We write more than GitHub wants to hear: the rest waits.', {
        retryAfterMs: waitMs,
      });
    dueAt = Math.max(dueAt, at) + intervalMs;
    if (waitMs > 0) await sleep(waitMs);
  };
}

/** An Enterprise Server has no such limits unless its operator sets some, and says so by itself. */
export const unpaced: Pace = () => Promise.resolve();

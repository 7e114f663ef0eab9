// Limits how much work each owner (an organization, an address) may have in progress. Further work waits for
// the owner's own work, in order, and delays no other owner.

import { appError } from '#base/error.ts';

export type Share = {
  readonly run: <Result>(owner: string, work: () => Promise<Result>) => Promise<Result>;
};

type OwnerSlots = { running: number; readonly waiting: (() => void)[] };

/** `isResting`: while more of an owner's work waits, its place stays empty for as long as the last work took. */
export function createShare(atOnceMax: number, waitingMax: number, isResting = false): Share {
  const lines = new Map<string, OwnerSlots>();
  const giveBack = (owner: string, line: OwnerSlots) => {
    // The first in the waiting list takes the place of the work that ended.
    const next = line.waiting.shift();
    if (next !== undefined) return next();
    line.running -= 1;
    if (line.running === 0) lines.delete(owner);
  };
  return {
    run: async (owner, work) => {
      const line = lines.get(owner) ?? { running: 0, waiting: [] };
      lines.set(owner, line);
      if (line.running >= atOnceMax) {
        if (line.waiting.length >= waitingMax)
          throw appError('RATE_LIMITED', {
            public: 'Too many requests of this kind are in progress. Try again in a few seconds.',
            retryAfterSeconds: 2,
          });
        await new Promise<void>((resolve) => line.waiting.push(resolve));
      } else line.running += 1;
      const begunAt = performance.now();
      try {
        return await work();
      } finally {
        if (isResting && line.waiting.length > 0)
          setTimeout(() => giveBack(owner, line), performance.now() - begunAt);
        else giveBack(owner, line);
      }
    },
  };
}

// Work of which each owner (an organization, an address) may have so much under way and no more. What is over that waits
// for the owner's own work, in order, and holds up no other owner.

import { appError } from '#base/error.ts';

export type Share = {
  readonly run: <Result>(owner: string, work: () => Promise<Result>) => Promise<Result>;
};

type Line = { running: number; readonly waiting: (() => void)[] };

export function createShare(atOnceMax: number, waitingMax: number): Share {
  const lines = new Map<string, Line>();
  return {
    run: async (owner, work) => {
      const line = lines.get(owner) ?? { running: 0, waiting: [] };
      lines.set(owner, line);
      if (line.running >= atOnceMax) {
        if (line.waiting.length >= waitingMax)
          throw appError('RATE_LIMITED', {
            public: 'Too many requests of this kind are under way. Try again in a few seconds.',
            retryAfterSeconds: 2,
          });
        await new Promise<void>((resolve) => line.waiting.push(resolve));
      } else line.running += 1;
      try {
        return await work();
      } finally {
        // The first that waits has the place of the one that ended.
        const next = line.waiting.shift();
        if (next !== undefined) next();
        else {
          line.running -= 1;
          if (line.running === 0) lines.delete(owner);
        }
      }
    },
  };
}

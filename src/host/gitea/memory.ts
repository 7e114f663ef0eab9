// What rarely changes is kept for a while, so that it is not asked for again with every pull request.

import type { Clock } from '#base/clock.ts';

export type Memory<Value> = {
  /** What is kept, or else what `ask` answers; an answer that fails is not kept. */
  readonly recall: (key: string, ask: () => Promise<Value>) => Promise<Value>;
};

type Kept<Value> = { readonly value: Promise<Value>; until: number };

const entriesMax = 10_000;

/** `keptMs`: of each answer, or by what it is. */
export function createMemory<Value>(
  clock: Clock,
  keptMs: number | ((value: Value) => number),
): Memory<Value> {
  const kept = new Map<string, Kept<Value>>();
  const settle = async (key: string, entry: Kept<Value>, askedAt: number) => {
    try {
      const value = await entry.value;
      entry.until = askedAt + (typeof keptMs === 'number' ? keptMs : keptMs(value));
    } catch {
      kept.delete(key);
    }
  };
  return {
    recall: (key, ask) => {
      const now = clock.now().getTime();
      const known = kept.get(key);
      if (known !== undefined && now < known.until) return known.value;
      if (kept.size >= entriesMax) kept.clear();
      // Whoever asks meanwhile waits for the same answer.
      const entry = { value: ask(), until: Infinity };
      kept.set(key, entry);
      void settle(key, entry, now);
      return entry.value;
    },
  };
}

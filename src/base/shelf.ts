// What is asked for often and changes seldom is kept for a while, and asked for once for all who ask meanwhile.

export type Shelf<Value> = {
  /** What is kept, or else what `ask` answers; an answer that fails is not kept. */
  readonly recall: (key: string, ask: () => Promise<Value>) => Promise<Value>;
  readonly forget: (key: string) => void;
};

type Kept<Value> = { readonly value: Promise<Value>; until: number };

/** `now` counts milliseconds; `keptMs`: of each answer, or by what it is. When too many are kept all are forgotten. */
export function createShelf<Value>(
  now: () => number,
  keptMs: number | ((value: Value) => number),
  entriesMax = 10_000,
): Shelf<Value> {
  const kept = new Map<string, Kept<Value>>();
  const settle = async (key: string, entry: Kept<Value>, askedAt: number) => {
    try {
      const value = await entry.value;
      entry.until = askedAt + (typeof keptMs === 'number' ? keptMs : keptMs(value));
    } catch {
      if (kept.get(key) === entry) kept.delete(key);
    }
  };
  return {
    recall: (key, ask) => {
      const askedAt = now();
      const known = kept.get(key);
      if (known !== undefined && askedAt < known.until) return known.value;
      if (kept.size >= entriesMax) kept.clear();
      // Whoever asks meanwhile waits for the same answer.
      const entry = { value: ask(), until: Infinity };
      kept.set(key, entry);
      void settle(key, entry, askedAt);
      return entry.value;
    },
    forget: (key) => void kept.delete(key),
  };
}

/** What is kept, or else what `ask` answers; never an answer that was asked for before `asOf` (`performance.now()`). */
export type DatedShelf<Value> = (
  key: string,
  asOf: number | undefined,
  ask: () => Promise<Value>,
) => Promise<Value>;

export function createDatedShelf<Value>(
  now: () => number,
  keptMs: number,
  entriesMax?: number,
): DatedShelf<Value> {
  const shelf = createShelf<{ readonly value: Value; readonly askedAt: number }>(now, keptMs, entriesMax);
  return async (key, asOf, ask) => {
    const askDated = async () => {
      const askedAt = performance.now();
      return { value: await ask(), askedAt };
    };
    const known = await shelf.recall(key, askDated);
    if (asOf === undefined || known.askedAt >= asOf) return known.value;
    shelf.forget(key);
    return (await shelf.recall(key, askDated)).value;
  };
}

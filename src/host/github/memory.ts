// What is kept in memory has an end: of what nobody asked for longest, the oldest goes first.

export type Memory<Value> = {
  readonly get: (key: string) => Value | undefined;
  readonly set: (key: string, value: Value) => void;
  readonly delete: (key: string) => void;
};

export function createMemory<Value>(entriesMax: number): Memory<Value> {
  const kept = new Map<string, Value>();
  return {
    get: (key) => {
      const value = kept.get(key);
      if (value === undefined) return undefined;
      kept.delete(key);
      kept.set(key, value);
      return value;
    },
    set: (key, value) => {
      kept.delete(key);
      kept.set(key, value);
      if (kept.size > entriesMax) kept.delete(kept.keys().next().value!);
    },
    delete: (key) => void kept.delete(key),
  };
}

/** What rarely changes is asked for once in a while, and once for all who ask meanwhile. A failure is not kept. */
export function createShelf<Value>(keptMs: number, entriesMax: number, now: () => number) {
  const kept = createMemory<{ readonly value: Promise<Value>; readonly until: number }>(entriesMax);
  return (key: string, ask: () => Promise<Value>): Promise<Value> => {
    const known = kept.get(key);
    if (known !== undefined && now() < known.until) return known.value;
    const value = ask();
    kept.set(key, { value, until: now() + keptMs });
    value.catch(() => kept.delete(key));
    return value;
  };
}

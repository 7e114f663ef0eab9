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

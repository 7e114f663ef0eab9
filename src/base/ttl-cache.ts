// A cache of values by key. A value is kept for a time, and the cache holds a number of values: beyond that number, the
// one that was used least recently is dropped. Callers that `load` a key while its value is being read share that read.
// A read that fails is not kept: the next caller reads again.

type TtlCacheOptions<Value> = {
  /** The most values that the cache holds. */
  readonly max: number;
  /**
   * How long a value is kept, counted from the start of its read; a function where that depends on the value. Default: until
   * it is dropped for lack of room.
   */
  readonly ttlMs?: number | ((value: Value) => number);
  /** Counts milliseconds. Default: `performance.now()`. */
  readonly now?: () => number;
};

export type TtlCache<Value> = {
  /** The value that is kept; undefined if there is none, or if it is still being read. */
  readonly get: (key: string) => Value | undefined;
  readonly set: (key: string, value: Value) => void;
  readonly delete: (key: string) => void;
  readonly clear: () => void;
  /** The value that is kept, or else what `read` answers. A kept value that `accepts` refuses is read again. */
  readonly load: (
    key: string,
    read: () => Promise<Value>,
    accepts?: (value: Value) => boolean,
  ) => Promise<Value>;
};

type CachedValue<Value> = {
  readonly startedAt: number;
  /** Null: the value was set. */
  readonly reading: Promise<Value> | null;
  /** Null while the value is being read. */
  kept: { readonly value: Value; readonly ttlMs: number } | null;
};

export function createTtlCache<Value>(options: TtlCacheOptions<Value>): TtlCache<Value> {
  const { max, ttlMs = Infinity, now = () => performance.now() } = options;
  // A Map keeps the order of insertion. Each use inserts the entry again, so the first is the least recently used.
  const entries = new Map<string, CachedValue<Value>>();

  const insert = (key: string, entry: CachedValue<Value>) => {
    entries.delete(key);
    entries.set(key, entry);
    const { value: oldest } = entries.keys().next();
    if (entries.size > max && oldest !== undefined) entries.delete(oldest);
  };
  const isExpired = ({ startedAt, kept }: CachedValue<Value>): boolean => {
    if (kept === null || kept.ttlMs === Infinity) return false;
    const ageMs = now() - startedAt;
    // A value from the future was kept before the clock was set back: how old it is cannot be known.
    return ageMs < 0 || ageMs >= kept.ttlMs;
  };
  const find = (key: string): CachedValue<Value> | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (isExpired(entry)) return void entries.delete(key);
    insert(key, entry);
    return entry;
  };
  const keep = (value: Value) => ({ value, ttlMs: typeof ttlMs === 'number' ? ttlMs : ttlMs(value) });
  const settle = async (key: string, entry: CachedValue<Value>, reading: Promise<Value>) => {
    try {
      entry.kept = keep(await reading);
    } catch {
      if (entries.get(key) === entry) entries.delete(key);
    }
  };
  const start = (key: string, read: () => Promise<Value>): Promise<Value> => {
    const startedAt = now();
    const reading = read();
    const entry: CachedValue<Value> = { startedAt, reading, kept: null };
    insert(key, entry);
    void settle(key, entry, reading);
    return reading;
  };

  return {
    get: (key) => find(key)?.kept?.value,
    set: (key, value) => insert(key, { startedAt: now(), reading: null, kept: keep(value) }),
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
    load: async (key, read, accepts = () => true) => {
      for (;;) {
        const entry = find(key);
        if (entry === undefined) return start(key, read);
        const value = entry.kept === null ? await entry.reading! : entry.kept.value;
        if (accepts(value)) return value;
        // Another caller may have started a newer read meanwhile: the next turn shares it.
        if (entries.get(key) === entry) entries.delete(key);
      }
    },
  };
}

/** The value that is kept, or else what `read` answers; never one whose read began before `asOf` (`performance.now()`). */
type DatedCache<Value> = (
  key: string,
  asOf: number | undefined,
  read: () => Promise<Value>,
) => Promise<Value>;

export function createDatedCache<Value>(
  options: TtlCacheOptions<unknown> & { readonly ttlMs: number },
): DatedCache<Value> {
  const cache = createTtlCache<{ readonly value: Value; readonly readAt: number }>(options);
  return async (key, asOf, read) => {
    const readDated = async () => {
      const readAt = performance.now();
      return { value: await read(), readAt };
    };
    const isNewEnough = ({ readAt }: { readonly readAt: number }) => asOf === undefined || readAt >= asOf;
    return (await cache.load(key, readDated, isNewEnough)).value;
  };
}

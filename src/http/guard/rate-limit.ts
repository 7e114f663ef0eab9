// A token bucket per key: it refills steadily up to its size, and a request takes one. Per process: with
// several API processes an organization has the sum of their limits.

type TokenBucket = { tokens: number; filledAtMs: number };

export type RateLimiter = {
  /**
   * Null if the request is within the limit; else the whole seconds to wait. `nowMs` is `performance.now()`: a limit measures
   * elapsed time, and no clock that is set may change it.
   */
  readonly take: (key: string, nowMs: number) => number | null;
};

/** Buckets kept before the full ones are forgotten: a full bucket is the same as none. */
const bucketsMax = 10_000;

export function createRateLimiter(perSecond: number, burst: number): RateLimiter {
  const buckets = new Map<string, TokenBucket>();
  const refilled = (bucket: TokenBucket, nowMs: number) =>
    Math.min(burst, bucket.tokens + (Math.max(0, nowMs - bucket.filledAtMs) / 1000) * perSecond);

  return {
    take: (key, nowMs) => {
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        if (buckets.size >= bucketsMax)
          for (const [other, candidate] of buckets)
            if (refilled(candidate, nowMs) >= burst) buckets.delete(other);
        bucket = { tokens: burst, filledAtMs: nowMs };
        buckets.set(key, bucket);
      }
      bucket.tokens = refilled(bucket, nowMs);
      bucket.filledAtMs = nowMs;
      if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
      bucket.tokens -= 1;
      return null;
    },
  };
}

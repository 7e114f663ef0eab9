import { describe, expect, it } from 'vitest';
import { createDatedCache, createTtlCache } from './ttl-cache.ts';

/** A clock that the test moves, and reads that count themselves. */
function world() {
  const time = { now: 0 };
  let reads = 0;
  return { time, now: () => time.now, read: () => Promise.resolve((reads += 1)) };
}

describe('a cache', () => {
  it('reads a key once for all callers that ask at the same time, and again when its time is over', async () => {
    const { time, now, read } = world();
    const cache = createTtlCache<number>({ ttlMs: 30_000, max: 10, now });
    expect(await Promise.all([cache.load('a', read), cache.load('a', read)])).toEqual([1, 1]);
    time.now = 29_999;
    expect(await cache.load('a', read)).toBe(1);
    expect(await cache.load('b', read)).toBe(2);
    time.now = 30_000;
    expect(cache.get('a')).toBeUndefined();
    expect(await cache.load('a', read)).toBe(3);
    cache.delete('a');
    expect(await cache.load('a', read)).toBe(4);
  });

  it('counts the time from the start of the read', async () => {
    const { time, now } = world();
    const cache = createTtlCache<string>({ ttlMs: 1_000, max: 10, now });
    const slow = Promise.withResolvers<string>();
    const first = cache.load('a', () => slow.promise);
    time.now = 5_000;
    // A read that takes longer than its value is kept is still shared.
    const second = cache.load('a', () => Promise.resolve('another'));
    expect(cache.get('a')).toBeUndefined();
    slow.resolve('slow');
    expect(await Promise.all([first, second])).toEqual(['slow', 'slow']);
    expect(await cache.load('a', () => Promise.resolve('next'))).toBe('next');
  });

  it('does not keep a value longer when the clock is set back', async () => {
    const { time, now, read } = world();
    time.now = 60_000;
    const cache = createTtlCache<number>({ ttlMs: 1_000, max: 10, now });
    expect(await cache.load('a', read)).toBe(1);
    time.now = 0;
    expect(await cache.load('a', read)).toBe(2);
  });

  it('does not keep a read that fails', async () => {
    const cache = createTtlCache<number>({ max: 10 });
    const failing = () => Promise.reject(new Error('unreachable'));
    await expect(Promise.all([cache.load('a', failing), cache.load('a', failing)])).rejects.toThrow(
      'unreachable',
    );
    expect(await cache.load('a', () => Promise.resolve(1))).toBe(1);
  });

  it('keeps each value for as long as the value says', async () => {
    const cache = createTtlCache<number | null>({ max: 10, ttlMs: (value) => (value === null ? 0 : 1_000) });
    expect(await cache.load('a', () => Promise.resolve(null))).toBeNull();
    expect(await cache.load('a', () => Promise.resolve(7))).toBe(7);
    expect(await cache.load('a', () => Promise.resolve(8))).toBe(7);
  });

  it('drops what was used least recently when it is full, and nothing else', async () => {
    const cache = createTtlCache<number>({ max: 2 });
    cache.set('a', 1);
    cache.set('b', 2);
    expect(cache.get('a')).toBe(1);
    expect(await cache.load('c', () => Promise.resolve(3))).toBe(3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
    cache.set('c', 4);
    expect([cache.get('a'), cache.get('c')]).toEqual([1, 4]);
  });

  it('reads again what a caller refuses, once for all callers that refuse it', async () => {
    const { read } = world();
    const cache = createTtlCache<number>({ max: 10 });
    await cache.load('a', read);
    const isNewer = (value: number) => value > 1;
    const newer = [cache.load('a', read, isNewer), cache.load('a', read, isNewer)];
    expect(await Promise.all(newer)).toEqual([2, 2]);
    expect(await cache.load('a', read)).toBe(2);
    // What a caller reads itself is its answer.
    expect(await cache.load('a', read, () => false)).toBe(3);
  });
});

it('a dated cache never answers with what was read before the instant that a caller names', async () => {
  const { read } = world();
  const cache = createDatedCache<number>({ ttlMs: 60_000, max: 10 });
  expect(await cache('a', undefined, read)).toBe(1);
  expect(await cache('a', undefined, read)).toBe(1);
  const asOf = performance.now();
  const slow = Promise.withResolvers<number>();
  const early = cache('b', undefined, () => slow.promise);
  const since = cache('b', performance.now() + 0.001, read);
  slow.resolve(100);
  expect(await Promise.all([early, since])).toEqual([100, 2]);
  expect(await Promise.all([cache('a', asOf, read), cache('a', asOf, read)])).toEqual([3, 3]);
  expect(await cache('a', asOf, read)).toBe(3);
});

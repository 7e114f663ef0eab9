import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';

const takeMany = (limiter: RateLimiter, count: number, atMs: number, key = 'acme') =>
  Array.from({ length: count }, () => limiter.take(key, atMs));

const granted = (answers: readonly (number | null)[]) => answers.filter((answer) => answer === null).length;

describe('a rate limiter', () => {
  it('lets a burst through at once and refuses the next', () => {
    const limiter = createRateLimiter(10, 20);
    expect(takeMany(limiter, 21, 0)).toEqual([...Array.from({ length: 20 }, () => null), 1]);
  });

  it('refills steadily, by the fraction of a second', () => {
    const limiter = createRateLimiter(10, 20);
    takeMany(limiter, 20, 0);
    expect(granted(takeMany(limiter, 5, 99))).toBe(0);
    expect(granted(takeMany(limiter, 5, 100))).toBe(1);
    expect(granted(takeMany(limiter, 50, 600))).toBe(5);
  });

  it('never holds more than a burst, however long it rested', () => {
    const limiter = createRateLimiter(10, 20);
    takeMany(limiter, 20, 0);
    expect(granted(takeMany(limiter, 50, 3_600_000))).toBe(20);
  });

  it('keeps the keys apart', () => {
    const limiter = createRateLimiter(1, 1);
    expect(limiter.take('acme', 0)).toBeNull();
    expect(limiter.take('acme', 0)).toBe(1);
    expect(limiter.take('other', 0)).toBeNull();
  });

  it('reports whole seconds, rounded up and at least 1', () => {
    const slow = createRateLimiter(0.3, 1);
    slow.take('acme', 0);
    expect(slow.take('acme', 0)).toBe(4);
    expect(slow.take('acme', 1000)).toBe(3);
    const fast = createRateLimiter(1000, 1);
    fast.take('acme', 0);
    expect(fast.take('acme', 0)).toBe(1);
  });

  it('takes nothing for a request that it refuses', () => {
    const limiter = createRateLimiter(1, 1);
    limiter.take('acme', 0);
    takeMany(limiter, 100, 500);
    expect(limiter.take('acme', 1000)).toBeNull();
  });

  it('gives nothing for a clock that goes back, and continues from there', () => {
    const limiter = createRateLimiter(1, 1);
    limiter.take('acme', 10_000);
    expect(limiter.take('acme', 0)).toBe(1);
    expect(limiter.take('acme', 1000)).toBeNull();
  });

  it('accepts a request that waited for the reported time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.nat(300), { minLength: 1, maxLength: 100 }),
        (perSecond, burst, pausesMs) => {
          const limiter = createRateLimiter(perSecond, burst);
          let atMs = 0;
          let answer: number | null = null;
          for (const pauseMs of pausesMs) {
            atMs += pauseMs;
            answer = limiter.take('acme', atMs);
          }
          expect(limiter.take('acme', atMs + (answer ?? 1) * 1000)).toBeNull();
        },
      ),
    );
  });

  it('grants over any time no more than the burst and what that time refills', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.nat(100), { maxLength: 200 }),
        (perSecond, burst, pausesMs) => {
          const limiter = createRateLimiter(perSecond, burst);
          let atMs = 0;
          const answers = pausesMs.map((pauseMs) => limiter.take('acme', (atMs += pauseMs)));
          expect(granted(answers)).toBeLessThanOrEqual(burst + (atMs / 1000) * perSecond + 1e-6);
        },
      ),
    );
  });

  it('forgets full buckets among very many keys, and none that is owed', () => {
    const limiter = createRateLimiter(1, 2);
    takeMany(limiter, 2, 1000, 'spent');
    for (let index = 0; index < 9_999; index += 1) limiter.take(`key-${index}`, 0);
    limiter.take('one more', 1000);
    expect(limiter.take('spent', 1000)).toBe(1);
  });
});

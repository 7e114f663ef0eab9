import { describe, expect, it } from 'vitest';
import { createRandom } from './random.ts';
import { mean, percentile, uncensored } from './statistics.ts';

describe('statistics', () => {
  it('takes percentiles from the sorted values without changing them', () => {
    const values = [30, 10, 20, 40];
    expect(percentile(values, 0)).toBe(10);
    expect(percentile(values, 0.5)).toBe(30);
    expect(percentile(values, 0.99)).toBe(40);
    expect(percentile(values, 1)).toBe(40);
    expect(values).toEqual([30, 10, 20, 40]);
  });

  it('sorts by value, not by text', () => {
    expect(percentile([9, 100, 20], 0.99)).toBe(100);
  });

  it('has no percentile of nothing', () => {
    expect(percentile([], 0.5)).toBeNaN();
  });

  it('makes up for what was stopped before it ended', () => {
    expect(uncensored([1, 2, 3], [])).toEqual([1, 2, 3]);
    // The run that was stopped at 2 would have ended at 3 or at 4.
    expect(uncensored([1, 3, 4], [2], 8)).toEqual([1, 1, 3, 3, 3, 4, 4, 4]);
    expect(uncensored([1], [5], 4)).toEqual([1, 1, 1, 1]);
    const random = createRandom(1, 'duration');
    const pairs = Array.from({ length: 2_000 }, () => [8 + 16 * random(), 40 * random()] as const);
    const seen = pairs.flatMap(([ends, stops]) => (ends <= stops ? [ends] : []));
    const bounds = pairs.flatMap(([ends, stops]) => (ends > stops ? [stops] : []));
    expect(mean(seen)).toBeLessThan(15.4);
    expect(Math.abs(mean(uncensored(seen, bounds)) - 16)).toBeLessThan(0.4);
  });

  it('averages', () => {
    expect(mean([1, 2, 6])).toBe(3);
  });
});

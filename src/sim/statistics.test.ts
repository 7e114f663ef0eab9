import { describe, expect, it } from 'vitest';
import { mean, percentile } from './statistics.ts';

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

  it('averages', () => {
    expect(mean([1, 2, 6])).toBe(3);
  });
});

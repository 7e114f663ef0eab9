import { describe, expect, it } from 'vitest';
import { createRandom, drawExponential, drawLognormal } from './random.ts';
import { mean, percentile } from './statistics.ts';

const take = (count: number, draw: () => number) => Array.from({ length: count }, draw);

describe('random', () => {
  it('repeats itself for the same seed and stream', () => {
    expect(take(20, createRandom(7, 'flake'))).toEqual(take(20, createRandom(7, 'flake')));
  });

  it('differs between seeds and between streams', () => {
    const first = take(5, createRandom(7, 'flake'));
    expect(take(5, createRandom(8, 'flake'))).not.toEqual(first);
    expect(take(5, createRandom(7, 'arrival'))).not.toEqual(first);
    expect(take(5, createRandom(7))).not.toEqual(first);
  });

  it('is uniform enough', () => {
    const values = take(20_000, createRandom(1));
    expect(mean(values)).toBeCloseTo(0.5, 1);
    expect(percentile(values, 0.9)).toBeCloseTo(0.9, 1);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
  });

  it('draws exponentials and lognormals with the given mean and median', () => {
    const random = createRandom(3);
    const waits = take(20_000, () => drawExponential(random, 4));
    expect(mean(waits) / 4).toBeCloseTo(1, 1);
    const durations = take(20_000, () => drawLognormal(random, 27, 0.6));
    expect(percentile(durations, 0.5) / 27).toBeCloseTo(1, 1);
    expect(percentile(durations, 0.8413) / 27 / Math.exp(0.6)).toBeCloseTo(1, 1);
  });
});

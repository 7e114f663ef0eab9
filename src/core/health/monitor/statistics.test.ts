import { describe, expect, it } from 'vitest';
import { testsByChance } from './chance.ts';
import { lastChange, type SourceCounts } from './changepoint.ts';
import { lnGamma, passesToTrust, poissonTail, wilsonLower } from './statistics.ts';

describe('formulas', () => {
  it('know the low end of a share', () => {
    expect(wilsonLower(2, 20)).toBeCloseTo(0.028, 3);
    expect(wilsonLower(4, 20)).toBeCloseTo(0.081, 3);
    expect(wilsonLower(0, 0)).toBe(0);
    expect(wilsonLower(0, 50)).toBe(0);
  });

  it('know the tail of a Poisson distribution', () => {
    expect(poissonTail(1, 1)).toBeCloseTo(1 - Math.exp(-1), 12);
    expect(poissonTail(2, 3)).toBeCloseTo(1 - Math.exp(-2) * 5, 12);
    expect(poissonTail(1e-6, 2)).toBeCloseTo(5e-13, 18);
    expect(poissonTail(3, 0)).toBe(1);
    expect(poissonTail(0, 1)).toBe(0);
    expect(poissonTail(400, 1)).toBeCloseTo(1, 9);
  });

  it('know the gamma function', () => {
    for (const [x, factorial] of [
      [1, 1],
      [2, 1],
      [5, 24],
      [11, 3_628_800],
    ] as const)
      expect(lnGamma(x)).toBeCloseTo(Math.log(factorial), 9);
    expect(lnGamma(0.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI)), 9);
  });

  it('know how many passes are enough', () => {
    expect(passesToTrust(0.0071)).toBe(421);
    expect(passesToTrust(0.5)).toBe(5);
    expect(passesToTrust(0.5, 10)).toBe(8);
    expect(passesToTrust(1)).toBe(1);
    expect(passesToTrust(0)).toBe(Infinity);
  });
});

describe('what chance explains', () => {
  const suite = { tests: 1_000, verdicts: 1_000 };

  it('is as its example says', () => {
    expect(testsByChance({ ...suite, shares: [0.003, 0.003] })).toBeCloseTo(0.018, 3);
    expect(testsByChance({ tests: 20, verdicts: 1_000, shares: [0.15, 0.15] })).toBeCloseTo(0.74, 2);
    const wide = (count: number): number =>
      testsByChance({ ...suite, shares: Array.from({ length: count }, () => 1 / 3) });
    expect(wide(6)).toBeGreaterThan(0.05);
    expect(wide(7)).toBeLessThan(0.05);
    const four = testsByChance({ tests: 20, verdicts: 1_000, shares: [0.15, 0.15, 0.15, 0.15] });
    expect(four).toBeLessThan(0.05);
    expect(testsByChance({ tests: 20, verdicts: 50, shares: [0.15, 0.15] })).toBeLessThan(0.05);
  });

  it('is more for wider failures and for more verdicts, less for more contradictions', () => {
    const some = testsByChance({ ...suite, shares: [0.01, 0.01] });
    expect(testsByChance({ ...suite, shares: [0.1, 0.1] })).toBeGreaterThan(some);
    expect(testsByChance({ ...suite, verdicts: 5_000, shares: [0.01, 0.01] })).toBeGreaterThan(some);
    expect(testsByChance({ ...suite, shares: [0.01, 0.01, 0.01] })).toBeLessThan(some);
  });

  it('is not more for an outage among the contradictions', () => {
    const some = testsByChance({ ...suite, shares: [0.01, 0.01] });
    expect(testsByChance({ ...suite, shares: [1, 0.01, 0.01] })).toBe(some);
  });
});

describe('the last change', () => {
  const places = (text: string): SourceCounts[] =>
    Array.from(text, (mark) => ({ passed: mark === 'p' ? 1 : 0, failed: mark === 'f' ? 1 : 0 }));

  it('is where failures begin', () => {
    const change = lastChange(places(`${'p'.repeat(100)}ffff`), 1e-4);
    expect(change).toMatchObject({ at: 100, upTo: 100 });
    expect(change!.after).toBeGreaterThan(90);
  });

  it('is none where all is alike, or a failure is alone', () => {
    expect(lastChange(places('p'.repeat(100)), 1e-4)).toBeNull();
    expect(lastChange(places(`${'p'.repeat(100)}f`), 1e-4)).toBeNull();
    expect(lastChange(places('pf'.repeat(50)), 1e-4)).toBeNull();
    expect(lastChange([], 1e-4)).toBeNull();
  });

  it('is the newest of several', () => {
    const change = lastChange(places(`${'p'.repeat(60)}${'f'.repeat(20)}${'p'.repeat(30)}`), 1e-4);
    expect(change!.at).toBe(80);
  });

  it('is surer of its place the more there is', () => {
    const width = (text: string): number => {
      const change = lastChange(places(text), 1e-4)!;
      return change.upTo - change.after;
    };
    expect(width(`${'p'.repeat(100)}${'f'.repeat(20)}`)).toBeLessThan(width(`${'p'.repeat(100)}fff`) + 1);
    expect(width(`${'p'.repeat(50)}pfppfpppp${'f'.repeat(6)}`)).toBeGreaterThan(1);
  });
});

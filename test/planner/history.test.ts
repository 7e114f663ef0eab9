// How long CI may take, by what it took before, and how often its runs fail by chance.
import { expect, it } from 'vitest';
import { limitsWithoutHistory } from '#core/queue/planner/clock.ts';
import { estimateFlakeShare, limitsFrom, usualFlakeShare } from '#core/queue/planner/history.ts';

const minutes = (count: number): number => count * 60_000;

it('a queue without a history has three minutes until CI starts, and no limit until it ends', () => {
  expect(limitsWithoutHistory).toEqual({ startByMs: minutes(3), finishByMs: null, usualMs: null });
  expect(limitsFrom({ startP99Ms: null, testP99Ms: null, testP50Ms: null })).toEqual(limitsWithoutHistory);
});

it('a run may take twice as long as 99 of 100 runs before it', () => {
  expect(limitsFrom({ startP99Ms: minutes(4), testP99Ms: minutes(30), testP50Ms: minutes(20) })).toEqual({
    startByMs: minutes(8),
    finishByMs: minutes(60),
    usualMs: minutes(20),
  });
});

it('a quick CI still has three minutes to start and ten to end', () => {
  expect(limitsFrom({ startP99Ms: 1_000, testP99Ms: 1_000, testP50Ms: 500 })).toEqual({
    startByMs: minutes(3),
    finishByMs: minutes(10),
    usualMs: 500,
  });
});

it('passed runs alone do not show that hardly any run fails by chance', () => {
  const share = (failed: number) => estimateFlakeShare({ passed: 950, flaky: 0, failed });
  expect(share(0)).toBe(usualFlakeShare);
  expect(share(5)).toBeCloseTo(0.8 * usualFlakeShare);
  expect(share(25)).toBe(0.000_25);
  expect(share(400)).toBe(0.000_25);
});

it('the share of runs that fail by chance follows what was seen', () => {
  const share = (counts: { readonly flaky: number; readonly passed: number }) =>
    estimateFlakeShare({ ...counts, failed: 25 });
  expect(share({ flaky: 0, passed: 0 })).toBe(0.005);
  expect(share({ flaky: 0, passed: 200 })).toBeCloseTo(0.001, 5);
  expect(share({ flaky: 8, passed: 392 })).toBeCloseTo(0.01833, 4);
  // What was seen counts from the first failure on.
  expect(estimateFlakeShare({ flaky: 8, passed: 392, failed: 8 })).toBeCloseTo(0.01833, 4);
});

// How long CI may take, by what it took before.
import { expect, it } from 'vitest';
import { limitsWithoutHistory } from '#core/queue/planner/clock.ts';
import { limitsFrom } from '#core/queue/planner/history.ts';

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

import { describe, expect, it } from 'vitest';
import { minuteMs } from '#base/duration.ts';
import type { EntryId, QueueId } from '#base/id.ts';
import { noon as now, pendingLineEntry as pending } from '../../../../test/fixture/entry.ts';
import type { LineEntry } from './estimate-group.ts';
import { estimateMerge, type Forecast, forecastLine, type TestHistory } from './estimate.ts';
import type { Entry, Queue, QueueState, Stage } from '../model.ts';
import { defaultSettings, type QueueSettings } from '../settings.ts';

const later = (minutes: number) => new Date(now.getTime() + minutes * minuteMs);

/** Runs that took these many minutes; no entry left. */
const history = (minutes: readonly number[], rest: Partial<TestHistory> = {}): TestHistory => ({
  durationsMs: minutes.map((each) => each * minuteMs),
  mergedCount: 1_000_000,
  leftCount: 0,
  arrivalGapMs: 60 * minuteMs,
  ...rest,
});
const tenMinutes = history([10, 10, 10, 10, 10]);
const spread = history(Array.from({ length: 100 }, (_, at) => 5 + at / 5));

/** Under test for so many minutes. */
const testing = (prNumber: number, minutes: number, rest: Partial<LineEntry> = {}): LineEntry => ({
  ...pending(prNumber),
  state: 'testing',
  run: {
    id: `run-${prNumber}`,
    isBisection: false,
    isScreen: false,
    isUnderWay: true,
    createdAt: later(-minutes),
  },
  ...rest,
});
const ended = (prNumber: number, state: 'tests_passed' | 'pending_failure'): LineEntry => ({
  ...pending(prNumber),
  state,
  run: {
    id: `run-${prNumber}`,
    isBisection: false,
    isScreen: false,
    isUnderWay: false,
    createdAt: later(-10),
  },
});
const many = (from: number, count: number): LineEntry[] =>
  Array.from({ length: count }, (_, at) => pending(from + at));

const settings = (rest: Partial<QueueSettings> = {}): QueueSettings => ({
  ...defaultSettings,
  strategy: 'manual',
  ...rest,
});

/** p10, median and p90 in minutes from now. */
function minutesOf(forecast: Forecast | null, prNumber: number): number[] {
  const { p10, p50, p90 } = forecast!.landings.get(prNumber)!;
  return [p10, p50, p90].map((at) => Math.round((at - now.getTime()) / 600) / 100);
}
const medianOf = (forecast: Forecast | null, prNumber: number): number => minutesOf(forecast, prNumber)[1]!;

describe('a forecast of a line', () => {
  it('needs five runs that passed', () => {
    const line = [testing(1, 2)];
    expect(forecastLine(settings(), history([10, 10, 10, 10]), line, now)).toBeNull();
    expect(minutesOf(forecastLine(settings(), tenMinutes, line, now), 1)).toEqual([8, 8, 8]);
  });

  it('takes a run that is under way for one of those that took longer', () => {
    const forecast = (minutes: number) => forecastLine(settings(), spread, [testing(1, minutes)], now);
    // A tenth took less than 7 minutes, half less than 15, a tenth more than 23.
    for (const [index, minutes] of [7, 15, 23].entries())
      expect(Math.abs(minutesOf(forecast(0), 1)[index]! - minutes)).toBeLessThan(1);
    // Of those that took more than 15 minutes, half took more than 20.
    expect(Math.abs(medianOf(forecast(15), 1) - 5)).toBeLessThan(1);
    for (const part of minutesOf(forecast(15), 1)) expect(part).toBeLessThanOrEqual(10);
  });

  it('gives a run that took longer than all others up to half as long again', () => {
    const [low, middle, high] = minutesOf(forecastLine(settings(), tenMinutes, [testing(1, 40)], now), 1);
    expect(low).toBeGreaterThan(0);
    expect(middle).toBeCloseTo(10, -1);
    expect(high).toBeLessThanOrEqual(20);
  });

  it('lands no entry before those ahead of it', () => {
    const line = [testing(1, 0), testing(2, 9), ended(3, 'tests_passed')];
    const forecast = forecastLine(settings(), tenMinutes, line, now);
    expect([1, 2, 3].map((pr) => medianOf(forecast, pr))).toEqual([10, 10, 10]);
  });

  it('gives those who wait a slot when one is free', () => {
    const line = [testing(1, 4), testing(2, 1), ...many(3, 3)];
    const forecast = forecastLine(settings({ concurrency: 2 }), tenMinutes, line, now);
    expect([1, 2, 3, 4, 5].map((pr) => medianOf(forecast, pr))).toEqual([6, 9, 16, 19, 26]);
  });

  it('lands together what is tested together, and waits for a batch to fill', () => {
    const batching = settings({ concurrency: 1, batch: true, batchingMinSize: 2 });
    const forecast = forecastLine(batching, tenMinutes, many(1, 3), now);
    expect([1, 2, 3].map((pr) => medianOf(forecast, pr))).toEqual([10, 10, 20]);
    const waitsSince = (minutes: number) => [pending(1, { stateChangedAt: later(-minutes) })];
    expect(medianOf(forecastLine(batching, tenMinutes, waitsSince(2), now), 1)).toBe(13);
    expect(medianOf(forecastLine(batching, tenMinutes, [pending(1, { restarts: 1 })], now), 1)).toBe(10);
    expect(medianOf(forecastLine(batching, tenMinutes, [pending(1, { noBatch: true })], now), 1)).toBe(10);
    const busy = { ...tenMinutes, arrivalGapMs: minuteMs };
    expect(medianOf(forecastLine(batching, busy, waitsSince(0), now), 1)).toBe(11);
  });

  it('restarts the others once a failure is found', () => {
    const line = [testing(1, 6), ended(2, 'pending_failure'), testing(3, 6), pending(4)];
    const forecast = forecastLine(settings({ concurrency: 2 }), tenMinutes, line, now);
    // #1 lands in 4 minutes and #2 is to blame: #3 and #4 are tested from then on. So is #2, if it was not to blame.
    expect([1, 2, 3, 4].map((pr) => medianOf(forecast, pr))).toEqual([4, 14, 14, 14]);
  });

  it('expects as many to be removed as were removed before', () => {
    const line = [testing(1, 0), testing(2, 0), ...many(3, 20)];
    const forecast = (leftCount: number) =>
      forecastLine(settings(), { ...tenMinutes, mergedCount: 200 - leftCount, leftCount }, line, now);
    const steady = minutesOf(forecast(0), 22);
    const shaky = minutesOf(forecast(40), 22);
    expect(steady).toEqual([50, 50, 50]);
    expect(shaky[1]).toBeGreaterThan(60);
    expect(shaky[2]! - shaky[0]!).toBeGreaterThanOrEqual(20);
    // The first is assumed to be good itself, and no entry is ahead of it.
    expect(minutesOf(forecast(40), 1)).toEqual([10, 10, 10]);
  });

  it('bisects a batch that may fail, and continues without the batch that is being bisected', () => {
    const batching = settings({ concurrency: 2, bisectionConcurrency: 7, batch: true });
    const shaky = { ...tenMinutes, mergedCount: 100, leftCount: 100 };
    const run = { id: 'batch', isBisection: false, isScreen: false, isUnderWay: true, createdAt: now };
    const batch = [1, 2, 3, 4].map((pr) => testing(pr, 0, { run }));
    expect(minutesOf(forecastLine(batching, shaky, batch, now), 1)[2]).toBe(30);
    const searched = batch.map((entry) => ({ ...entry, run: { ...run, isBisection: true } }));
    const forecast = forecastLine(batching, tenMinutes, [...searched, testing(5, 2)], now);
    expect([1, 4, 5].map((pr) => medianOf(forecast, pr))).toEqual([20, 20, 8]);
  });

  it('takes a later run for a proof where the queue does', () => {
    const line = [testing(1, 2), testing(2, 6)];
    const forecast = (canOptimisticallyMerge: boolean) =>
      forecastLine(settings({ canOptimisticallyMerge }), tenMinutes, line, now);
    expect(medianOf(forecast(false), 1)).toBe(8);
    expect(medianOf(forecast(true), 1)).toBe(4);
  });

  it('waits for those behind a failure as far as its depth goes', () => {
    const line = [ended(1, 'pending_failure'), testing(2, 3), testing(3, 0), pending(4)];
    const forecast = (pendingFailureDepth: number) =>
      forecastLine(settings({ pendingFailureDepth }), tenMinutes, line, now);
    expect([0, 1, 2].map((depth) => medianOf(forecast(depth), 4))).toEqual([10, 17, 20]);
  });

  it('waits in parallel mode only for those it depends on', () => {
    const line = [testing(1, 0), testing(2, 8), testing(3, 9, { behind: [1] })];
    const lanes = settings({ mode: 'parallel', concurrency: 3 });
    const forecast = forecastLine(lanes, tenMinutes, line, now);
    expect([1, 2, 3].map((pr) => medianOf(forecast, pr))).toEqual([10, 2, 10]);
    const failed = [ended(1, 'pending_failure'), testing(2, 8), testing(3, 9, { behind: [1] })];
    const after = forecastLine(lanes, tenMinutes, failed, now);
    expect([2, 3].map((pr) => medianOf(after, pr))).toEqual([2, 10]);
  });

  it('is in order for every percentile, and the same each time', () => {
    const shaky = { ...spread, mergedCount: 90, leftCount: 10 };
    const line = [testing(1, 3), ended(2, 'pending_failure'), ...many(3, 300)];
    for (const rest of [{}, { batch: true }, { canOptimisticallyMerge: true, pendingFailureDepth: 2 }]) {
      const forecast = forecastLine(settings(rest), shaky, line, now)!;
      const landings = [...forecast.landings.values()];
      for (const [index, { p10, p50, p90 }] of landings.entries()) {
        const ahead = landings[index - 1] ?? { p10: now.getTime(), p50: 0, p90: 0 };
        expect(p10).toBeGreaterThanOrEqual(ahead.p10);
        expect(p50).toBeGreaterThanOrEqual(Math.max(p10, ahead.p50));
        expect(p90).toBeGreaterThanOrEqual(Math.max(p50, ahead.p90));
      }
      expect(forecastLine(settings(rest), shaky, line, now)).toEqual(forecast);
    }
  });
});

const entry = (prNumber: number, stage: Stage = { kind: 'pending' }): Entry =>
  ({ id: 'entry' as EntryId, pullRequest: { number: prNumber }, stage }) as Entry;
const queue = (state: QueueState = 'RUNNING'): Queue => ({
  id: 'queue' as QueueId,
  targetBranch: 'main',
  state,
  settings: settings(),
  switching: null,
  stateReason: null,
});

describe('an estimate', () => {
  const forecast = forecastLine(settings({ concurrency: 1 }), tenMinutes, [testing(1, 2), pending(2)], now);
  const estimate = (state: QueueState, stage: Stage, isHostAway = false) =>
    estimateMerge(queue(state), { entry: entry(2, stage), position: 1, isHostAway }, forecast, now);
  const runId = 'run' as never;

  it('is the median with the 10th and the 90th percentile', () => {
    expect(estimate('RUNNING', { kind: 'pending' })).toEqual({
      at: later(18),
      interval: [later(18), later(18)],
    });
  });

  it('is never in the past', () => {
    const estimated = { entry: entry(1, { kind: 'testing', runId }), position: 0, isHostAway: false };
    const at = later(60);
    expect(estimateMerge(queue(), estimated, forecast, at)).toEqual({ at, interval: [at, at] });
  });

  it.each<[QueueState, Stage, boolean]>([
    ['RUNNING', { kind: 'pending' }, true],
    ['RUNNING', { kind: 'testing', runId }, true],
    ['RUNNING', { kind: 'pending_failure', runId }, true],
    ['RUNNING', { kind: 'not_ready' }, false],
    ['RUNNING', { kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId }, false],
    ['RUNNING', { kind: 'cancelled', reason: 'USER_REQUESTED' }, false],
    ['DRAINING', { kind: 'pending' }, true],
    ['PAUSED', { kind: 'tests_passed', runId }, false],
    ['PAUSED', { kind: 'pending' }, false],
    ['SWITCHING_MODES', { kind: 'testing', runId }, true],
    ['SWITCHING_MODES', { kind: 'pending' }, false],
  ])('while the queue is %s, of %o: %s', (state, stage, isThere) => {
    expect(estimate(state, stage) !== null).toBe(isThere);
  });

  it('is not made while the host does not answer, without history, or for an entry that was submitted since', () => {
    expect(estimate('RUNNING', { kind: 'pending' }, true)).toBeNull();
    const estimated = { entry: entry(3), position: 2, isHostAway: false };
    expect(estimateMerge(queue(), estimated, null, now)).toBeNull();
    expect(estimateMerge(queue(), estimated, forecast, now)).toBeNull();
  });
});

describe('10,000 in one line', () => {
  const line = many(1, 10_000);
  const shaky = { ...spread, mergedCount: 190, leftCount: 10 };
  const far = forecastLine(settings(), shaky, line, now);
  const at = (position: number) =>
    estimateMerge(queue(), { entry: entry(position + 1), position, isHostAway: false }, far, now)!;

  it('follow from the rate of those ahead, in order', () => {
    const hours = (position: number) => (at(position).at.getTime() - now.getTime()) / 3_600_000;
    expect(hours(500)).toBeGreaterThanOrEqual(hours(499));
    for (let position = 500; position < 9_600; position += 300)
      expect(hours(position + 300)).toBeGreaterThan(hours(position));
    // The extrapolated time is that of a queue twenty times as long.
    expect(hours(9_999) / hours(499)).toBeGreaterThan(18);
    expect(hours(9_999) / hours(499)).toBeLessThan(22);
    const { at: median, interval } = at(9_999);
    expect(interval[0].getTime()).toBeLessThan(median.getTime());
    expect(interval[1].getTime()).toBeGreaterThan(median.getTime());
  });

  it('cost some milliseconds', () => {
    const times = Array.from({ length: 20 }, () => {
      const from = performance.now();
      forecastLine(settings(), shaky, line, now);
      return performance.now() - from;
    });
    // The fastest, because others are at work on the machine.
    expect(Math.min(...times)).toBeLessThan(20);
  });
});

describe('600 that passed a screen', () => {
  const line = Array.from({ length: 600 }, (_, at) => ({ ...pending(at + 1), isScreened: true }));
  const forecast = forecastLine(settings({ strategy: 'adaptive' }), tenMinutes, line, now);

  it('join groups of 60, which start at once one after another', () => {
    expect(minutesOf(forecast, 1)).toEqual([10, 10, 10]);
    expect(minutesOf(forecast, 60)).toEqual([10, 10, 10]);
    expect(minutesOf(forecast, 500)[1]).toBeLessThan(60);
  });

  it('have an estimate, also behind those that are simulated', () => {
    const far = estimateMerge(
      queue(),
      { entry: entry(600), position: 599, isHostAway: false },
      forecast,
      now,
    )!;
    expect(far.at.getTime()).toBeGreaterThanOrEqual(forecast!.landings.get(500)!.p50);
  });
});

import { describe, expect, it } from 'vitest';
import { defaultSettings } from '#core/queue/settings.ts';
import { figuresOfHistory, figuresOfPlay } from './figures.ts';
import { fitHistory, drawWorkload } from './fit.ts';
import { lastPart } from './history.ts';
import { playPlanner } from '../kernel/play.ts';
import { recommend } from './recommend.ts';
import { recordHistory } from './recording.ts';
import { createReplay } from './replay.ts';
import { sum } from '../kernel/statistics.ts';
import { createLineWorkload, disturb, type Workload } from '../kernel/workload.ts';

/** A queue with bad changes, flaky runs, cancellations, and people who try again. */
function busyQueue(count: number, arrivalsPerHour = 8): Workload {
  const line = createLineWorkload({
    seed: 7,
    count,
    arrivalsPerHour,
    passProbability: 0.93,
    flakeProbability: 0.03,
    predictor: { kind: 'prior' },
  });
  return {
    ...disturb(line, { pushedShare: 0, cancelledShare: 0.04, delayMin: 20 }),
    timing: {
      startMin: [0.5],
      cancelMin: [],
      landMin: [0.3],
      runMin: null,
      again: { share: 0.8, afterMin: 5 },
    },
  };
}

const oneByOne = { ...defaultSettings, strategy: 'manual' as const };
const batches = { ...oneByOne, batch: true, batchingMinSize: 4, canOptimisticallyMerge: true };

describe('a fit', () => {
  const workload = busyQueue(400);
  const truth = workload.changes.filter(({ isGood }) => !isGood).length;

  it.each([
    ['one by one', oneByOne],
    ['in batches', batches],
  ])('finds what was wrong in the history of a queue that tests %s', (_how, settings) => {
    const fit = fitHistory(recordHistory(workload, settings).history);
    const { flakeProbability, badAlone } = fit.blame;
    expect(flakeProbability).toBeGreaterThan(0.02);
    expect(flakeProbability).toBeLessThan(0.055);
    expect(Math.abs(sum(badAlone) - truth)).toBeLessThan(0.15 * truth);
    expect(fit.timing.again).toMatchObject({ afterMin: 5 });
    expect(Math.max(...fit.timing.landMin)).toBeCloseTo(0.3, 5);
  });

  it('foretells what other settings would have given', () => {
    const { history } = recordHistory(workload, oneByOne);
    const replay = createReplay(fitHistory(history));
    const settings = { ...oneByOne, concurrency: 10, canOptimisticallyMerge: true };
    const was = figuresOfPlay(playPlanner(workload, settings));
    const { mean, low, high } = replay.predict(settings, 4);
    for (const figure of ['p50Min', 'p95Min', 'ciMinutesPerMerged'] as const) {
      expect(Math.abs(mean[figure] / was[figure] - 1)).toBeLessThan(0.1);
      expect(low[figure]).toBeLessThanOrEqual(high[figure]);
    }
    expect(mean.p95Min).toBeLessThan(0.7 * figuresOfHistory(history).p95Min);
  });

  it('finds two that break only together', () => {
    const plain = busyQueue(60, 20);
    const changes = plain.changes.map((change) => ({
      ...change,
      isGood: true,
      ...(change.number === 31 ? { conflictsWith: [30], shares: [30] } : {}),
    }));
    const calm = { ...plain, changes, flakeProbability: 0, disturbances: [] };
    const fit = fitHistory(recordHistory(calm, oneByOne).history);
    const placeOf = (pr: number) => fit.evidence.attempts.findIndex((attempt) => attempt.pr === pr);
    const partner = fit.blame.badWith[placeOf(31)];
    // No run with it ever passed, so it may also be bad alone: but it is to blame, and no other change is.
    const guilt = fit.blame.badAlone[placeOf(31)]! + (partner?.chance ?? 0);
    expect(guilt).toBeGreaterThan(0.6);
    expect(sum(fit.blame.badAlone)).toBeLessThan(1.1);
  });

  it('draws what is not known, the same for the same seed', () => {
    const fit = fitHistory(recordHistory(workload, oneByOne).history);
    expect(drawWorkload(fit, 3)).toEqual(drawWorkload(fit, 3));
    expect(drawWorkload(fit, 4)).not.toEqual(drawWorkload(fit, 3));
  });
});

describe('a recommendation', () => {
  const { history } = recordHistory(busyQueue(100), oneByOne);
  const fit = fitHistory(history);
  const part = fitHistory(lastPart(history, 40));
  const options = { goal: 'latency', ciBudget: 1.2, concurrencyMax: 10 } as const;

  it('is faster within its budget', () => {
    const { now, best } = recommend(fit, part, oneByOne, options);
    expect(best!.prediction.mean.p95Min).toBeLessThan(0.8 * now.prediction.mean.p95Min);
    expect(best!.prediction.mean.ciMinutesPerMerged).toBeLessThan(
      1.2 * now.prediction.mean.ciMinutesPerMerged,
    );
    expect(best!.settings.concurrency).toBeLessThanOrEqual(10);
  });

  it('is cheaper where that is asked for', () => {
    const { now, best } = recommend(fit, part, oneByOne, { ...options, goal: 'cost' });
    expect(best!.prediction.mean.ciMinutesPerMerged).toBeLessThan(
      0.9 * now.prediction.mean.ciMinutesPerMerged,
    );
  });
});

import { describe, expect, it } from 'vitest';
import { mean } from './statistics.ts';
import { createGraphWorkload, createLineWorkload, disturb, submitQueueOptions } from './workload.ts';

const graph = (seed: number, sharingProbability = 0.01) =>
  createGraphWorkload({ ...submitQueueOptions, seed, count: 800, sharingProbability });
const line = (seed: number) =>
  createLineWorkload({
    seed,
    count: 2000,
    arrivalsPerHour: 60,
    passProbability: 0.85,
    flakeProbability: 0.02,
    predictor: { kind: 'screen', recall: 0.5, falseAlarm: 0.05 },
  });

describe('a graph workload', () => {
  it('is the same for the same seed and another for another', () => {
    expect(graph(1)).toEqual(graph(1));
    expect(graph(2)).not.toEqual(graph(1));
  });

  it('has the rates it was asked for', () => {
    const { changes } = graph(1);
    expect((changes.length / changes.at(-1)!.arrivesAtMin) * 60).toBeCloseTo(500, -2);
    expect(mean(changes.map(({ durationMin }) => durationMin))).toBeGreaterThan(27);
    expect(mean(changes.map(({ durationMin }) => durationMin))).toBeLessThan(34);
    expect(changes.every(({ durationMin }) => durationMin >= 2 && durationMin <= 120)).toBe(true);
    expect(changes.filter(({ isGood }) => isGood).length / 800).toBeCloseTo(0.9, 1);
    const isRight = changes.filter(({ isGood, predictedPass }) => predictedPass > 0.5 === isGood);
    expect(isRight.length / 800).toBeGreaterThan(0.95);
  });

  it('shares only with earlier changes within the horizon, and conflicts only where it shares', () => {
    const { changes } = graph(1, 0.2);
    for (const { number, arrivesAtMin, shares, conflictsWith } of changes) {
      const isNear = (earlier: number) => arrivesAtMin - changes[earlier - 1]!.arrivesAtMin <= 60;
      expect(shares.every((earlier) => earlier < number && isNear(earlier))).toBe(true);
      expect(conflictsWith.every((earlier) => shares.includes(earlier))).toBe(true);
    }
  });
});

describe('a line workload', () => {
  it('has the rates it was asked for', () => {
    const { changes, flakeProbability } = line(1);
    expect((changes.length / changes.at(-1)!.arrivesAtMin) * 60).toBeCloseTo(60, -1);
    expect(changes.filter(({ isGood }) => isGood).length / 2000).toBeCloseTo(0.85, 1);
    expect(mean(changes.map(({ durationMin }) => durationMin))).toBeCloseTo(30.6, 0);
    expect(flakeProbability).toBe(0.02);
  });

  it('has calibrated predictions from a screen', () => {
    const { changes } = line(1);
    const flagged = changes.filter(({ predictedPass }) => predictedPass < 0.6);
    expect(flagged.length).toBeGreaterThan(100);
    expect(flagged.filter(({ isGood }) => isGood).length / flagged.length).toBeCloseTo(
      flagged[0]!.predictedPass,
      1,
    );
  });
});

describe('disturbances', () => {
  it('come after arrival, in order of time, in the shares asked for', () => {
    const { changes, disturbances } = disturb(line(1), {
      pushedShare: 0.2,
      cancelledShare: 0.1,
      delayMin: 15,
    });
    expect(disturbances.filter(({ kind }) => kind === 'push').length / 2000).toBeCloseTo(0.2, 1);
    expect(disturbances.filter(({ kind }) => kind === 'cancel').length / 2000).toBeCloseTo(0.1, 1);
    for (const { number, atMin } of disturbances)
      expect(atMin).toBeGreaterThan(changes[number - 1]!.arrivesAtMin);
    expect(disturbances.map(({ atMin }) => atMin)).toEqual(
      disturbances.map(({ atMin }) => atMin).toSorted((one, other) => one - other),
    );
  });
});

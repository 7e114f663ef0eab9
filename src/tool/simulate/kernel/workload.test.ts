import { describe, expect, it } from 'vitest';
import { mean } from './statistics.ts';
import {
  createGraphWorkload,
  createLineWorkload,
  disturb,
  submitQueueOptions,
  type Workload,
} from './workload.ts';

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

describe('a line workload with everything that goes wrong', () => {
  const plain = {
    seed: 1,
    count: 6000,
    arrivalsPerHour: 60,
    passProbability: 0.9,
    flakeProbability: 0.02,
    predictor: { kind: 'prior' },
  } as const;

  it('has conflicts between any two changes that arrive within three hours', () => {
    const { changes } = createLineWorkload({ ...plain, pairConflictProbability: 0.001 });
    const conflicts = changes.flatMap(({ arrivesAtMin, conflictsWith }) =>
      conflictsWith.map((earlier) => arrivesAtMin - changes[earlier - 1]!.arrivesAtMin),
    );
    // Each change meets 180 earlier ones.
    expect(conflicts.length / (6000 * 180 * 0.001)).toBeCloseTo(1, 1);
    expect(Math.max(...conflicts)).toBeLessThanOrEqual(180);
    expect(Math.max(...conflicts)).toBeGreaterThan(175);
    expect(Math.min(...conflicts)).toBeGreaterThanOrEqual(0);
    expect(mean(conflicts)).toBeGreaterThan(80);
    expect(mean(conflicts)).toBeLessThan(100);
  });

  it('has bad changes that break the build, in the share asked for, and no good ones', () => {
    const { changes } = createLineWorkload({ ...plain, buildBreakShare: 0.3 });
    const bad = changes.filter(({ isGood }) => !isGood);
    expect(bad.filter(({ breaksBuild }) => breaksBuild).length / bad.length).toBeCloseTo(0.3, 1);
    expect(changes.some(({ isGood, breaksBuild }) => isGood && breaksBuild)).toBe(false);
  });

  it('has quiet nights and busy days around the same mean', () => {
    const { changes } = createLineWorkload({ ...plain, count: 5760, dailySwing: 0.9 });
    expect((changes.length / changes.at(-1)!.arrivesAtMin) * 60).toBeCloseTo(60, -1);
    const between = (fromHour: number, toHour: number) =>
      changes.filter(({ arrivesAtMin }) => {
        const hour = (arrivesAtMin / 60) % 24;
        return arrivesAtMin < 3 * 24 * 60 && hour >= fromHour && hour < toHour;
      }).length;
    // In three days: 8 an hour after midnight, 113 around noon.
    expect(between(0, 2) / (3 * 2)).toBeLessThan(12);
    expect(between(0, 2)).toBeGreaterThan(20);
    expect(between(11, 13) / (3 * 2)).toBeGreaterThan(100);
  });

  it('is the plain one of its seed in all else', () => {
    const all = { pairConflictProbability: 0.001, buildBreakShare: 0.3, flakeRepeatProbability: 0.2 };
    const strip = (workload: Workload) =>
      workload.changes.map(({ arrivesAtMin, durationMin, isGood }) => ({
        arrivesAtMin,
        durationMin,
        isGood,
      }));
    expect(strip(createLineWorkload({ ...plain, ...all }))).toEqual(strip(createLineWorkload(plain)));
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

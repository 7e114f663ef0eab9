import { describe, expect, it } from 'vitest';
import { mean } from './statistics.ts';
import { parseTrace } from './trace.ts';
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

describe('a trace', () => {
  const change = { number: 12, arrivesAtMin: 3, durationMin: 10, isGood: true };
  const later = { ...change, number: 7, arrivesAtMin: 5, shares: [12], conflictsWith: [12] };

  it('is read with defaults and put in order of arrival and time', () => {
    const disturbances = [
      { kind: 'push', number: 7, atMin: 9 },
      { kind: 'cancel', number: 12, atMin: 4 },
    ];
    const workload = parseTrace({ changes: [later, change], disturbances });
    expect(workload.changes.map(({ number }) => number)).toEqual([12, 7]);
    expect(workload.changes[0]).toMatchObject({ shares: [], conflictsWith: [], predictedPass: 0.9 });
    expect(workload.disturbances.map(({ atMin }) => atMin)).toEqual([4, 9]);
    expect(workload).toMatchObject({ name: 'trace', seed: 1, flakeProbability: 0 });
  });

  it.each([
    ['Unrecognized key', { changes: [change], colour: 'red' }],
    ['Too small', { changes: [] }],
    ['Change 12 appears twice', { changes: [change, change] }],
    ['Change 12 shares with 7', { changes: [{ ...change, shares: [7] }, later] }],
    ['Change 7 conflicts with 12', { changes: [change, { ...later, shares: [] }] }],
    ['push names change 99', { changes: [change], disturbances: [{ kind: 'push', number: 99, atMin: 4 }] }],
  ])('is refused with a message: %s', (message, json) => {
    expect(() => parseTrace(json)).toThrow(message);
  });
});

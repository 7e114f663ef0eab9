import { describe, expect, it } from 'vitest';
import { createRandom } from '#base/random.ts';
import { computeCalibration } from './calibration.ts';

const outcomes = (probability: number, count: number, failures: number) =>
  Array.from({ length: count }, (_, at) => ({ probability, hasFailed: at < failures }));

describe('the calibration of predictions', () => {
  it('is nothing without predictions', () => {
    expect(computeCalibration([])).toBeNull();
  });

  it('compares what was predicted with what happened, by tenths from the least to the most probable', () => {
    const right = computeCalibration([...outcomes(0.5, 50, 25), ...outcomes(0.1, 50, 5)])!;
    expect(right.parts.map(({ count, predicted }) => [count, Number(predicted.toFixed(3))])).toEqual([
      ...Array.from({ length: 5 }, () => [10, 0.1]),
      ...Array.from({ length: 5 }, () => [10, 0.5]),
    ]);
    expect(right).toMatchObject({ count: 100, failures: 30 });
    expect(right.parts.reduce((sum, { count, observed }) => sum + count * observed, 0)).toBeCloseTo(30);
  });

  it('has no error if as many fail as predicted, and the distance if more or fewer do', () => {
    const random = createRandom(3);
    const draw = (shift: number) =>
      computeCalibration(
        Array.from({ length: 20_000 }, () => {
          const probability = 0.4 * random();
          return { probability, hasFailed: random() < probability + shift };
        }),
      )!;
    expect(draw(0).error).toBeLessThan(0.012);
    expect(draw(0).skill).toBeGreaterThan(0.05);
    expect(draw(0.2).error).toBeCloseTo(0.2, 1);
    expect(draw(0.2).skill).toBeLessThan(0);
  });

  it('has no skill where all fail, or none', () => {
    expect(computeCalibration(outcomes(0.9, 5, 5))).toMatchObject({ skill: null, count: 5, failures: 5 });
    expect(computeCalibration(outcomes(0.1, 5, 0))).toMatchObject({ skill: null });
  });

  it('of predictions that are all the share that fails has no skill to show', () => {
    expect(computeCalibration(outcomes(0.25, 100, 25))!.skill).toBeCloseTo(0);
  });
});

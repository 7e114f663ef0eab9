import { expect, it } from 'vitest';
import { type Predictor, predictPass } from './predictor.ts';
import { createRandom } from './random.ts';

const draws = 10_000;

it.each<[Predictor, number]>([
  [{ kind: 'accuracy', accuracy: 0.97 }, 0.9],
  [{ kind: 'accuracy', accuracy: 0.7 }, 0.95],
  [{ kind: 'screen', recall: 0.5, falseAlarm: 0.05 }, 0.9],
  [{ kind: 'prior' }, 0.85],
])('%j says with which probability a change passes, if %d of all do', (predictor, pass) => {
  const random = createRandom(1, 'prediction');
  const seen = new Map<number, { count: number; good: number }>();
  for (let at = 0; at < draws; at++) {
    const isGood = random() < pass;
    const odds = predictPass(predictor, isGood, pass, random());
    const group = seen.get(odds) ?? { count: 0, good: 0 };
    seen.set(odds, { count: group.count + 1, good: group.good + Number(isGood) });
  }
  expect(seen.size).toBe(predictor.kind === 'prior' ? 1 : 2);
  for (const [odds, { count, good }] of seen) {
    // The share of good changes among those with the same odds is within four standard deviations of these.
    const deviation = Math.sqrt((odds * (1 - odds)) / count);
    expect(Math.abs(good / count - odds)).toBeLessThan(4 * deviation);
  }
});

it('is sure of the changes it calls good, and less sure of the few it calls bad', () => {
  const accurate: Predictor = { kind: 'accuracy', accuracy: 0.97 };
  expect(predictPass(accurate, true, 0.9, 0.5)).toBeCloseTo(0.9966, 4);
  expect(predictPass(accurate, false, 0.9, 0.5)).toBeCloseTo(0.2177, 4);
});

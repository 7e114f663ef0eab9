import { expect, it } from 'vitest';
import { sketchWorkload, describeDecisions } from './fixture.ts';
import { playPlanner } from './play.ts';
import { resubmitRemoved } from './resubmission.ts';
import { computeResult } from './result.ts';
import { mean } from './statistics.ts';

const options = { probability: 0.5, delayMin: 60, passProbability: 0.8 };
const many = sketchWorkload(
  Array.from({ length: 4000 }, (_, at) => ({ arrivesAtMin: at, isGood: at % 2 === 0 })),
);

it('gives each submission a next one with the probability, delay and outcome asked for', () => {
  const { changes } = resubmitRemoved(many, options);
  const later = changes.slice(many.changes.length);
  // Each submission, also one that follows, has a next one half of the time: as many again.
  expect(later.length / many.changes.length).toBeCloseTo(1, 1);
  expect(mean(later.map(({ follows }) => follows!.afterMin)) / 60).toBeCloseTo(1, 1);
  expect(later.filter(({ isGood }) => isGood).length / later.length).toBeCloseTo(0.8, 1);
  expect(new Set(changes.map(({ number }) => number)).size).toBe(changes.length);
  expect(new Set(later.map(({ follows }) => follows!.number)).size).toBe(later.length);
});

it('brings a removed change back repaired, and a merged one not', () => {
  const workload = sketchWorkload([{ arrivesAtMin: 0, isGood: false }, { arrivesAtMin: 0 }]);
  const always = resubmitRemoved(workload, { probability: 0.999, delayMin: 60, passProbability: 1 });
  const played = playPlanner(always, { strategy: 'manual', concurrency: 1 });
  const next = always.changes.find(({ follows }) => follows?.number === 1)!;
  const backAt = Number((10 + next.follows!.afterMin + 10).toFixed(3));
  expect(describeDecisions(played)).toEqual([
    '1 failed at 10',
    '2 merged at 20',
    `${next.number} merged at ${backAt}`,
  ]);
  expect(computeResult('planner', always, played).merged).toBe(2);
});

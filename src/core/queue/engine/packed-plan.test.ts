import { expect, it } from 'vitest';
import { packPlan, unpackPlan } from './packed-plan.ts';
import type { StoredPlan } from './stored.ts';

const run = (id: number, members: readonly number[]): StoredPlan['runs'][number] => ({
  id,
  of: { kind: 'line', group: id },
  composition: { base: 'T', members, tested: 1 },
  status: 'running',
  requestedAt: 1,
  pushedAt: 2,
  startedAt: null,
  attempt: 0,
  timeouts: 0,
  notBefore: 1,
  drifted: false,
  why: null,
  overtaken: false,
});

function planOf(line: readonly number[], runs: StoredPlan['runs']): StoredPlan {
  return {
    tip: 'T',
    line: line.map((pr, id) => ({ id, members: [pr] })),
    searches: [],
    runs,
    landing: null,
    gone: [],
    frozenAt: null,
    nextId: 1,
  };
}

const numbers = (count: number, from = 1): number[] =>
  Array.from({ length: count }, (_, index) => from + index);

it('a packed plan is unpacked to what it was, also where runs name entries that left, or only some of those ahead', () => {
  const line = numbers(100, 500);
  const trains = line.map((_, index) => run(index, line.slice(0, index + 1)));
  const lanes = line.map((_, index) =>
    run(
      index,
      line.filter((_pr, at) => at <= index && at % 3 === index % 3),
    ),
  );
  const odd = [run(1_000, [7, ...line.slice(3, 9), 600, 3]), run(1_001, [])];
  for (const runs of [trains, [...lanes, ...odd]]) {
    const plan = planOf(line, runs);
    const packed = JSON.parse(JSON.stringify(packPlan(plan))) as ReturnType<typeof packPlan>;
    expect(packed).toHaveProperty('entries');
    expect(unpackPlan(packed)).toEqual(plan);
  }
});

it('the packed plan of a line grows with its length, not with its square', () => {
  const bytes = (count: number) => {
    const line = numbers(count);
    return JSON.stringify(
      packPlan(
        planOf(
          line,
          line.map((_, index) => run(index, numbers(index + 1))),
        ),
      ),
    ).length;
  };
  expect(bytes(1_000) / bytes(250)).toBeLessThan(4.5);
});

it('a short plan is stored as the release before reads it', () => {
  const plan = planOf([1, 2], [run(1, [1]), run(2, [1, 2])]);
  expect(packPlan(plan)).toBe(plan);
  expect(unpackPlan(plan)).toBe(plan);
});

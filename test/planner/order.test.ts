// Who is considered before whom.
import { expect, it } from 'vitest';
import type { Item } from '#core/queue/planner/model.ts';
import { ageingMs, compareClass, firstInOrder, inOrder } from '#core/queue/planner/order.ts';
import { anItem, type NewItem, World } from './world.ts';

const hours = (count: number) => count * 3_600_000;

function ordered(now: number, ...items: NewItem[]): number[] {
  const world = new World();
  world.send({ kind: 'state', state: 'PAUSED' });
  for (const item of items) world.send({ kind: 'submitted', item });
  const [...known] = world.snapshot.items.values();
  return inOrder(known, now).map(({ pr }: Item) => pr);
}

it('puts urgent first, then by priority, then by seniority', () => {
  expect(
    ordered(
      0,
      anItem(1, { priority: 200 }),
      anItem(2, { priority: 100, seniority: 9 }),
      anItem(3, { priority: 100, seniority: 8 }),
      anItem(4, { priority: 10 }),
      anItem(5, { priority: 0 }),
    ),
  ).toEqual([5, 4, 3, 2, 1]);
});

it('lets nothing but urgent overtake one that has waited for four hours', () => {
  const items = [
    anItem(1, { priority: 200, submittedAt: hours(3) }),
    anItem(2, { priority: 10, submittedAt: hours(3) + 1 }),
    anItem(3, { priority: 0, submittedAt: hours(3) + 1 }),
  ];
  expect(ageingMs).toBe(hours(4));
  expect(ordered(hours(7) - 1, ...items)).toEqual([3, 2, 1]);
  expect(ordered(hours(7), ...items)).toEqual([3, 1, 2]);
});

it('has those that waited long, and those that are urgent, in the order of their submission', () => {
  expect(
    ordered(hours(9), anItem(1, { priority: 10, seniority: 5 }), anItem(2, { priority: 200, seniority: 4 })),
  ).toEqual([2, 1]);
  expect(
    ordered(0, anItem(1, { priority: 0, seniority: 5 }), anItem(2, { priority: 0, seniority: 4 })),
  ).toEqual([2, 1]);
});

it('wakes the queue when somebody has waited that long', () => {
  const world = new World({ concurrency: 1, testingTimeoutMinutes: 0 });
  world.submit(1);
  world.submit(2, { priority: 200 });
  expect(world.wakeAt).toBe(hours(4));
});

const permutations = (list: readonly number[]): readonly (readonly number[])[] =>
  list.length === 0
    ? [[]]
    : list.flatMap((first) =>
        permutations(list.filter((each) => each !== first)).map((rest) => [first, ...rest]),
      );

it('finds the first few entries of a queue in whatever sequence they are read', () => {
  const world = new World();
  world.send({ kind: 'state', state: 'PAUSED' });
  for (const [index, priority] of [40, 10, 30, 0, 20].entries()) world.submit(index + 1, { priority });
  const items = [...world.snapshot.items.values()];
  for (const sequence of permutations([0, 1, 2, 3, 4]))
    for (const most of [1, 2, 3, 5, 9]) {
      const read = sequence.map((index) => items[index]!);
      expect(firstInOrder(read, 0, most)).toEqual(inOrder(items, 0).slice(0, most));
    }
});

it('lets a strategy choose among entries of one class, and keeps those that waited long in their order', () => {
  const compared = (one: Partial<NewItem>, other: Partial<NewItem>, now = hours(9)) => {
    const world = new World();
    world.send({ kind: 'state', state: 'PAUSED' });
    world.submit(1, { submittedAt: now, ...one });
    world.submit(2, { submittedAt: now, ...other });
    const [first, second] = [1, 2].map((pr) => world.snapshot.items.get(pr)!);
    return Math.sign(compareClass(first!, second!, now));
  };
  expect(compared({}, {})).toBe(0);
  expect(compared({ priority: 10 }, {})).toBe(-1);
  expect(compared({ priority: 0 }, { priority: 0 })).toBe(0);
  expect(compared({ submittedAt: 0, seniority: 5 }, {})).toBe(-1);
  expect(compared({}, { submittedAt: 0, seniority: 5 })).toBe(1);
  expect(compared({ submittedAt: 0, seniority: 5 }, { submittedAt: 0, seniority: 4 })).toBe(1);
  expect(compared({ submittedAt: 0, seniority: 4 }, { submittedAt: 0, seniority: 5 })).toBe(-1);
  expect(compared({ submittedAt: 0 }, { priority: 0 })).toBe(1);
});

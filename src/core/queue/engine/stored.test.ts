import { describe, expect, it } from 'vitest';
import type { Situation } from '../situation.ts';
import { aQueue } from '../../../../test/fixture/entry.ts';
import { aRun } from '../../../../test/fixture/reconcile-input.ts';
import { limitsWithoutHistory } from '../planner/clock.ts';
import type { Run } from '../planner/model.ts';
import { packPlan, unpackPlan } from './packed-plan.ts';
import { restoreSnapshot } from './restore.ts';
import { emptyPlan, isSameItem, isSameJson, type StoredItem, storedPlan, type StoredPlan } from './stored.ts';

const item: StoredItem = {
  attempt: 1,
  place: { kind: 'pending', since: 5, restarting: false, alone: false, behind: null },
  queuedAt: 5,
  patienceFrom: 1,
  testedOnTip: 'T',
  targetsAt: 3,
  situation: { kind: 'pending', conflictsWith: null, startsAlone: false },
};

const testing: Situation = {
  kind: 'testing',
  ahead: { first: [1], count: 1 },
  times: { requestedAt: 1, pushedAt: 2, startedAt: null },
  limits: null,
};

it('the plan of a queue that was never evaluated has nothing under test', () => {
  expect(emptyPlan('T')).toEqual({
    tip: 'T',
    line: [],
    searches: [],
    runs: [],
    landing: null,
    gone: [],
    frozenAt: null,
    outageSince: null,
    nextId: 1,
  });
});

describe('runs of some tests', () => {
  const { state, settings, switching } = aQueue();
  const read = { limits: limitsWithoutHistory, failureShare: 0, flakeShare: 0 };
  const restored = (plan: StoredPlan) => restoreSnapshot({ state, settings, switching, ...read }, plan, []);
  const runs = [
    { ...aRun, id: 1, status: 'failed', failedTests: ['a'] },
    { ...aRun, id: 2, tests: ['a'] },
    { ...aRun, id: 3 },
  ] as const;
  const snapshot = {
    ...restored(emptyPlan('T')),
    runs: new Map<number, Run>(runs.map((run) => [run.id, run])),
  };

  it('are stored apart, where the release before does not see them, and restored in their order', () => {
    const plan = storedPlan(snapshot);
    expect(plan.runs.map(({ id }) => id)).toEqual([1, 3]);
    expect(plan.targetedRuns).toEqual([runs[1]]);
    const copy = JSON.parse(JSON.stringify(plan)) as StoredPlan;
    expect([...restored(copy).runs]).toEqual([...snapshot.runs]);
    expect(restored(copy)).toEqual(snapshot);
  });

  it('stay as they are in a packed plan', () => {
    const many = Array.from({ length: 70 }, (_, index): Run => ({ ...aRun, id: 10 + index }));
    const plan = storedPlan({
      ...snapshot,
      runs: new Map([...runs, ...many].map((run): [number, Run] => [run.id, run])),
    });
    const packed = packPlan(plan);
    expect(packed).toHaveProperty('entries');
    expect(unpackPlan(packed)).toEqual(plan);
  });

  it('are absent from a plan without any, and from one that an earlier version stored', () => {
    const plan = storedPlan({ ...snapshot, runs: new Map([[3, runs[2]]]) });
    expect(plan).not.toHaveProperty('targetedRuns');
    expect([...restored(plan).runs.keys()]).toEqual([3]);
  });
});

describe('what is stored about an entry', () => {
  it('is not written again if it is equal, whatever the order of its fields', () => {
    expect(isSameItem(item, item)).toBe(true);
    const place = { behind: null, alone: false, restarting: false, since: 5, kind: 'pending' } as const;
    expect(isSameItem(item, { ...item, place })).toBe(true);
    expect(isSameItem(null, null)).toBe(true);
  });

  it('is written if there was nothing, and deleted if there is nothing any more', () => {
    expect(isSameItem(item, null)).toBe(false);
    expect(isSameItem(null, item)).toBe(false);
  });

  it.each<Partial<StoredItem>>([
    { attempt: 2 },
    { queuedAt: null },
    { patienceFrom: 2 },
    { testedOnTip: null },
    { targetsAt: null },
    { screen: 'passed' },
    { place: { kind: 'not_ready' } },
    { place: { kind: 'pending', since: 5, restarting: true, alone: false, behind: null } },
    { situation: null },
    { situation: testing },
    { situation: { kind: 'pending', conflictsWith: 4, startsAlone: false } },
    { situation: { kind: 'pending', conflictsWith: 4, startsAlone: false, failedTogether: true } },
    { situation: { kind: 'pending', conflictsWith: null, startsAlone: true } },
  ])('is written if it differs by %j', (change) => {
    expect(isSameItem(item, { ...item, ...change })).toBe(false);
    expect(isSameItem({ ...item, ...change }, item)).toBe(false);
  });

  it('of an earlier version, without a situation, equals one that has none', () => {
    const { situation: _none, ...old } = item;
    expect(isSameItem({ ...old, situation: null }, old)).toBe(true);
    expect(isSameItem(item, old)).toBe(false);
  });

  it('is equal for two runs with the same times, and differs with another time', () => {
    const copy = structuredClone(testing);
    expect(isSameItem({ ...item, situation: testing }, { ...item, situation: copy })).toBe(true);
    const later = { ...testing, times: { ...testing.times, startedAt: 9 } };
    expect(isSameItem({ ...item, situation: testing }, { ...item, situation: later })).toBe(false);
  });
});

describe('two values from the database', () => {
  it.each([
    [1, 1],
    ['a', 'a'],
    [null, null],
    [
      [1, [2]],
      [1, [2]],
    ],
    [
      { a: 1, b: { c: [] } },
      { b: { c: [] }, a: 1 },
    ],
    // JSON leaves out a field that is undefined.
    [{ a: 1, b: undefined }, { a: 1 }],
  ])('%j and %j are the same', (a, b) => {
    expect(isSameJson(a, b)).toBe(true);
    expect(isSameJson(b, a)).toBe(true);
  });

  it.each([
    [1, 2],
    [1, '1'],
    [null, {}],
    [null, 0],
    [{}, 'a'],
    [[], {}],
    [[1], [1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: null }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
  ])('%j and %j differ', (a, b) => {
    expect(isSameJson(a, b)).toBe(false);
    expect(isSameJson(b, a)).toBe(false);
  });
});

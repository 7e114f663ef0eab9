import { describe, expect, it } from 'vitest';
import { anEntry, endedStates, underTestStates } from '../../../../test/fixture/entry.ts';
import type { Item, QueuePosition, Snapshot } from '../planner/model.ts';
import { emptySnapshot } from '../planner/empty.ts';
import { ageingMs } from '../planner/order.ts';
import { type LinePlace, linePlaces, placeAlone } from './line-place.ts';

const now = 10 * ageingMs;
const pending = { kind: 'pending', since: 0, restarting: false, alone: false, behind: null } as const;

const anItem = (pr: number, place: QueuePosition, change: Partial<Item> = {}): Item => ({
  pr,
  priority: 100,
  seniority: pr,
  submittedAt: now,
  noBatch: false,
  ready: true,
  queuedAt: now,
  patienceFrom: now,
  testedOnTip: null,
  screen: 'none',
  targets: new Uint32Array(0),
  place,
  endRequested: null,
  ...change,
});

const places = (items: readonly Item[], change: Partial<Snapshot> = {}): Map<number, LinePlace> =>
  linePlaces(
    { ...emptySnapshot({}, 'T'), items: new Map(items.map((item) => [item.pr, item])), ...change },
    now,
  );

const inOrder = (found: ReadonlyMap<number, LinePlace>): number[] =>
  [...found]
    .toSorted(([, a], [, b]) => a.rank - b.rank || a.major - b.major || a.minor - b.minor)
    .map(([pr]) => pr);

describe('the order of a queue', () => {
  it('has bisected batches first, then the entries under test, then pending ones, then those that are not ready', () => {
    const searched = { kind: 'search', search: 1 } as const;
    const tested = (group: number) => ({ kind: 'line', group, shown: 'testing' }) as const;
    const items = [
      anItem(1, { kind: 'not_ready' }),
      anItem(2, pending),
      anItem(3, tested(2)),
      anItem(4, searched),
      anItem(5, searched),
      anItem(6, tested(3)),
      anItem(7, tested(2)),
      anItem(8, { kind: 'not_ready' }),
    ];
    const search = {
      id: 1,
      base: 'T',
      members: [5, 4],
      passes: 0,
      fails: 2,
      passedRun: null,
      failedRun: null,
    };
    const line = [
      { id: 2, members: [7, 3] },
      { id: 3, members: [6] },
    ];
    expect(inOrder(places(items, { line, searches: [search] }))).toEqual([5, 4, 7, 3, 6, 2, 1, 8]);
  });

  it('has pending entries by priority and then by seniority', () => {
    const items = [
      anItem(1, pending, { priority: 200 }),
      anItem(2, pending, { seniority: 9 }),
      anItem(3, pending),
      anItem(4, pending, { priority: 0 }),
    ];
    expect(inOrder(places(items))).toEqual([4, 3, 2, 1]);
  });

  it('has a pending entry that waited for hours behind urgent ones, and ahead of every other priority', () => {
    const submittedAt = now - ageingMs;
    const items = [
      anItem(1, pending, { priority: 1 }),
      anItem(2, pending, { priority: 200, submittedAt }),
      anItem(3, pending, { priority: 0 }),
      anItem(4, pending, { priority: 0, submittedAt, seniority: 0 }),
    ];
    expect(inOrder(places(items))).toEqual([4, 3, 2, 1]);
  });

  it('is kept in whole numbers, as the database has them', () => {
    const submittedAt = now - ageingMs;
    const items = [0, 1, 255].map((priority) => anItem(priority, pending, { priority, submittedAt }));
    expect([...places(items).values()].map(({ major }) => major)).toEqual([0, 1, 1]);
  });
});

describe('the position of an entry by its own fields', () => {
  const alone = (stage: Parameters<typeof anEntry>[0]) => placeAlone(anEntry(stage));

  it('is none if the entry has ended', () => {
    for (const stage of endedStates) expect(alone({ stage })).toBeNull();
  });

  it('is among the entries under test, the pending ones, or those that are not ready', () => {
    for (const stage of underTestStates)
      expect(alone({ stage, seniority: 5 })).toEqual({ rank: 0, major: 0, minor: 5 });
    expect(alone({ stage: 'not_ready', seniority: 5 })).toEqual({ rank: 2, major: 0, minor: 5 });
  });

  it('of a pending entry is that of its priority, as in the order of the queue', () => {
    const entry = { stage: 'pending', priority: 10, seniority: 5 } as const;
    expect(alone(entry)).toEqual({ rank: 1, major: 20, minor: 5 });
    expect(alone(entry)).toEqual(places([anItem(1, pending, { priority: 10, seniority: 5 })]).get(1));
  });
});

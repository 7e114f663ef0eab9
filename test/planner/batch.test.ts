// Which pending entries are tested together, and when they start.
import { describe, expect, it } from 'vitest';
import { type Formation, formGroups } from '#core/queue/planner/batch.ts';
import type { Item } from '#core/queue/planner/model.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import { anItem, type NewItem } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

type Pending = Partial<NewItem> & Partial<Extract<Item['place'], { kind: 'pending' }>>;

function pending(pr: number, { since = 0, restarting = false, alone = false, ...item }: Pending = {}): Item {
  return {
    ...anItem(pr, item),
    queuedAt: 0,
    testedOnTip: null,
    screen: 'none',
    endRequested: null,
    patienceFrom: 0,
    place: { kind: 'pending', since, restarting, alone, behind: null },
  };
}

const batches = { batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 5 };
const lanes = { ...batches, mode: 'parallel' } as const;

function form(
  settings: Partial<QueueSettings>,
  items: readonly Item[],
  { free = 10, now = 0 } = {},
): { groups: number[][]; wakeAt: Formation['wakeAt'] } {
  const { groups, wakeAt } = formGroups(items, { ...defaultSettings, ...settings }, free, now);
  return { groups: groups.map((group) => group.map(({ pr }) => pr)), wakeAt };
}

describe('without batching', () => {
  it('everybody is a group, as many as there are slots', () => {
    const items = [pending(1), pending(2), pending(3)];
    expect(form({}, items)).toEqual({ groups: [[1], [2], [3]], wakeAt: null });
    expect(form({}, items, { free: 2 }).groups).toEqual([[1], [2]]);
    expect(form({}, items, { free: 0 }).groups).toEqual([]);
  });
});

describe('a batch in a single line', () => {
  it('starts at once when it is full, and takes no more', () => {
    const items = [1, 2, 3, 4, 5, 6, 7].map((pr) => pending(pr));
    expect(form(batches, items)).toEqual({
      groups: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      wakeAt: minutes(5),
    });
  });

  it('that is not full starts when its oldest has waited', () => {
    const items = [pending(1, { since: minutes(3) }), pending(2, { since: minutes(1) })];
    expect(form(batches, items, { now: minutes(6) - 1 })).toEqual({ groups: [], wakeAt: minutes(6) });
    expect(form(batches, items, { now: minutes(6) })).toEqual({ groups: [[1, 2]], wakeAt: null });
  });

  it('waits no more for one that was under test before', () => {
    const items = [pending(1), pending(2, { restarting: true })];
    expect(form(batches, items).groups).toEqual([[1, 2]]);
  });

  it.each([
    ['is urgent', { priority: 0 }],
    ['asked to be alone', { noBatch: true }],
    ['is left of a broken batch', { alone: true }],
  ])('is closed by one that %s and goes behind it', (_, item) => {
    const items = [pending(1), pending(2, item), pending(3)];
    expect(form(batches, items)).toEqual({ groups: [[1], [2]], wakeAt: minutes(5) });
    expect(form(batches, [pending(2, item)]).groups).toEqual([[2]]);
  });

  it('that waits holds everybody behind it', () => {
    const items = [pending(1, { since: minutes(1) }), pending(2)];
    expect(form({ ...batches, batchingMinSize: 4 }, [...items, pending(3)])).toEqual({
      groups: [],
      wakeAt: minutes(5),
    });
  });
});

describe('a batch of lanes', () => {
  it('takes who shares a target before who does not, and stands in the order of the line', () => {
    const items = [
      pending(1, on(1)),
      pending(2, on(2)),
      pending(3, on(1)),
      pending(4, on(1)),
      pending(5, on(2)),
    ];
    expect(form(lanes, items)).toEqual({ groups: [[1, 3, 4]], wakeAt: minutes(5) });
    expect(form({ ...lanes, batchingMinSize: 4 }, items).groups).toEqual([[1, 2, 3, 4]]);
  });

  it('takes who shares with any of it', () => {
    const items = [pending(1, on(1)), pending(2, on(1, 2)), pending(3, on(9)), pending(4, on(2))];
    expect(form(lanes, items).groups).toEqual([[1, 2, 4]]);
  });

  it('takes others where nobody else shares', () => {
    const items = [pending(1, on(1)), pending(2, on(2)), pending(3, on(3)), pending(4, on(4))];
    expect(form(lanes, items)).toEqual({ groups: [[1, 2, 3]], wakeAt: minutes(5) });
  });

  it('takes nobody past one that shares a target with them and stays', () => {
    // #3 shares with #1, but also with #2, which must be alone.
    const items = [pending(1, on(1)), pending(2, { noBatch: true, ...on(2) }), pending(3, on(1, 2))];
    expect(form({ ...lanes, batchingMinSize: 2 }, items)).toEqual({ groups: [[2]], wakeAt: minutes(5) });
  });

  it('that waits holds those that share a target with it, and nobody else', () => {
    const items = [
      pending(1, on(1)),
      pending(2, { noBatch: true, ...on(1) }),
      pending(3, { noBatch: true, ...on(2) }),
    ];
    expect(form(lanes, items)).toEqual({ groups: [[3]], wakeAt: minutes(5) });
  });

  it('that waits holds who shares with somebody it holds', () => {
    const items = [
      pending(1, on(1)),
      pending(2, { noBatch: true, ...on(1, 2) }),
      pending(3, { noBatch: true, ...on(2) }),
    ];
    expect(form(lanes, items)).toEqual({ groups: [], wakeAt: minutes(5) });
  });

  it('does not take an entry that waits for a batch ahead', () => {
    // #1 waits for others. #2 starts alone, and #3 waits for both. #4 waits for #2 only, and may not take #3 along.
    const items = [
      pending(1, on(1)),
      pending(2, { ...on(5, 6), noBatch: true }),
      pending(3, on(1, 6)),
      pending(4, on(5)),
    ];
    expect(form({ ...lanes, batchingMinSize: 2 }, items).groups).toEqual([[2]]);
  });

  it('wakes the queue for the first of several that wait', () => {
    // #3 goes behind #2, which starts alone, so it cannot be with #1.
    const waiting = (one: number, other: number) => [
      pending(1, { since: minutes(one), ...on(1) }),
      pending(2, { noBatch: true, ...on(2) }),
      pending(3, { since: minutes(other), ...on(2) }),
    ];
    expect(form(lanes, waiting(3, 2))).toEqual({ groups: [[2]], wakeAt: minutes(7) });
    expect(form(lanes, waiting(2, 3))).toEqual({ groups: [[2]], wakeAt: minutes(7) });
  });

  it('is not closed by one that must be alone: it waits for others', () => {
    const items = [pending(1, on(1)), pending(2, { noBatch: true, ...on(2) })];
    expect(form(lanes, items)).toEqual({ groups: [[2]], wakeAt: minutes(5) });
  });
});

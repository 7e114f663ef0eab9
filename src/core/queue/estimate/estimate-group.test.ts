import { describe, expect, it } from 'vitest';
import { minuteMs } from '#base/duration.ts';
import { later, noon, pendingLineEntry as pending } from '../../../../test/fixture/entry.ts';
import type { EntryState } from '../model.ts';
import { defaultSettings, type QueueSettings } from '../settings.ts';
import { groupLine, type LineEntry, placesMax } from './estimate-group.ts';

const now = noon.getTime();
const minutes = (count: number): number => count * minuteMs;

type LineRun = NonNullable<LineEntry['run']>;

/** In the run of this name, requested ten minutes ago. */
const inRun = (
  id: string,
  prNumber: number,
  run: Partial<LineRun> = {},
  rest: Partial<LineEntry> = {},
): LineEntry =>
  pending(prNumber, {
    state: 'testing',
    run: {
      id,
      isBisection: false,
      isScreen: false,
      isUnderWay: true,
      createdAt: later(-minutes(10)),
      ...run,
    },
    ...rest,
  });

const group = (
  line: readonly LineEntry[],
  settings: Partial<QueueSettings> = {},
  arrivalGapMs = minutes(60),
) => groupLine(line, { ...defaultSettings, strategy: 'manual', ...settings }, arrivalGapMs, now);
const members = (line: readonly LineEntry[], settings: Partial<QueueSettings> = {}) =>
  group(line, settings).map((each) => each.members);

const inFours = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 5 };

describe('the groups of a queue', () => {
  it('are the runs under test, and each pending entry alone where the queue does not batch', () => {
    const line = [inRun('a', 1), inRun('a', 2), inRun('b', 3), pending(4), pending(5)];
    expect(members(line)).toEqual([[1, 2], [3], [4], [5]]);
  });

  it('separate entries of one run whose states differ', () => {
    expect(members([inRun('a', 1), inRun('a', 2, {}, { state: 'tests_passed' })])).toEqual([[1], [2]]);
  });

  it('are batches of pending entries up to the size of a batch', () => {
    expect(
      members(
        [1, 2, 3, 4, 5, 6].map((pr) => pending(pr)),
        inFours,
      ),
    ).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });

  it('leave entries alone that are urgent or that ask for no batch', () => {
    const line = [
      pending(1),
      pending(2, { noBatch: true }),
      pending(3),
      pending(4, { priority: 0 }),
      pending(5),
    ];
    expect(members(line, inFours)).toEqual([[1], [2], [3], [4], [5]]);
  });

  it('are made of the first 500 entries', () => {
    const line = Array.from({ length: placesMax + 1 }, (_, index) => pending(index + 1));
    expect(group(line)).toHaveLength(500);
    expect(placesMax).toBe(500);
  });
});

describe('the kind of a group', () => {
  it.each<[string, LineEntry]>([
    ['waiting', pending(1)],
    ['running', inRun('a', 1)],
    ['waiting', inRun('a', 1, { isUnderWay: false })],
    ['passed', inRun('a', 1, { isUnderWay: false }, { state: 'tests_passed' })],
    ['failed', inRun('a', 1, { isUnderWay: false }, { state: 'pending_failure' })],
    ['searched', inRun('a', 1, { isBisection: true })],
    ['searched', inRun('a', 1, { isBisection: true }, { state: 'tests_passed' })],
    // A run is still stored, and its entry was put back into the queue.
    ['waiting', inRun('a', 1, { isBisection: true }, { state: 'pending' })],
    ['waiting', pending(1, { state: 'testing' })],
  ])('is %s for %j', (kind, entry) => {
    expect(group([entry])[0]!.kind).toBe(kind);
  });

  it('counts for how long its run has been under way, and never less than nothing', () => {
    const elapsed = (entry: LineEntry) => group([entry])[0]!.elapsedMs;
    expect(elapsed(inRun('a', 1))).toBe(minutes(10));
    expect(elapsed(inRun('a', 1, { isUnderWay: false }))).toBe(0);
    expect(elapsed(inRun('a', 1, { createdAt: later(1_000) }))).toBe(0);
    expect(elapsed(pending(1))).toBe(0);
  });
});

describe('the last batch', () => {
  const startsIn = (
    line: readonly LineEntry[],
    arrivalGapMs?: number,
    settings: Partial<QueueSettings> = inFours,
  ) => (group(line, settings, arrivalGapMs).at(-1)!.notBefore - now) / minuteMs;
  const waitsFor = (count: number, pr = 1) => pending(pr, { stateChangedAt: later(-minutes(count)) });

  it('starts when its oldest entry has waited long enough', () => {
    expect(startsIn([waitsFor(2, 1), waitsFor(1, 2)])).toBe(3);
    expect(startsIn([waitsFor(1, 1), waitsFor(2, 2)])).toBe(3);
    expect(startsIn([waitsFor(9)])).toBe(0);
  });

  it('starts when it is full, if entries arrive faster than that', () => {
    expect(startsIn([waitsFor(0)], minuteMs)).toBe(3);
    expect(startsIn([waitsFor(0, 1), waitsFor(0, 2)], minuteMs)).toBe(2);
  });

  it('starts at once if it is full', () => {
    expect(startsIn([1, 2, 3, 4].map((pr) => waitsFor(0, pr)))).toBe(0);
  });

  it('starts at once if one of its entries was under test before, or is alone', () => {
    expect(startsIn([waitsFor(0, 1), pending(2, { restarts: 1 })])).toBe(0);
    expect(startsIn([pending(1, { noBatch: true })])).toBe(0);
    expect(startsIn([pending(1)], undefined, { batch: false })).toBe(0);
  });

  it('is the only one that waits: the batches ahead are full, or closed by an entry behind them', () => {
    const starts = group([pending(1), pending(2, { noBatch: true }), pending(3)], inFours).map(
      ({ notBefore }) => (notBefore - now) / minuteMs,
    );
    expect(starts).toEqual([0, 0, 5]);
  });

  it('does not wait if it is under test', () => {
    expect(startsIn([inRun('a', 1)])).toBe(0);
  });
});

describe('what a group depends on', () => {
  const behind = (line: readonly LineEntry[], mode: QueueSettings['mode']) =>
    group(line, { mode }).map((each) => each.behind);
  const after = (id: string, pr: number, ahead: readonly number[], state: EntryState = 'testing') =>
    inRun(id, pr, {}, { behind: ahead, state });

  it('is the group ahead of it in single mode', () => {
    expect(behind([inRun('a', 1), pending(2), pending(3)], 'single')).toEqual([[], [1], [1]]);
  });

  it('are the groups that its run assumes, in parallel mode, as distances', () => {
    const line = [after('a', 1, []), after('a', 2, []), after('b', 3, []), after('c', 4, [3, 2, 1])];
    expect(behind(line, 'parallel')).toEqual([[], [], [1, 2]]);
  });

  it('are not entries of its own group, nor entries that have left the queue', () => {
    expect(behind([after('a', 1, []), after('b', 2, [1, 99]), after('b', 3, [2, 1])], 'parallel')).toEqual([
      [],
      [1],
    ]);
    expect(behind([after('a', 1, [2]), after('a', 2, [])], 'parallel')).toEqual([[]]);
  });

  it('is not known for a pending entry in parallel mode', () => {
    expect(behind([after('a', 1, []), pending(2)], 'parallel')).toEqual([[], null]);
  });
});

import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '#base/duration.ts';
import { limitsWithoutHistory } from '#core/queue/planner/clock.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import { estimateFailureShare, usualFailureShare } from '#core/queue/planner/history.ts';
import type { Item, QueuePosition, Run, Snapshot } from '#core/queue/planner/model.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { chainEveryMs, screenSize, screenThenChain } from '#core/queue/planner/strategy/screen-then-chain.ts';
import {
  busy,
  entries,
  entry,
  itemsOf,
  longRuns,
  now,
  pendingSince,
  propose,
  shapes,
  slots,
  suspect,
} from './proposing.ts';

/** A line of so many groups, the last of which began then. */
function lineOf(groups: number, requestedAt: number): Pick<Snapshot, 'line' | 'runs'> {
  const line = Array.from({ length: groups }, (_, index) => ({ id: index + 1, members: [900 + index] }));
  const runs = new Map<number, Run>();
  for (const { id, members } of line)
    runs.set(100 + id, {
      id: 100 + id,
      of: { kind: 'line', group: id },
      composition: { base: 'T', members, tested: 1 },
      status: 'running',
      requestedAt,
      pushedAt: null,
      startedAt: null,
      attempt: 0,
      timeouts: 0,
      notBefore: 0,
      drifted: false,
      why: null,
      overtaken: false,
    });
  return { line, runs };
}

describe('screens', () => {
  it('take entries while they pass together with a probability of 0.7', () => {
    expect(shapes(propose(entries(40), 4))).toEqual(['screen 6', 'screen 6', 'screen 6', 'screen 6']);
  });

  it('are smaller if more changes fail, and take a risk of 0.45 if many do', () => {
    expect(shapes(propose(entries(20), 1, { failureShare: 0.07 }))).toEqual(['screen 4']);
    expect(shapes(propose(entries(20), 1, { failureShare: 0.15 }))).toEqual(['screen 3']);
  });

  it('are evenly filled if the slots allow that', () => {
    expect(shapes(propose(entries(16), busy))).toEqual(Array.from({ length: 8 }, () => 'screen 2'));
  });

  it('hold at most eight entries', () => {
    expect(shapes(propose(entries(30), 1, { failureShare: 0.001 }))).toEqual(['screen 8']);
  });

  it('wait some minutes for more entries, unless they are full', () => {
    const pending = entries(2, { place: pendingSince(now - minuteMs) });
    expect(propose(pending, 1)).toEqual({ proposals: [], wakeAt: now + 4 * minuteMs });
    expect(shapes(propose(entries(7, { place: pendingSince(now) }), 1))).toEqual(['screen 6']);
    const late = entries(2, { place: pendingSince(now), submittedAt: now - 4 * hourMs });
    expect(shapes(propose(late, 1))).toEqual(['screen 2']);
  });

  it('are for one entry if it must be alone', () => {
    const [first, ...rest] = entries(4);
    const pending = [{ ...first!, noBatch: true }, ...rest];
    expect(propose(pending, 2).proposals).toEqual([{ screen: [1] }, { screen: [2, 3, 4] }]);
  });
});

describe('the chain', () => {
  it('takes all entries that passed a screen as one group, before the next screens', () => {
    const screened = entries(5, { screen: 'passed' });
    expect(shapes(propose([...screened, entry(6)], busy))).toEqual(['group 5', 'screen 1']);
    expect(shapes(propose(entries(3, { screen: 'confirmed' }), busy))).toEqual(['group 3']);
    expect(shapes(propose(entries(70, { screen: 'passed' }), busy))).toEqual(['group 60']);
  });

  const withSlots = (concurrency: number) => emptySnapshot({ concurrency }, 'T').settings;

  it.each([
    [64, 15],
    [16, 15],
    [4, 45],
    [3, 45],
  ])('with %d slots grows %d minutes after its last group began', (concurrency, minutes) => {
    const screened = entries(5, { screen: 'passed' });
    const settings = withSlots(concurrency);
    const free = Math.floor(concurrency / 2);
    const early = { ...lineOf(1, now - 10 * minuteMs), settings };
    expect(propose(screened, free, early)).toEqual({
      proposals: [],
      wakeAt: now + (minutes - 10) * minuteMs,
    });
    const late = { ...lineOf(1, now - minutes * minuteMs), settings };
    expect(shapes(propose(screened, free, late))).toEqual(['group 5']);
  });

  it('grows later with fewer slots', () => {
    const everyMs = [16, 12, 8, 6].map((slots) => chainEveryMs(slots, 30 * minuteMs));
    expect(everyMs).toEqual(everyMs.toSorted((a, b) => a - b));
    expect(new Set(everyMs).size).toBe(4);
  });

  it('has the pace that the estimates expect, shorter where runs are short', () => {
    expect(chainEveryMs(16, 30 * minuteMs)).toBe(15 * minuteMs);
    expect(chainEveryMs(16, 10 * minuteMs)).toBe(6 * minuteMs);
  });

  it('is slower where CI minutes matter more', () => {
    const { settings } = emptySnapshot({ concurrency: slots, weight: 'ci_minutes' }, 'T');
    const line = { ...lineOf(1, now - 10 * minuteMs), settings };
    expect(propose(entries(5, { screen: 'passed' }), busy, line).wakeAt).toBe(now + 17 * minuteMs);
  });

  it('counts from the last run of its line, not from that of a screen', () => {
    const screened = entries(5, { screen: 'passed' });
    const { line, runs } = lineOf(3, now - 20 * minuteMs);
    const [first] = runs.values();
    const screenRun = { ...first!, id: 1, of: { kind: 'search', search: 1 }, requestedAt: now } as const;
    const withScreen = new Map([...runs, [1, screenRun]]);
    expect(shapes(propose(screened, busy, { line, runs: withScreen }))).toEqual(['group 5']);
    const withYounger = new Map([[first!.id, { ...first!, requestedAt: now }], ...[...runs].slice(1)]);
    expect(propose(screened, busy, { line, runs: withYounger }).wakeAt).toBe(now + 15 * minuteMs);
    // With many slots a group is full before it is due.
    const full = entries(60, { screen: 'passed' });
    expect(shapes(propose(full, busy, { line, runs: withYounger }))).toEqual(['group 60']);
    expect(shapes(propose(full.slice(1), busy, { line, runs: withYounger }))).toEqual([]);
  });

  it('has at most six groups', () => {
    const screened = entries(5, { screen: 'passed' });
    expect(propose(screened, busy, lineOf(6, 0))).toEqual({ proposals: [], wakeAt: null });
  });

  it('grows sooner if the runs of the queue are short', () => {
    const screened = entries(5, { screen: 'passed' });
    const limits = { startByMs: minuteMs, finishByMs: 12 * minuteMs, usualMs: 5 * minuteMs };
    const settings = withSlots(16);
    const line = { ...lineOf(1, now - 3 * minuteMs), limits, settings };
    expect(shapes(propose(screened, busy, line))).toEqual(['group 5']);
  });

  it('takes one entry at a time that must be alone', () => {
    const [first, ...rest] = entries(3, { screen: 'passed' });
    expect(shapes(propose([{ ...first!, noBatch: true }, ...rest], busy))).toEqual(['group 1']);
    expect(propose([...rest, { ...first!, noBatch: true }], busy).proposals).toEqual([{ members: [2, 3] }]);
  });

  it('takes an entry whose batch gave no result, alone and unscreened', () => {
    const given = entry(1, { place: pendingSince(0, true) });
    expect(propose([given, entry(2)], busy).proposals).toEqual([{ members: [1] }, { screen: [2] }]);
  });

  it('does not go before an entry that has waited for hours and is older than all of it', () => {
    const old = entry(1, { submittedAt: now - 4 * hourMs });
    const screened = [entry(2, { screen: 'passed' }), entry(3, { screen: 'passed' })];
    expect(shapes(propose([old, ...screened], 1))).toEqual(['screen 1', 'group 2']);
    expect(shapes(propose([entry(1), ...screened], 1))).toEqual(['group 2']);
    const among = entry(3, { submittedAt: now - 4 * hourMs });
    const around = [entry(2, { screen: 'passed' }), entry(4, { screen: 'passed' })];
    expect(shapes(propose([among, ...around], 1))).toEqual(['group 2']);
  });
});

describe('a screen', () => {
  const noBatch = (pr: number) => entry(pr, { noBatch: true, place: pendingSince(now) });
  const fresh = (count: number) => entries(count, { place: pendingSince(now) });

  it('waits as long as its oldest entry, and not at all for one that has waited for hours', () => {
    const [first, second] = fresh(2);
    const older = { ...second!, place: pendingSince(now - 5 * minuteMs) };
    expect(shapes(propose([first!, older], 1))).toEqual(['screen 2']);
    const aged = { ...second!, submittedAt: now - 5 * hourMs };
    expect(shapes(propose([first!, aged], 1))).toEqual(['screen 2']);
    expect(propose([first!, second!], 1)).toEqual({ proposals: [], wakeAt: now + 5 * minuteMs });
  });

  it('starts at once with an entry that must be alone, and otherwise leaves such entries out', () => {
    expect(shapes(propose([noBatch(1)], 1))).toEqual(['screen 1']);
    const mixed = [entry(1), noBatch(2), entry(3)];
    expect(propose(mixed, 1).proposals).toEqual([{ screen: [1, 3] }]);
  });

  it('starts at once with eight entries, the most that it has', () => {
    for (const count of [8, 9])
      expect(shapes(propose(fresh(count), 1, { failureShare: 0.001 }))).toEqual(['screen 8']);
    expect(shapes(propose(fresh(7), 1, { failureShare: 0.001 }))).toEqual([]);
  });

  it('has more of the entries that passed one before than of others where many fail', () => {
    const failureShare = 0.15;
    expect(shapes(propose(entries(9), 1, { failureShare }))).toEqual(['screen 3']);
    expect(shapes(propose(entries(9, { screen: 'doubted' }), 1, { failureShare }))).toEqual(['screen 8']);
    expect(screenSize(0.08)).toBe(7);
  });

  it('has none of the entries that are tested in the line, without a result so far', () => {
    const place = { ...pendingSince(0), alone: true };
    const full = lineOf(6, now);
    expect(shapes(propose([entry(1, { place }), entry(2)], busy, full))).toEqual(['screen 1']);
  });
});

describe('short runs, or none yet', () => {
  const waiting = entries(2, { place: pendingSince(now - minuteMs) });

  it('make a screen wait for less', () => {
    const limits = { startByMs: minuteMs, finishByMs: 24 * minuteMs, usualMs: 10 * minuteMs };
    expect(propose(waiting, 1, { limits })).toEqual({ proposals: [], wakeAt: now + minuteMs });
    expect(shapes(propose(waiting, 1, { limits: limitsWithoutHistory }))).toEqual(['screen 2']);
  });
});

describe('the batches, for people', () => {
  const describeBatches = (queue: Partial<Snapshot>, settings: Partial<QueueSettings> = {}) =>
    screenThenChain.describeBatches({
      ...emptySnapshot({ concurrency: slots, ...settings }, 'T'),
      limits: longRuns,
      ...queue,
    });

  it('have the size at which they start at once', () => {
    for (const failureShare of [0.001, 0.05, 0.07, 0.15, 0.6]) {
      const { size } = describeBatches({ failureShare })!;
      expect(shapes(propose(entries(40), 1, { failureShare }))).toEqual([`screen ${size}`]);
    }
  });

  it('wait longer if slots are taken, or if CI minutes matter more', () => {
    const taken = { ...lineOf(8, now), items: itemsOf([suspect]) };
    expect(describeBatches({})).toEqual({ size: 6, waitMs: minuteMs, failureShare: 0.05 });
    expect(describeBatches({}, { predictFailures: true })).toMatchObject({ isPredicted: true });
    expect(describeBatches(taken)).toMatchObject({ waitMs: 5 * minuteMs });
    expect(describeBatches({}, { weight: 'ci_minutes' })).toMatchObject({ waitMs: 6 * minuteMs });
    expect(describeBatches(taken, { weight: 'ci_minutes' })).toMatchObject({ waitMs: 6 * minuteMs });
    const ended = new Map([...taken.runs].map(([id, run]) => [id, { ...run, status: 'passed' as const }]));
    expect(describeBatches({ ...taken, runs: ended })).toMatchObject({ waitMs: minuteMs });
  });
});

describe('a quiet queue', () => {
  it('whose CI minutes matter more lets entries wait for others instead of using its free slots', () => {
    const { settings } = emptySnapshot({ concurrency: slots, weight: 'ci_minutes' }, 'T');
    const pending = entries(3, { place: pendingSince(now - 4 * minuteMs) });
    expect(propose(pending, slots, { settings })).toEqual({ proposals: [], wakeAt: now + 2 * minuteMs });
    expect(shapes(propose(entries(12), slots, { settings }))).toEqual(['screen 6', 'screen 6']);
  });

  it('tests entries in the line at once, as many as pass together with a probability of 0.7', () => {
    expect(shapes(propose(entries(2, { place: pendingSince(now) }), slots))).toEqual(['group 2']);
    expect(shapes(propose(entries(20), slots))[0]).toBe('group 6');
  });

  it('counts the entries that are in the line already without a screen', () => {
    const line = lineOf(4, now);
    const inLine = (screen: Item['screen']) =>
      line.line.map(({ id, members }) =>
        entry(members[0]!, { screen, place: { kind: 'line', group: id, shown: 'testing' } }),
      );
    const pending = entries(20);
    const shapesWith = (screen: Item['screen']) =>
      shapes(propose(pending, slots, { ...line, items: itemsOf([...inLine(screen), ...pending]) }));
    expect(shapesWith('none')[0]).toBe('group 2');
    expect(shapesWith('passed')[0]).toBe('group 6');
  });

  it('has one group of those that passed a screen and of others, at most 60, without those that must be alone', () => {
    const passed = entries(2, { screen: 'passed' });
    expect(shapes(propose([...passed, entry(3), entry(4)], slots))).toEqual(['group 4']);
    const oneAlone = [entry(1), entry(2, { noBatch: true }), entry(3)];
    expect(propose(oneAlone, slots).proposals[0]).toEqual({ members: [1, 3] });
    const many = [...entries(59, { screen: 'passed' }), entry(60), entry(61), entry(62)];
    expect(shapes(propose(many, slots))[0]).toBe('group 60');
  });

  it('is one with two thirds of its slots free', () => {
    const pending = entries(2, { place: pendingSince(now) });
    const { settings } = emptySnapshot({ concurrency: 12 }, 'T');
    expect(shapes(propose(pending, 8, { settings }))).toEqual(['group 2']);
    expect(shapes(propose(pending, 7, { settings }))).toEqual([]);
    expect(shapes(propose(pending, 11))).toEqual(['group 2']);
    expect(shapes(propose(pending, 10))).toEqual([]);
  });

  it('is one with a quarter of its slots free, while all that was not screened passes with a probability of 0.65', () => {
    const pending = entries(2, { place: pendingSince(now) });
    const withOthers = (count: number, rest: Partial<Item>, free = 4) => {
      const others = entries(2 + count, rest).slice(2);
      return shapes(propose(pending, free, { items: itemsOf([...pending, ...others]) }));
    };
    const place: QueuePosition = { kind: 'search', search: 1 };
    // 0.95 to the power of eight is 0.66.
    expect(withOthers(6, { place })).toEqual(['group 2']);
    expect(withOthers(6, { place }, 3)).toEqual([]);
    expect(withOthers(7, { place })).toEqual([]);
    expect(withOthers(7, { place: { kind: 'not_ready' } })).toEqual(['group 2']);
    expect(withOthers(7, { place, screen: 'passed' })).toEqual(['group 2']);
  });
});

it('estimates how many attempts fail, and without history assumes the usual share', () => {
  expect(estimateFailureShare({ failed: 0, ended: 0 })).toBeCloseTo(usualFailureShare);
  expect(estimateFailureShare({ failed: 59, ended: 380 })).toBeCloseTo(0.15);
});

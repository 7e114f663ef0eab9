// Which runs of parallel lanes are worth starting: the minutes that they probably save against those that they probably
// waste, by how probably #1 is bad.
import { describe, expect, it } from 'vitest';
import { foresee } from '#core/queue/planner/strategy/foresee.ts';
import { minuteMs } from '#base/duration.ts';
import { type LineAsked, proposeFor } from './foreseen.ts';

type Dependencies = readonly (readonly number[])[];

const isWorth = (run: string, dependencies: Dependencies, asked: LineAsked, odds: number): boolean =>
  proposeFor(dependencies, {
    ...asked,
    known: { ...asked.known, 0: { ...asked.known?.[0], odds } },
  }).started.includes(run);

/** How probably #1 has to be bad for this run to start. */
function startsFrom(run: string, dependencies: Dependencies, asked: LineAsked): number {
  let [tooFew, enough] = [0, 0.5];
  expect(isWorth(run, dependencies, asked, 1 - enough)).toBe(true);
  for (let step = 0; step < 30; step++) {
    const middle = (tooFew + enough) / 2;
    if (isWorth(run, dependencies, asked, 1 - middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}

/** From which odds of its path a run saves more than it wastes, a minute wasted being worth less. */
function worthFrom(savedMinutes: number, wastedMinutes: number, wasteWeight = 0.07): number {
  const ratio = (wasteWeight * wastedMinutes) / savedMinutes;
  return ratio / (1 + ratio);
}

/** A run that was stopped costs five minutes more than it took. */
const startMinutes = 5;
const pair: Dependencies = [[], [0]];

describe('a run without an entry that is probably bad', () => {
  it('saves the time until that is known, and wastes its own', () => {
    const asked = { running: [[[0], 5]] } as const;
    expect(startsFrom('2 without 1', pair, asked)).toBeCloseTo(worthFrom(25, startMinutes + 25), 6);
    const thrifty = { ...asked, weight: 'ci_minutes' } as const;
    expect(startsFrom('2 without 1', pair, thrifty)).toBeCloseTo(worthFrom(25, startMinutes + 25, 0.25), 6);
  });

  it('counts from when CI began, or else from the push or from the request', () => {
    const pushedAt = 95 * minuteMs;
    for (const rest of [
      { startedAt: pushedAt, pushedAt: 0, requestedAt: 0 },
      { startedAt: null, pushedAt, requestedAt: 0 },
      { startedAt: null, pushedAt: null, requestedAt: pushedAt },
    ])
      expect(startsFrom('2 without 1', pair, { running: [[[0], 5, rest]] })).toBeCloseTo(
        worthFrom(25, startMinutes + 25),
        6,
      );
  });

  it('expects a run that takes longer than usual to end at any moment', () => {
    const asked = { running: [[[0], 40]] } as const;
    expect(startsFrom('2 without 1', pair, asked)).toBeCloseTo(worthFrom(0.5, startMinutes + 0.5), 6);
  });

  it('wastes its own time at most, and saves only what it would come too late', () => {
    // The run of #1 ends in 115 minutes: #2 has to begin in 80, with 35 for its run and a margin.
    const asked = { running: [[[0], 5]], known: { 0: { expectedMs: 120 * minuteMs } } } as const;
    expect(startsFrom('2 without 1', pair, asked)).toBeCloseTo(worthFrom(35, startMinutes + 30), 6);
    expect(proposeFor(pair, { ...asked, failureShare: 0.06 }).wakeInMinutes).toBeCloseTo(80);
  });

  it('is worth more if others wait for the entry', () => {
    const asked = { running: [[[0], 5]] } as const;
    const expected = worthFrom(25 * 2 ** 0.7, startMinutes + 25);
    expect(startsFrom('2 without 1', [[], [0], [1]], asked)).toBeCloseTo(expected, 6);
    // They do not wait for it while their own runs take longer.
    const known = { 2: { expectedMs: 90 * minuteMs } };
    expect(startsFrom('2 without 1', [[], [0], [1]], { ...asked, known })).toBeCloseTo(
      worthFrom(25, startMinutes + 25),
      6,
    );
  });

  it('saves the time until the decision if no run brings news', () => {
    // #1 has no run yet, and would take 50 minutes.
    const known = { 0: { expectedMs: 50 * minuteMs } };
    expect(startsFrom('2 without 1', pair, { known })).toBeCloseTo(worthFrom(35, startMinutes + 30), 6);
    // The run of #1 gave no result, and is repeated.
    const ended = { running: [[[0], 5, { status: 'infrastructure' }]] } as const;
    expect(startsFrom('2 without 1', pair, ended)).toBeCloseTo(worthFrom(30, startMinutes + 30), 6);
  });

  it('saves the time until the first news about an entry that is not certain', () => {
    const triple: Dependencies = [[], [], [0, 1]];
    const running = [
      [[0], 25],
      [[1], 5],
    ] as const;
    const second = (odds: number) => ({ running, known: { 1: { odds } } });
    // #2 is not certain either, and its news comes later: those of #1 come in five minutes.
    expect(startsFrom('3 without 1', triple, second(0.9)) * 0.9).toBeCloseTo(
      worthFrom(5, startMinutes + 5),
      6,
    );
    // If those of #1 come later, the first ones are about #2.
    const later = [
      [[0], 5],
      [[1], 25],
    ] as const;
    const asked = (odds: number) => ({ running: later, known: { 1: { odds } } });
    expect(startsFrom('3 without 1', triple, asked(0.9)) * 0.9).toBeCloseTo(
      worthFrom(5, startMinutes + 5),
      6,
    );
    // An entry that is certain brings none.
    for (const odds of [0.99, 0.981])
      expect(startsFrom('3 without 1', triple, asked(odds)) * odds).toBeCloseTo(
        worthFrom(25, startMinutes + 25),
        6,
      );
    expect(startsFrom('3 without 1,2', triple, asked(0.01)) * 0.99).toBeCloseTo(
      worthFrom(25, startMinutes + 25),
      6,
    );
  });
});

describe('the run of the likeliest path', () => {
  // The decision about #1 is far away, and news about #2 comes in five minutes: a run of #3 would save nothing yet.
  const asked = (odds: number): LineAsked => ({
    running: [
      [[0], 5],
      [[1], 25],
    ],
    known: { 0: { odds: 0.999, expectedMs: 125 * minuteMs }, 1: { odds } },
  });
  const triple: Dependencies = [[], [], [0, 1]];

  it('starts at once if it is probable enough', () => {
    expect(proposeFor(triple, asked(0.7))).toEqual({ started: ['3 without none'], wakeInMinutes: 85 });
    expect(proposeFor(triple, asked(0.55))).toEqual({ started: [], wakeInMinutes: 85 });
    // The other path is never that.
    expect(proposeFor(triple, asked(0.3))).toEqual({ started: ['3 without 2'], wakeInMinutes: 85 });
  });

  it('goes behind those that save time', () => {
    const both: Dependencies = [...triple, [1]];
    expect(proposeFor(both, { ...asked(0.7), free: 1 }).started).toEqual(['4 without none']);
    expect(proposeFor(both, { ...asked(0.7), free: 2 }).started).toEqual([
      '4 without none',
      '3 without none',
    ]);
  });

  it('is looked at again when the first of several would be worth starting', () => {
    const sooner = { 3: { expectedMs: 60 * minuteMs } };
    const line: Dependencies = [...triple, [0, 1], [0, 1]];
    const { running, known } = asked(0.55);
    expect(proposeFor(line, { running: running!, known: { ...known, ...sooner } })).toEqual({
      started: [],
      wakeInMinutes: 120 - 1.1 * 60 - 2,
    });
  });
});

describe('who goes first, if there are too few slots', () => {
  it('is an entry that others wait for, not one for which they do not wait because their own runs take longer', () => {
    const line: Dependencies = [[], [0], [], [2]];
    const known = { 1: { expectedMs: 60 * minuteMs } };
    expect(proposeFor(line, { free: 1, known }).started).toEqual(['3 without none']);
    expect(proposeFor(line, { free: 1 }).started).toEqual(['1 without none']);
  });

  it('counts those that wait for the first of the line too', () => {
    expect(proposeFor([[], [], [1], [0], [0]], { free: 1 }).started).toEqual(['1 without none']);
  });

  it('counts runs of groups in the line only', () => {
    const running = [[[0], 5, { of: { kind: 'line', group: 99 } }]] as const;
    expect(proposeFor([[]], { running }).started).toEqual(['1 without none']);
  });
});

it('has no batches to describe', () => {
  expect(foresee.describeBatches({} as never)).toBeNull();
});

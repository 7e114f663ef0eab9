// Futures without chance: every run takes ten minutes, and either no entry leaves after its tests or every entry does.
import { describe, expect, it } from 'vitest';
import { minuteMs } from '#base/duration.ts';
import { beginFuture, createDraws, drawLanes, drawLine, type Odds } from './estimate-draw.ts';
import type { LineGroup } from './estimate-group.ts';

const minutes = (count: number): number => count * minuteMs;
const now = minutes(1_000);

const odds: Odds = {
  durationsMs: Float64Array.of(minutes(10), minutes(10)),
  leaveShare: 0,
  leaveDoubt: 0,
  slots: 1,
  searchSlots: 1,
  isOptimistic: false,
  failureDepth: 0,
};
const everyoneLeaves = { leaveShare: 1 };

const waiting = (rest: Partial<LineGroup> = {}): LineGroup => ({
  members: [1],
  kind: 'waiting',
  elapsedMs: 0,
  notBefore: now,
  behind: [1],
  ...rest,
});
const running = (count: number, rest: Partial<LineGroup> = {}) =>
  waiting({ kind: 'running', elapsedMs: minutes(count), ...rest });
const passed = waiting({ kind: 'passed' });
const failed = waiting({ kind: 'failed' });
const searched = (rest: Partial<LineGroup> = {}) =>
  waiting({ kind: 'searched', members: [1, 2, 3, 4], ...rest });
const batch = { members: [1, 2, 3, 4] };

/** When each group lands, in minutes from now. */
function landings(draw: typeof drawLine, groups: readonly LineGroup[], change: Partial<Odds> = {}): number[] {
  const draws = createDraws(groups, { ...odds, ...change }, now);
  beginFuture(draws);
  const landsIn: number[] = groups.map(() => Number.NaN);
  draw(draws, (group, landsAt) => (landsIn[group] = (landsAt - now) / minuteMs));
  return landsIn;
}
const inLine = (groups: readonly LineGroup[], change?: Partial<Odds>) => landings(drawLine, groups, change);
const inLanes = (groups: readonly LineGroup[], change?: Partial<Odds>) => landings(drawLanes, groups, change);

describe('in one queue', () => {
  it('each group waits for a free slot', () => {
    expect(inLine([waiting(), waiting(), waiting(), waiting()])).toEqual([10, 20, 30, 40]);
    expect(inLine([waiting(), waiting(), waiting(), waiting()], { slots: 3 })).toEqual([10, 10, 10, 20]);
    expect(inLine([waiting(), waiting()], { slots: 50 })).toEqual([10, 10]);
  });

  it('slots that become free at different times are taken in that order', () => {
    const groups = [running(1), running(7), running(4), waiting(), waiting(), waiting(), waiting()];
    // The slots are free after 9, 3 and 6 minutes, and again ten minutes later; no group lands before one ahead of it.
    expect(inLine(groups, { slots: 3 })).toEqual([9, 9, 9, 13, 16, 19, 23]);
  });

  it('a group whose run passed lands with the group ahead of it', () => {
    expect(inLine([passed, running(8), passed])).toEqual([0, 2, 2]);
  });

  it('a batch that still fills starts later', () => {
    expect(inLine([waiting({ notBefore: now + minutes(4) })])).toEqual([14]);
    expect(inLine([waiting(), waiting({ notBefore: now + minutes(4) })])).toEqual([10, 20]);
  });

  it('a run lands no earlier than it can, also if it takes longer than any before', () => {
    const [landsIn] = inLine([running(40)]);
    expect(landsIn).toBeGreaterThanOrEqual(0);
    expect(landsIn).toBeLessThanOrEqual(20);
  });

  it('a group that fails makes all groups behind it start again when it is settled', () => {
    // #1 is to blame at 4 minutes. What is behind it starts then, although it was under test before.
    expect(inLine([running(6), running(6), passed], { slots: 3, ...everyoneLeaves })).toEqual([4, 14, 24]);
    expect(inLine([failed, running(6), passed], { slots: 2 })).toEqual([10, 10, 10]);
  });

  it('a failed group is settled when the groups ahead of it have landed', () => {
    expect(inLine([running(3), failed, waiting()], { slots: 2 })).toEqual([7, 17, 17]);
  });

  it('a failed batch is bisected, and tested once more without the culprit', () => {
    // Four entries with one slot: two rounds, and a run.
    expect(inLine([{ ...failed, ...batch }])).toEqual([30]);
    expect(inLine([{ ...failed, ...batch }], { searchSlots: 3 })).toEqual([20]);
    expect(inLine([{ ...failed, members: [1, 2, 3, 4, 5] }])).toEqual([40]);
  });

  it('the rest of a failed batch takes one slot before the groups behind it', () => {
    const groups = [{ ...failed, ...batch }, waiting(), waiting()];
    expect(inLine(groups).slice(1)).toEqual([20, 30]);
    expect(inLine(groups, { slots: 2 }).slice(1)).toEqual([10, 20]);
    expect(inLine([failed, waiting(), waiting()]).slice(1)).toEqual([10, 20]);
  });

  it('a batch that is bisected already is outside the queue: its rest is tested behind what is under test', () => {
    // The round ends in 10 minutes, or in 4 if it has run for 6; then the rest is tested once.
    expect(inLine([searched(), running(2), waiting()])).toEqual([20, 8, 18]);
    expect(inLine([searched({ elapsedMs: minutes(6) }), running(2)])).toEqual([14, 8]);
    // It lands behind what is under test now, and not behind what waits.
    expect(inLine([searched({ elapsedMs: minutes(9) }), running(0), waiting()], { slots: 2 })).toEqual([
      11, 10, 10,
    ]);
    expect(inLine([searched({ elapsedMs: minutes(9) }), waiting({ notBefore: now + minutes(60) })])).toEqual([
      11, 70,
    ]);
  });

  it('the rest of a bisected batch starts again if a group that is under test now leaves', () => {
    expect(inLine([searched({ members: [1], elapsedMs: minutes(9) }), running(2)], everyoneLeaves)).toEqual([
      28, 8,
    ]);
    expect(
      inLine([searched({ elapsedMs: minutes(9) }), running(2)], { leaveShare: 1, searchSlots: 3 }),
    ).toEqual([38, 8]);
  });

  it('with optimistic merging a later run that passes proves the groups ahead', () => {
    const groups = [running(1), running(4), running(2), waiting()];
    expect(inLine(groups, { slots: 4, isOptimistic: true })).toEqual([6, 6, 8, 10]);
    expect(inLine(groups, { slots: 4 })).toEqual([9, 9, 9, 10]);
  });

  it('with optimistic merging a run that fails proves nothing', () => {
    expect(inLine([running(1), failed], { slots: 2, isOptimistic: true })).toEqual([9, 19]);
  });

  it('a failure waits for the groups behind it that are under test, as far as the depth allows', () => {
    const groups = [failed, running(3), running(1), waiting()];
    expect(inLine(groups, { slots: 4 }).at(-1)).toBe(10);
    expect(inLine(groups, { slots: 4, failureDepth: 1 }).at(-1)).toBe(17);
    expect(inLine(groups, { slots: 4, failureDepth: 2 }).at(-1)).toBe(19);
    // A group that waits for a slot does not start before the failure is settled.
    expect(inLine([failed, waiting({ notBefore: now + minutes(1) })], { failureDepth: 1 })).toEqual([10, 11]);
  });
});

describe('in parallel lanes', () => {
  it('a group waits for the groups that it depends on, and for a slot', () => {
    const groups = [running(2, { behind: [] }), running(8, { behind: [] }), running(9, { behind: [2] })];
    expect(inLanes(groups, { slots: 3 })).toEqual([8, 2, 8]);
    expect(inLanes([waiting({ behind: [] }), waiting({ behind: [] }), waiting({ behind: [1, 2] })])).toEqual([
      10, 20, 30,
    ]);
  });

  it('a group starts again when a group that it depends on has left, and the others do not', () => {
    const groups = [
      waiting({ kind: 'failed', behind: [] }),
      running(8, { behind: [] }),
      running(8, { behind: [2] }),
      running(8, { behind: [1] }),
    ];
    expect(inLanes(groups, { slots: 4 })).toEqual([10, 2, 10, 10]);
  });

  it('a group of which nothing is known depends like the others', () => {
    const unknown = waiting({ behind: null });
    expect(inLanes([running(2, { behind: [] }), unknown], { slots: 2 })).toEqual([8, 10]);
    // All that is known depends on the group ahead, so this one does as well.
    const groups = [
      running(0, { behind: [] }),
      running(9, { behind: [1] }),
      { ...unknown, kind: 'passed' } as const,
    ];
    expect(inLanes(groups, { slots: 3 })).toEqual([10, 10, 10]);
    const apart = [
      running(0, { behind: [] }),
      running(9, { behind: [] }),
      { ...unknown, kind: 'passed' } as const,
    ];
    expect(inLanes(apart, { slots: 3 })).toEqual([10, 1, 0]);
  });

  it('no group waits for a batch that is bisected', () => {
    expect(inLanes([searched({ behind: [] }), waiting({ behind: [1] })])).toEqual([20, 10]);
  });

  it('a group that may be to blame lands as if it were good', () => {
    expect(inLanes([waiting({ behind: [] }), waiting({ behind: [1] })], everyoneLeaves)).toEqual([10, 20]);
    expect(inLanes([waiting({ kind: 'failed', ...batch, behind: [] })], everyoneLeaves)).toEqual([30]);
  });
});

describe('what varies', () => {
  it('is the time of a run, between two neighbours of those before', () => {
    const draws = createDraws(
      [waiting()],
      { ...odds, durationsMs: Float64Array.of(minutes(10), minutes(30)) },
      now,
    );
    const times = Array.from({ length: 300 }, () => {
      let landsIn = 0;
      beginFuture(draws);
      drawLine(draws, (_, landsAt) => (landsIn = (landsAt - now) / minuteMs));
      return landsIn;
    });
    expect(Math.min(...times)).toBeGreaterThanOrEqual(10);
    expect(Math.min(...times)).toBeLessThan(11);
    expect(Math.max(...times)).toBeLessThanOrEqual(30);
    expect(Math.max(...times)).toBeGreaterThan(29);
    expect(Math.abs(times.reduce((sum, each) => sum + each, 0) / times.length - 20)).toBeLessThan(1);
  });

  it('is the share that leaves, around the share that left, and never outside of 0 to 1', () => {
    const share = (leaveShare: number, leaveDoubt: number) => {
      const draws = createDraws([waiting()], { ...odds, leaveShare, leaveDoubt }, now);
      return Array.from({ length: 500 }, () => {
        beginFuture(draws);
        return draws.fails[0]!;
      });
    };
    expect(new Set(share(0.3, 0))).toEqual(new Set([0.3]));
    const shares = share(0.3, 0.05);
    const mean = shares.reduce((sum, each) => sum + each, 0) / shares.length;
    const deviation = Math.sqrt(shares.reduce((sum, each) => sum + (each - mean) ** 2, 0) / shares.length);
    expect(Math.abs(mean - 0.3)).toBeLessThan(0.01);
    expect(Math.abs(deviation - 0.05)).toBeLessThan(0.01);
    const wide = share(0.5, 3);
    expect([Math.min(...wide), Math.max(...wide)]).toEqual([0, 1]);
  });

  it('is the chance that a batch fails, which grows with its size', () => {
    const draws = createDraws([waiting(), waiting({ members: [1, 2] })], { ...odds, leaveShare: 0.5 }, now);
    beginFuture(draws);
    expect([...draws.fails]).toEqual([0.5, 0.75]);
  });
});

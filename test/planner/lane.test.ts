// Who depends on whom, by impacted targets.
import { describe, expect, it } from 'vitest';
import { DirectLanes, Lanes, LaneWalk, noTargets, share, type Targets } from '#core/queue/planner/lane.ts';
import { createRandom } from '#tool/simulate/kernel/random.ts';

const on = (...list: number[]): Targets => Uint32Array.from(list);

describe('two sets of targets', () => {
  it('share what is in both, wherever it stands', () => {
    expect(share(on(1, 3, 5), on(2, 3))).toBe(true);
    expect(share(on(2, 3), on(1, 3, 5))).toBe(true);
    expect(share(on(1, 9), on(2, 4, 9))).toBe(true);
    expect(share(on(7), on(7))).toBe(true);
  });

  it('share nothing where none is in both', () => {
    expect(share(on(1, 3, 5), on(2, 4, 6))).toBe(false);
    expect(share(on(1), on(2))).toBe(false);
    expect(share(on(2), on(1))).toBe(false);
    expect(share(on(1), noTargets)).toBe(false);
    expect(share(noTargets, noTargets)).toBe(false);
  });

  it('share if one is everything and the other is not nothing', () => {
    expect([share('ALL', 'ALL'), share('ALL', on(1)), share(on(1), 'ALL')]).toEqual([true, true, true]);
    expect([share('ALL', noTargets), share(noTargets, 'ALL')]).toEqual([false, false]);
  });
});

/** For each place in a line what it depends on, transitively. */
const closed = (mode: 'single' | 'parallel', ...line: (readonly Targets[])[]) => new Lanes(mode, line).closed;

describe('a single line', () => {
  it('makes everybody depend on everybody ahead, whatever they impact', () => {
    expect(closed('single', [on(1)], [on(2)], [noTargets])).toEqual([[], [0], [0, 1]]);
  });
});

describe('lanes', () => {
  it('make dependent who shares a target, also by way of another', () => {
    expect(closed('parallel', [on(1)], [on(2)], [on(1, 3)], [on(3)], [on(2)])).toEqual([
      [],
      [],
      [0],
      [0, 2],
      [1],
    ]);
  });

  it('look at the targets of every member of a group', () => {
    expect(closed('parallel', [on(1), on(2)], [on(3)], [noTargets, on(2)], [on(3), on(1)])).toEqual([
      [],
      [],
      [0],
      [0, 1],
    ]);
  });

  it('have everybody who impacts something behind one that impacts everything, and that one behind them', () => {
    expect(closed('parallel', [on(1)], [on(2)], ['ALL'], [on(3)], ['ALL'], [on(1)])).toEqual([
      [],
      [],
      [0, 1],
      [0, 1, 2],
      [0, 1, 2, 3],
      [0, 1, 2, 3, 4],
    ]);
  });

  it('count a group as impacting everything if one of it does', () => {
    expect(closed('parallel', [on(1)], [on(2), 'ALL'], [on(3)])).toEqual([[], [0], [0, 1]]);
  });

  it('let what impacts nothing pass everybody, even what impacts everything', () => {
    expect(closed('parallel', ['ALL'], [noTargets], ['ALL'], [on(1)])).toEqual([[], [], [0], [0, 2]]);
  });

  it('hold targets of any number', () => {
    const large = 5_000_000;
    expect(
      closed('parallel', [on(1_023)], [on(1_024)], [on(large)], [on(1_023, large)], [on(1_024)]),
    ).toEqual([[], [], [], [0, 2], [1]]);
    expect(closed('parallel', [on(1)], [on(2_000)], [on(5_000)], [on(1, 2_000, 5_000)])).toEqual([
      [],
      [],
      [],
      [0, 1, 2],
    ]);
  });

  it('reach over more than a machine word of places', () => {
    const line = Array.from({ length: 70 }, (_, index) => [on(index % 2)]);
    const lanes = closed('parallel', ...line, [on(0, 1)]);
    expect(lanes[69]).toEqual(Array.from({ length: 34 }, (_, index) => 2 * index + 1));
    expect(lanes[70]).toEqual(Array.from({ length: 70 }, (_, index) => index));
    expect(closed('single', ...line).at(-1)).toHaveLength(69);
  });

  it('grow at their end', () => {
    const lanes = new Lanes('parallel', [[on(1)]]);
    expect(lanes.append([on(1)])).toEqual([0]);
    expect(lanes.append([on(2)])).toEqual([]);
    expect(lanes.append([on(1, 2)])).toEqual([0, 1, 2]);
    expect(lanes.closed).toHaveLength(4);
  });
});

describe('a walk along a line', () => {
  it('names only the last ahead of it in a single line', () => {
    const walk = new LaneWalk('single');
    expect(walk.dependencies([on(1)])).toEqual([]);
    walk.add(0, [on(1)]);
    walk.add(4, [on(2)]);
    expect(walk.dependencies([on(1)])).toEqual([4]);
  });

  it('names the last holder of each target, once, and does not take anybody in by asking', () => {
    const walk = new LaneWalk('parallel');
    walk.add(0, [on(1)]);
    walk.add(1, [on(1, 2)]);
    expect(walk.dependencies([on(1, 2)])).toEqual([1]);
    expect(walk.dependencies([on(1, 2)])).toEqual([1]);
    expect(walk.dependencies([on(3)])).toEqual([]);
  });

  it('names what impacts everything, and of what stood before it nothing', () => {
    const walk = new LaneWalk('parallel');
    walk.add(0, [on(1)]);
    walk.add(1, ['ALL']);
    expect(walk.dependencies([on(1)])).toEqual([1]);
    expect(walk.dependencies([on(9)])).toEqual([1]);
    expect(walk.dependencies([noTargets])).toEqual([]);
    walk.add(2, [on(1)]);
    expect(walk.dependencies([on(1)])).toEqual([1, 2]);
    expect(walk.dependencies(['ALL'])).toEqual([1, 2]);
    walk.add(3, ['ALL']);
    expect(walk.dependencies(['ALL'])).toEqual([3]);
  });
});

describe('direct lanes', () => {
  const direct = (...line: (readonly Targets[])[]) => new DirectLanes(line).closed;

  it('make dependent who shares a target, and not by way of another', () => {
    expect(direct([on(1)], [on(2)], [on(1, 3)], [on(3)], [on(2)])).toEqual([[], [], [0], [2], [1]]);
  });

  it('find every earlier holder of a target, not only the last', () => {
    expect(direct([on(1)], [on(1)], [on(1)])).toEqual([[], [0], [0, 1]]);
    expect(direct([on(1)], [on(1, 2)], [on(2)], [on(1, 2)])).toEqual([[], [0], [1], [0, 1, 2]]);
  });

  it('make everything depend on who holds everything, and that on everything with targets', () => {
    expect(direct([on(1)], [noTargets], ['ALL'], [on(1)], [noTargets], ['ALL'], [on(2)])).toEqual([
      [],
      [],
      [0],
      [0, 2],
      [],
      [0, 2, 3],
      [2, 5],
    ]);
  });

  it('are those that share, pair by pair, whatever the targets are', () => {
    const random = createRandom(5);
    const some = (): Targets => {
      const kind = random();
      if (kind < 0.1) return 'ALL';
      if (kind < 0.2) return noTargets;
      const list = Array.from({ length: 1 + Math.floor(random() * 3) }, () => Math.floor(random() * 12));
      return Uint32Array.from([...new Set(list)].toSorted((a, b) => a - b));
    };
    const line = Array.from({ length: 120 }, () => [some(), ...(random() < 0.2 ? [some()] : [])]);
    const expected = line.map((own, index) =>
      line
        .slice(0, index)
        .flatMap((earlier, at) =>
          own.some((one) => earlier.some((other) => share(one, other))) ? [at] : [],
        ),
    );
    expect(direct(...line)).toEqual(expected);
  });
});

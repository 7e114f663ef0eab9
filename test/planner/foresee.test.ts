// Speculation on failure paths: what it believes, which paths it considers, and which runs it starts.
import { describe, expect, it } from 'vitest';
import { estimateLandings } from '#core/queue/planner/strategy/belief.ts';
import { likeliestPaths } from '#core/queue/planner/strategy/path.ts';
import type { Item, Run } from '#core/queue/planner/model.ts';
import { conflictOdds } from '#core/queue/planner/innocence.ts';
import { minuteMs } from '#base/duration.ts';
import { foreseeing, on, proposeFor } from './foreseen.ts';

/** Beliefs about #1, #2 and #3, which share a target, after these runs: `['1+2', 'failed']` has #2 on top of #1. */
function believe(
  runs: readonly (readonly [members: string, status: Run['status'], rest?: Partial<Run>])[],
  known: Readonly<Record<number, Partial<Item>>> = {},
): number[] {
  const prs = [1, 2, 3];
  const world = foreseeing();
  for (const pr of prs) world.submit(pr, on(1));
  const [any] = world.snapshot.runs.values();
  const items = new Map(world.snapshot.items);
  for (const pr of prs) items.set(pr, { ...items.get(pr)!, ...known[pr] });
  const lands = estimateLandings({
    line: prs.map((pr) => ({ id: pr, members: [pr] })),
    items,
    soundOdds: 0.9,
    flakeOdds: 0.005,
    runs: prs.map((pr) =>
      runs.flatMap(([members, status, rest]) => {
        const list = members.split('+').map(Number);
        return list.at(-1) === pr
          ? [{ ...any!, status, composition: { base: 'T', members: list, tested: 1 }, ...rest }]
          : [];
      }),
    ),
    dependencies: [[], [0], [0, 1]],
    indexes: new Map(prs.map((pr, index) => [pr, index])),
  });
  return [...lands];
}

describe('a belief', () => {
  it('is the usual share without any run, a little less where an entry ahead may break with it', () => {
    const [first, second, third] = believe([]);
    expect(first).toBeCloseTo(0.9);
    expect(second).toBeCloseTo(0.9 * (1 - 0.04 * 0.9));
    expect(third).toBeLessThan(second!);
  });

  it('is near to certain after a run that passed, whatever that assumed', () => {
    expect(believe([['1', 'passed']])[0]).toBeGreaterThan(0.999);
    expect(believe([['1+2', 'passed']])[1]).toBeGreaterThan(0.999);
    expect(believe([['2', 'passed']])[1]).toBeCloseTo(1 - 0.04 * 0.9);
  });

  it('falls after a failed run, the less the more the entries that it assumed explain', () => {
    const alone = believe([['1', 'failed']])[0]!;
    const behindGood = believe([
      ['1', 'passed'],
      ['1+2', 'failed'],
    ])[1]!;
    const behindUnknown = believe([['1+2', 'failed']])[1]!;
    expect(alone).toBeLessThan(0.05);
    expect(behindGood).toBeLessThan(0.15);
    expect(behindUnknown).toBeGreaterThan(behindGood);
    expect(behindUnknown).toBeLessThan(0.9);
  });

  it('is what Bayes says of two failures behind each other', () => {
    const [conflict, flake, spill, prior] = [0.04, 0.005, 0.7, 0.9];
    // The run of #2 on top of #1 failed: because of #2, of a flake, or of #1 if it is bad.
    const ifSound = 1 - prior * (1 - flake);
    const accusation = (spill + (1 - spill) * ifSound) / ifSound;
    const first = prior / (prior + (1 - prior) * accusation);
    const before = prior * (1 - conflict * first);
    const red = 1 - (1 - flake) * (1 - spill * (1 - first));
    const second = (before * red) / (before * red + 1 - before);
    const [one, two, three] = believe([['1+2', 'failed']]);
    expect(one).toBeCloseTo(first, 9);
    expect(two).toBeCloseTo(second, 9);
    expect(three).toBeCloseTo(prior * (1 - conflict * first) * (1 - conflict * second), 9);
  });

  it('accuses each entry of a failed run by what the others leave unexplained', () => {
    const [conflict, flake, spill, prior] = [0.04, 0.005, 0.7, 0.9];
    const clean = prior * (1 - flake) * (1 - spill * (1 - prior));
    const accusation = (spill + (1 - spill) * (1 - clean)) / (1 - clean);
    const first = prior / (prior + (1 - prior) * accusation);
    const before = prior * (1 - conflict * first);
    const second = before / (before + (1 - before) * accusation);
    const sound = prior * (1 - conflict * first) * (1 - conflict * second);
    const red = 1 - (1 - flake) * (1 - spill * (1 - first)) * (1 - spill * (1 - second));
    const third = (sound * red) / (sound * red + 1 - sound);
    const [one, two, three] = believe([['1+2+3', 'failed']]);
    expect([one, two].map((each) => each!.toFixed(9))).toEqual([first.toFixed(9), second.toFixed(9)]);
    expect(three).toBeCloseTo(third, 9);
    // One that has passed is not accused.
    const [passed] = believe([
      ['1', 'passed'],
      ['1+2', 'failed'],
    ]);
    expect(passed).toBe(1 - 1e-6);
  });

  it('falls if an entry behind fails, most if that entry passed without it', () => {
    const [unknown] = believe([]);
    const [accused] = believe([['1+2', 'failed']]);
    const [convicted] = believe([
      ['1+2', 'failed'],
      ['2', 'passed'],
    ]);
    expect(accused).toBeLessThan(unknown!);
    expect(convicted).toBeLessThan(accused!);
  });

  it('remembers what dropped runs showed', () => {
    const failed = { passed: false, passedWith: [], failedBehind: [[1]] };
    expect(believe([], { 3: { findings: failed } })[0]).toBeLessThan(0.9);
    const passed = { passed: true, passedWith: [1, 2], failedBehind: [] };
    expect(believe([], { 3: { findings: passed } })[2]).toBeGreaterThan(0.999);
  });

  it('is not changed by a run that could not start, nor by one that failed for want of a result', () => {
    expect(believe([['1', 'infrastructure']])).toEqual(believe([]));
    expect(believe([['1', 'failed', { why: 'TEST_RUN_TIMEOUT' }]])).toEqual(believe([]));
  });

  it('is what was predicted of the entry, where something was', () => {
    expect(believe([], { 1: { odds: 0.4 } })[0]).toBeCloseTo(0.4);
  });

  it('is less the more entries landed that its runs did not contain', () => {
    const passed = { passed: true, passedWith: [1], failedBehind: [], untestedLandings: 4 };
    const [, second, third] = believe([], { 3: { findings: passed } });
    // It may break with #2, which none of its runs contained, and with the four that landed.
    const conflict = conflictOdds(0.2, 2 + 4);
    expect(third).toBeCloseTo((1 - conflict) ** 4 * (1 - conflict * second!), 9);
    expect(conflict).toBeCloseTo(0.2 / 6);
  });

  it('takes an entry that passed for sound, although landings came between', () => {
    const passed = { passed: true, passedWith: [], failedBehind: [], untestedLandings: 4 };
    const known = { 1: { findings: passed } };
    expect(believe([['1+2', 'failed']], known)[0]).toBeCloseTo(believe([], known)[0]!, 9);
  });

  it('explains a failure by entries that are still ahead, not by others that the run contained', () => {
    const [conflict, flake] = [0.04, 0.005];
    for (const members of ['3+2', '99+2']) {
      const [first, second] = believe([[members, 'failed']]);
      const before = 0.9 * (1 - conflict * first!);
      expect(first).toBeCloseTo(0.9);
      expect(second).toBeCloseTo((before * flake) / (before * flake + 1 - before), 9);
    }
  });
});

describe('paths', () => {
  const paths = (...lands: number[]) =>
    likeliestPaths(
      lands.map((_, index) => index),
      Float64Array.from(lands),
    );

  it('are one if nothing is ahead', () => {
    expect(paths()).toEqual([{ landing: [], odds: 1 }]);
  });

  it('come in the order of their odds, none twice', () => {
    const found = paths(0.9, 0.2, 0.7);
    expect(found.map(({ landing }) => landing)).toEqual([[0, 2], [0], [0, 1, 2], [2], [0, 1], []]);
    expect(found[0]!.odds).toBeCloseTo(0.9 * 0.8 * 0.7);
    expect(found[1]!.odds).toBeCloseTo(0.9 * 0.8 * 0.3);
    expect(found[4]!.odds).toBeCloseTo(0.9 * 0.2 * 0.3);
  });

  it('are six at most', () => {
    expect(paths(0.5, 0.5, 0.5)).toHaveLength(6);
  });

  it('leave out what is improbable, except the likeliest', () => {
    expect(paths(0.999, 0.999).map(({ landing }) => landing)).toEqual([[0, 1]]);
    const many = paths(...Array.from({ length: 40 }, () => 0.55));
    expect(many).toHaveLength(1);
    expect(many[0]!.landing).toHaveLength(40);
  });
});

describe('a run', () => {
  it('starts at once for an entry that depends on nothing, and for the likeliest path', () => {
    const world = foreseeing();
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.submit(3, on(2));
    expect(world.active()).toEqual(['1', '1+2', '3']);
  });

  it('starts on the failure path once a failure behind an entry makes that path probable', () => {
    const world = foreseeing();
    world.submit(1, on(1));
    world.now += 10 * minuteMs;
    world.submit(2, on(1));
    world.fail('1+2');
    expect(world.active()).toEqual(['1', '2']);
    world.pass('2');
    world.fail('1');
    expect(world.merged()).toEqual([2]);
  });

  it('is not started in a paused queue, nor over the budget', () => {
    const world = foreseeing({ concurrency: 2 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr, on(pr));
    expect(world.active()).toEqual(['1', '2']);
    expect(world.snapshot.line).toHaveLength(2);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1');
    expect(world.active()).toEqual(['2']);
  });

  it('is not proposed for a path that has one', () => {
    expect(proposeFor([[], [0]])).toEqual({
      started: ['1 without none', '2 without none'],
      wakeInMinutes: null,
    });
    expect(proposeFor([[], [0]], { running: [[[0], 5]] }).started).toEqual(['2 without none']);
    const both = [
      [[0], 5],
      [[0, 1], 5],
    ] as const;
    expect(proposeFor([[], [0]], { running: both }).started).toEqual([]);
  });

  it('bets against an entry ahead that fails often, and only then', () => {
    const running = [[[0], 5]] as const;
    expect(proposeFor([[], [0]], { running, failureShare: 0.02 }).started).toEqual(['2 without none']);
    expect(proposeFor([[], [0]], { running, failureShare: 0.5 }).started).toEqual([
      '2 without none',
      '2 without 1',
    ]);
  });

  it('bets less often where CI minutes matter more than time', () => {
    const asked = { running: [[[0], 5]], failureShare: 0.15 } as const;
    expect(proposeFor([[], [0]], asked).started).toEqual(['2 without none', '2 without 1']);
    expect(proposeFor([[], [0]], { ...asked, weight: 'ci_minutes' }).started).toEqual(['2 without none']);
  });

  it('goes first to an entry that has waited for hours, and to one of a higher priority', () => {
    const start = (old: object) => {
      const world = foreseeing({ concurrency: 1 });
      world.snapshot = { ...world.snapshot, state: 'PAUSED' };
      world.submit(1, { ...on(1), ...old });
      for (const pr of [2, 3]) world.submit(pr, on(2));
      world.now = 5 * 60 * minuteMs;
      for (const [pr, item] of world.snapshot.items)
        if (pr !== 1)
          (world.snapshot.items as Map<number, Item>).set(pr, { ...item, submittedAt: world.now });
      world.send({ kind: 'state', state: 'RUNNING' });
      return world.active();
    };
    expect(start({ submittedAt: 0 })).toEqual(['1']);
    expect(start({ submittedAt: 5 * 60 * minuteMs })).toEqual(['2']);
    expect(start({ submittedAt: 5 * 60 * minuteMs, priority: 10 })).toEqual(['1']);
  });

  it('goes first where most entries wait, if there are too few slots', () => {
    // #1 and #2 depend on nothing, and three others wait for #2.
    const waiting = [[], [], [1], [1], [1]];
    expect(proposeFor(waiting, { free: 1 }).started).toEqual(['2 without none']);
    expect(proposeFor(waiting, { free: 2 }).started).toEqual(['2 without none', '1 without none']);
    expect(proposeFor(waiting, { free: 0 }).started).toEqual([]);
    // With enough slots they start in the order of the line.
    expect(proposeFor(waiting, { free: 5 }).started.map((each) => each[0])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
  });
});

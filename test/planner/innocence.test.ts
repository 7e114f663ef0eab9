// How many failed runs remove an entry, if dependencies are direct.
import { describe, expect, it } from 'vitest';
import {
  areConvincing,
  areTestFailuresConvincing,
  conflictOdds,
  isConvincing,
} from '#core/queue/planner/innocence.ts';
import type { Item, Run } from '#core/queue/planner/model.ts';
import { foresee } from '#core/queue/planner/strategy/foresee.ts';
import { World } from './world.ts';

const on = (...targets: number[]) => ({ targets: Uint32Array.from(targets) });

function laned(known: { readonly failureShare: number; readonly flakeShare: number }): World {
  const world = new World({ mode: 'parallel', concurrency: 4, testingTimeoutMinutes: 0 });
  world.strategy = foresee;
  world.snapshot = { ...world.snapshot, ...known };
  return world;
}

const started = () => {
  const world = laned({ failureShare: 0.05, flakeShare: 0.01 });
  world.submit(1, on(1));
  return { item: world.snapshot.items.get(1)!, run: world.run('1') };
};

describe('a failed run on the branch', () => {
  const isEnough = (flakeShare: number, item: Partial<Item> = {}, run: Partial<Run> = {}) => {
    const known = started();
    return isConvincing(
      { failureShare: 0.05, flakeShare },
      { ...known.item, ...item },
      { ...known.run, ...run },
    );
  };

  it('convinces where hardly any run fails by chance', () => {
    // 0.95 * f / (0.95 * f + 0.05) is below 1 % up to f = 0.00053.
    expect(isEnough(0.0005)).toBe(true);
    expect(isEnough(0.0006)).toBe(false);
  });

  it('convinces neither more nor less if it was predicted, from earlier attempts, that it fails', () => {
    for (const odds of [0, 0.2, 0.99, 1]) {
      expect(isEnough(0.0005, { odds })).toBe(true);
      expect(isEnough(0.0006, { odds })).toBe(false);
    }
  });

  it('convinces the less if the entry passed before, and the more if others landed since', () => {
    const findings = { passed: true, passedWith: [], failedBehind: [] };
    expect(isEnough(0.0005, { findings })).toBe(false);
    expect(isEnough(0.0005, { findings: { ...findings, untestedLandings: 1 } })).toBe(false);
    expect(isEnough(0.0005, { findings: { ...findings, untestedLandings: 2 } })).toBe(true);
  });

  it('does not convince if its base was never the branch, and less if an entry is missing in it', () => {
    expect(isEnough(0, {}, { overtaken: true })).toBe(false);
    expect(isEnough(0.0005, {}, { isDirectOnly: true })).toBe(false);
  });
});

it('a second failed run convinces, unless chance fails many runs; a fourth always does', () => {
  const { item } = started();
  const after = (failures: number, flakeShare: number) =>
    areConvincing({ failureShare: 0.05, flakeShare }, item, failures);
  expect([1, 2].map((failures) => after(failures, 0.01))).toEqual([false, true]);
  expect([2, 3].map((failures) => after(failures, 0.05))).toEqual([false, true]);
  expect([3, 4].map((failures) => after(failures, 0.9))).toEqual([false, true]);
});

describe('an entry that fails in the line', () => {
  /** One entry, whose tests have failed once, of a queue where chance fails many runs. */
  function doubtful(): ReturnType<typeof laned> {
    const world = laned({ failureShare: 0.05, flakeShare: 0.05 });
    world.submit(1, on(1));
    world.fail('1');
    return world;
  }

  it('is removed at once if that is convincing', () => {
    const world = laned({ failureShare: 0.3, flakeShare: 0.001 });
    world.submit(1, on(1));
    world.fail('1');
    expect(world.state(1)).toBe('failed');
  });

  it('is tested again until its failures are', () => {
    const world = doubtful();
    expect(world.place(1)?.kind).toBe('search');
    world.fail('1');
    expect(world.place(1)?.kind).toBe('search');
    world.fail('1');
    expect(world.state(1)).toBe('failed');
  });

  it('lands if it passes then', () => {
    const world = doubtful();
    world.pass('1');
    expect(world.merged()).toEqual([1]);
  });
});

describe('what landed untested with an entry', () => {
  it('is what landed without being in a run that it passed', () => {
    const world = laned({ failureShare: 0.05, flakeShare: 0.01 });
    for (const pr of [1, 2]) world.submit(pr, on(1));
    world.pass('1');
    expect(world.merged()).toEqual([1]);
    expect(world.snapshot.items.get(2)?.findings?.untestedLandings).toBe(1);
  });

  it('is nothing new if it passed together with it, and nothing at all once it passes on the branch', () => {
    const world = laned({ failureShare: 0.05, flakeShare: 0.01 });
    for (const pr of [1, 2]) world.submit(pr, on(1));
    world.submit(3, on(2));
    world.pass('1+2');
    expect(world.snapshot.items.get(2)?.findings?.untestedLandings ?? 0).toBe(0);
    world.pass('1');
    expect(world.merged()).toEqual([1, 2]);
  });
});

it('a run that ended says how long the next one of the entry takes', () => {
  const world = laned({ failureShare: 0.05, flakeShare: 0.01 });
  for (const pr of [1, 2]) world.submit(pr, on(1));
  world.now += 7_000;
  world.fail('1+2');
  expect(world.snapshot.items.get(2)?.expectedMs).toBe(7_000);
});

describe('a conflict between two entries', () => {
  it('is never likelier than 4 %, and all conflicts together never likelier than a failure', () => {
    expect(conflictOdds(0.1, 0)).toBe(0.04);
    expect(conflictOdds(0.02, 1)).toBe(0.02);
    expect(conflictOdds(0.1, 5)).toBeCloseTo(0.02);
  });

  it('may explain the failure of an entry that passed before, where chance hardly ever does', () => {
    const { item, run } = started();
    const passed = { ...item, findings: { passed: true, passedWith: [], failedBehind: [] } };
    // 0.96 * f / (0.96 * f + 0.04) is below 1 % up to f = 0.00042.
    expect(isConvincing({ failureShare: 0.05, flakeShare: 0.0004 }, passed, run)).toBe(true);
    expect(isConvincing({ failureShare: 0.05, flakeShare: 0.0005 }, passed, run)).toBe(false);
  });
});

describe('failures of one test', () => {
  const areEnough = (flakeShare: number, failures: number) =>
    areTestFailuresConvincing({ failureShare: 0.05, flakeShare }, started().item, failures);

  it('repeat by chance one time in five, so that more of them are needed', () => {
    // 0.95 * f * 0.2 ** (n - 1) against 0.05.
    expect([1, 2].map((failures) => areEnough(0.002, failures))).toEqual([false, true]);
    expect([1, 2, 3].map((failures) => areEnough(0.02, failures))).toEqual([false, false, false]);
    expect(areEnough(0.0005, 1)).toBe(true);
  });

  it('convince when there are four', () => {
    expect([3, 4, 5].map((failures) => areEnough(0.5, failures))).toEqual([false, true, true]);
  });
});

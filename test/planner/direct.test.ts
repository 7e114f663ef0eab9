// The rules of the planner for a strategy whose dependencies are direct.
import { describe, expect, it } from 'vitest';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import type { Run, Snapshot } from '#core/queue/planner/model.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { prefixTrain } from '#core/queue/planner/strategy/prefix-train.ts';
import type { Proposal, Strategy } from '#core/queue/planner/strategy.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { take } from './reading.ts';
import { World } from './world.ts';

const on = (...targets: number[]) => ({ targets: Uint32Array.from(targets) });

/** Starts the runs of this list as soon as their groups are in the line: `[2, 1]` is #2 as if #1 had left. */
function betting(...bets: (readonly [pr: number, ...without: number[]])[]): Strategy {
  return {
    screens: false,
    hasDirectDependencies: true,
    propose: ({ queue }) => {
      const proposals: Proposal[] = [];
      for (const [pr, ...without] of bets) {
        const group = queue.line.find(({ members }) => members[0] === pr);
        if (group !== undefined) proposals.push({ group: group.id, without });
      }
      return { proposals, wakeAt: null };
    },
  };
}

function laned(strategy: Strategy, settings: Partial<QueueSettings> = {}): World {
  const world = new World({ mode: 'parallel', concurrency: 4, ...settings });
  world.strategy = strategy;
  return world;
}

/** #1 and #2 share a target, #2 and #3 share another; each is tested on top of what it depends on. */
function chain(...bets: (readonly [pr: number, ...without: number[]])[]): World {
  const world = laned(betting([1], [2], [3], ...bets));
  world.submit(1, on(1));
  world.submit(2, on(1, 2));
  world.submit(3, on(2));
  return world;
}

const findings = (world: World, pr: number) => world.snapshot.items.get(pr)?.findings;

describe('direct dependencies', () => {
  it('are tested together, and what they depend on is not', () => {
    expect(chain().active()).toEqual(['1', '1+2', '2+3']);
  });

  it('keep a run when an entry lands that shares only with one that it assumes', () => {
    const world = chain();
    const { id } = world.run('2+3');
    world.pass('1');
    expect(world.merged()).toEqual([1]);
    expect(world.snapshot.runs.get(id)).toMatchObject({
      drifted: true,
      isDirectOnly: true,
      status: 'starting',
    });
    world.pass('2+3');
    world.pass('2');
    expect(world.merged()).toEqual([1, 2, 3]);
  });

  it('end a run when an entry lands that shares with its group and is not in it', () => {
    const world = laned(betting([1], [2, 1]));
    world.submit(1, on(1));
    world.submit(2, on(1));
    expect(world.active()).toEqual(['1', '2']);
    world.pass('2');
    world.pass('1');
    expect(world.merged()).toEqual([1]);
    expect(world.active()).toEqual([]);
    expect(world.state(2)).toBe('pending');
  });

  it('mean nothing in single mode', () => {
    const world = new World({ concurrency: 3 });
    world.strategy = { ...prefixTrain, hasDirectDependencies: true };
    for (const pr of [1, 2, 3]) world.submit(pr, on(pr));
    expect(world.active()).toEqual(['1', '1+2', '1+2+3']);
  });

  it('void a run for a strategy that needs all that an entry depends on', () => {
    const world = chain();
    world.pass('1');
    const { snapshot } = plan(world.snapshot, 0, prefixTrain);
    expect([...snapshot.runs.values()].map(({ composition }) => composition.members)).toEqual([[2], [2, 3]]);
    expect([...snapshot.runs.values()].every(({ isDirectOnly }) => isDirectOnly !== true)).toBe(true);
  });
});

describe('an entry in the line', () => {
  it('keeps its position without a run if a run is on top of it', () => {
    const world = laned(betting([2]));
    world.submit(1, on(1));
    expect(world.place(1)?.kind).toBe('pending');
    world.submit(2, on(1));
    expect(world.active()).toEqual(['1+2']);
    expect(world.place(1)).toMatchObject({ kind: 'line', shown: 'pending' });
    expect(findViolations(world.snapshot)).toEqual([]);
  });

  it('is pending like any other, and takes no number, while no run needs its position', () => {
    const world = laned(betting());
    world.submit(1, on(1));
    const { nextId } = world.snapshot;
    world.submit(2, on(1));
    expect(world.snapshot.line).toEqual([]);
    expect(world.snapshot.nextId).toBe(nextId);
  });

  it('keeps its position when an entry that its only run assumes leaves', () => {
    const world = laned(betting([1], [2], [3]));
    for (const pr of [1, 2, 3]) world.submit(pr, on(pr === 3 ? 2 : 1, 2));
    world.strategy = betting();
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(world.snapshot.line.map(({ members }) => members)).toEqual([[2], [3]]);
    expect([2, 3].map((pr) => world.place(pr))).toMatchObject([{ shown: 'pending' }, { shown: 'pending' }]);
    expect(world.facts.slice(-2)).toMatchObject([
      { kind: 'queued', pr: 2, reason: 'PREREQUISITE_MERGE_ITEM_CANCELLED' },
      { kind: 'queued', pr: 3, reason: 'PREREQUISITE_MERGE_ITEM_CANCELLED' },
    ]);
  });

  it('is shown as under test again with its next run', () => {
    const world = laned(betting([1], [2]));
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(world.active()).toEqual(['2']);
    expect(world.facts.at(-1)).toMatchObject({ kind: 'testing', pr: 2 });
    expect(world.state(2)).toBe('testing');
  });

  it('has as many runs as paths are bet on, each kept while its path can happen', () => {
    const world = laned(betting([1], [2], [2, 1]));
    world.submit(1, on(1));
    world.submit(2, on(1));
    expect(world.active()).toEqual(['1', '1+2', '2']);
    world.pass('2');
    expect(world.merged()).toEqual([]);
    world.fail('1');
    // #1 stands aside, so that #2 lands by the run without it.
    expect(world.merged()).toEqual([2]);
  });

  it('does not land by a run that contains it, even with optimistic merging', () => {
    const world = laned(betting([1], [2]), { canOptimisticallyMerge: true });
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.pass('1+2');
    expect(world.merged()).toEqual([]);
    world.pass('1');
    expect(world.merged()).toEqual([1, 2]);
  });
});

describe('an entry that fails in the line', () => {
  function failed(): World {
    const world = laned(betting([1], [2]));
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.fail('1');
    return world;
  }

  it('stands aside and is tested alone, while those behind it continue without it', () => {
    const world = failed();
    expect(world.active('search')).toEqual(['1']);
    expect(world.active()).toEqual(['2']);
  });

  it('is removed if it fails alone too', () => {
    const world = failed();
    world.send({ kind: 'run-failed', run: runOfSearch(world).id });
    expect(world.outcome(1)).toBe('failed');
    expect(world.facts.findLast(({ kind }) => kind === 'failed')).toMatchObject({ pr: 1 });
  });

  it('is back, behind the others, if it passes alone', () => {
    const world = failed();
    world.send({ kind: 'run-passed', run: runOfSearch(world).id });
    expect(world.outcome(1)).toBeUndefined();
    expect(findings(world, 1)).toEqual({ passed: true, passedWith: [], failedBehind: [] });
    world.pass('2');
    world.pass('1');
    expect(world.merged()).toEqual([2, 1]);
  });

  it('lands at once if it passes alone and nothing that shares with it is in the line', () => {
    const world = laned(betting([1]));
    world.submit(1, on(1));
    world.fail('1');
    world.send({ kind: 'run-passed', run: runOfSearch(world).id });
    expect(world.merged()).toEqual([1]);
  });

  it('waits for a slot: all runs share one budget', () => {
    const world = laned(betting([1], [2]), { concurrency: 1, bisectionConcurrency: 5 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.fail('1');
    expect([world.active('search'), world.active()]).toEqual([['1'], []]);
  });
});

const runOfSearch = ({ snapshot }: World): Run =>
  [...snapshot.runs.values()].find(({ of }) => of.kind === 'search')!;

describe('findings about an entry', () => {
  it('outlive the runs that showed them', () => {
    const world = chain();
    world.pass('1+2');
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(findings(world, 2)).toEqual({ passed: true, passedWith: [], failedBehind: [] });
  });

  it('hold a failure until one of the entries that the run assumed has failed', () => {
    const world = laned(betting([1], [2], [3]));
    for (const pr of [1, 2, 3]) world.submit(pr, on(1));
    world.fail('1+2+3');
    world.send({ kind: 'ended', pr: 2, reason: 'USER_REQUESTED' });
    expect(findings(world, 3)).toEqual({ passed: false, passedWith: [], failedBehind: [[1, 2]] });
    world.fail('1');
    world.send({ kind: 'run-failed', run: runOfSearch(world).id });
    expect(findings(world, 3)?.failedBehind).toEqual([]);
  });

  it('are not kept where dependencies are not direct', () => {
    const world = new World({ mode: 'parallel', concurrency: 2 });
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.pass('1+2');
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(findings(world, 2)).toBeUndefined();
  });
});

describe('the invariants', () => {
  const withShown = (snapshot: Snapshot, pr: number, shown: 'pending' | 'testing'): Snapshot => {
    const item = snapshot.items.get(pr)!;
    const place = { ...item.place, shown } as typeof item.place;
    return { ...snapshot, items: new Map(snapshot.items).set(pr, { ...item, place }) };
  };

  it('notice a group under test without a run, and one with a run that is shown as pending', () => {
    const world = chain();
    const { id } = world.snapshot.line[1]!;
    expect(findViolations(withShown(world.snapshot, 2, 'pending'))).toEqual([
      `group ${id} is shown as pending and has a run`,
    ]);
    const runs = new Map([...world.snapshot.runs].filter(([, run]) => run.composition.members.at(-1) !== 2));
    expect(findViolations({ ...world.snapshot, runs })).toContain(`group ${id} is in the line without a run`);
  });

  it('notice an entry that is removed for a failure in the line', () => {
    const world = laned(betting([1]));
    world.submit(1, on(1));
    const run: Run = { ...world.run('1'), status: 'failed' };
    const before = { ...world.snapshot, runs: new Map([[run.id, run]]) };
    const step = plan(before, 0, prefixTrain);
    expect(violationsOfStep(before, step, prefixTrain)).toEqual([]);
    expect(violationsOfStep(before, step, betting())).toEqual([
      `#1 failed by run ${run.id} of the line, and was not tested alone`,
    ]);
  });

  it('notice an entry that is removed for runs that chance may have failed', () => {
    const world = laned(betting([1]));
    world.submit(1, on(1));
    world.fail('1');
    const { snapshot } = take(
      world.snapshot,
      { kind: 'run-failed', run: runOfSearch(world).id },
      0,
      betting(),
    );
    const step = plan(snapshot, 0, betting());
    expect(step.facts).toMatchObject([{ kind: 'failed', pr: 1 }]);
    expect(violationsOfStep(snapshot, step, betting())).toEqual([]);
    expect(violationsOfStep({ ...snapshot, flakeShare: 0.3 }, step, betting())).toEqual([
      '#1 failed by 2 runs, which may have failed by chance',
    ]);
  });
});

it('a restart runs the shown run again, the one with the most entries ahead, and leaves the bets alone', () => {
  const world = laned(betting([1], [2], [2, 1]));
  for (const pr of [1, 2]) world.submit(pr, on(1));
  const bet = world.run('2').id;
  world.fail('1+2');
  world.send({ kind: 'restart', pr: 2 });
  expect(world.snapshot.runs.get(bet)?.status).toBe('starting');
  expect(world.active()).toEqual(expect.arrayContaining(['1', '1+2', '2']));
});

it('puts no more entries with millions of targets into the line at once than it has slots for', () => {
  const paused = laned(betting([3], [4]), { concurrency: 2 });
  paused.send({ kind: 'state', state: 'PAUSED' });
  for (const pr of [1, 2, 3, 4, 5])
    paused.submit(pr, {
      targets: Uint32Array.from({ length: 1_000_000 }, (_, index) => pr * 1_000_000 + index),
    });
  const { snapshot } = plan({ ...paused.snapshot, state: 'RUNNING' }, 0, paused.strategy);
  expect(snapshot.line.map(({ members }) => members)).toEqual([[1], [2], [3]]);
});

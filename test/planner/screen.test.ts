import { describe, expect, it } from 'vitest';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import type { PlannerFact, Run, Snapshot } from '#core/queue/planner/model.ts';
import { plan } from '#core/queue/planner/plan.ts';
import type { Proposal, Strategy } from '#core/queue/planner/strategy.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { screenByTwos } from './screening.ts';
import { World } from './world.ts';

/** Screens by twos; what passed is one group of the line. */
function screening(settings: Partial<QueueSettings>, ...prs: number[]): World {
  const world = new World({ concurrency: 4, ...settings });
  world.strategy = screenByTwos;
  world.send({ kind: 'state', state: 'DRAINING' });
  for (const pr of prs) world.submit(pr);
  world.send({ kind: 'state', state: 'RUNNING' });
  return world;
}

const screenOf = (world: World, pr: number) => world.snapshot.items.get(pr)?.screen;

/** A push to the branch: entries that were screened before need a run in the line to land. */
const moveBranch = (world: World) => world.send({ kind: 'branch-moved', tip: `${world.snapshot.tip}x` });

/** Entries that passed a screen on the branch as it was, under test as one group. */
function chained(settings: Partial<QueueSettings>, ...prs: number[]): World {
  const world = screening(settings, ...prs);
  moveBranch(world);
  for (const run of world.active('search')) world.pass(run);
  return world;
}

describe('a screen', () => {
  it('tests its entries alone on the branch, whatever is in the line', () => {
    const world = screening({}, 1, 2, 3);
    expect(world.active('search')).toEqual(['1+2', '3']);
    expect(world.active('line')).toEqual([]);
    expect([1, 2, 3].map((pr) => world.state(pr))).toEqual(['testing', 'testing', 'testing']);
  });

  it('lands at once if it passes while the branch has not moved and nothing is ahead', () => {
    const world = screening({}, 1, 2);
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
  });

  it('makes its entries screened if the branch has moved, and they land by a run on the branch as it is', () => {
    const world = chained({}, 1, 2);
    expect([1, 2].map((pr) => screenOf(world, pr))).toEqual(['passed', 'passed']);
    expect(world.merged()).toEqual([]);
    expect(world.active('line')).toEqual(['1+2']);
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
  });

  it('is bisected if it fails', () => {
    const world = screening({}, 1, 2);
    world.fail('1+2');
    expect(world.active('search')).toEqual(['1']);
    world.pass('1');
    expect(world.active('search')).toEqual(['2']);
    expect(world.outcome(2)).toBeUndefined();
  });

  it('that CI never ran is no failure of a check: the entry needs two of its own', () => {
    const world = screening({}, 1, 2);
    world.send({
      kind: 'run-failed',
      run: world.run('1+2').id,
      why: 'START_TEST_RUN_NO_REQUIRED_STATUSES',
    });
    // The prefix that passes does not land: the entry behind it is tested alone.
    moveBranch(world);
    world.pass('1');
    world.fail('2');
    expect(world.outcome(2)).toBeUndefined();
    world.fail('2');
    expect(world.outcome(2)).toBe('failed');
  });

  it('ends if one of its entries leaves, and the others are screened without it', () => {
    const world = screening({}, 1, 2);
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(world.active('search')).toEqual(['2']);
  });

  it('that gives no result leaves each entry to the line, which removes an entry without a result', () => {
    const world = screening({ concurrency: 1 }, 1, 2);
    for (let attempt = 0; attempt < 4; attempt++) {
      world.send({ kind: 'run-infrastructure-failed', run: world.run('1+2').id, timedOut: false });
      world.advance(15 * 60_000);
    }
    expect(world.active('search')).toEqual([]);
    expect(world.active('line')).toEqual(['1']);
  });

  it('gives way to an urgent entry if no slot is free', () => {
    const world = screening({ concurrency: 1 }, 1);
    world.submit(2, { priority: 0 });
    expect(world.active('search')).toEqual([]);
    expect(world.active('line')).toEqual(['2']);
    expect(world.state(1)).toBe('pending');
  });

  it('stays ahead of an entry that could merge directly', () => {
    const world = screening({ directMergeMode: 'always', concurrency: 1 }, 1, 2, 3);
    world.send({ kind: 'tested-on-tip', pr: 3, tip: world.snapshot.tip });
    expect(world.active('search')).toEqual(['1+2']);
    expect(world.snapshot.landing).toBeNull();
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
  });

  it('is refused to a strategy that does not screen, and for an entry that must be tested in the line', () => {
    const propose = (screens: boolean): Strategy => ({
      screens,
      propose: ({ pending }) => ({
        proposals: pending.map(({ pr }): Proposal => ({ screen: [pr] })),
        wakeAt: null,
      }),
    });
    const world = new World();
    world.strategy = propose(false);
    world.submit(1);
    expect(world.active('search')).toEqual([]);
    const item = world.snapshot.items.get(1)!;
    const alone = { kind: 'pending', since: 0, restarting: true, alone: true, behind: null } as const;
    const snapshot = { ...world.snapshot, items: new Map([[1, { ...item, place: alone }]]) };
    expect(plan(snapshot, 0, propose(true)).actions).toEqual([]);
    expect(plan(world.snapshot, 0, propose(true)).actions).toHaveLength(1);
  });
});

describe('one budget', () => {
  it('is shared by screens, bisections and the line', () => {
    const world = screening({ concurrency: 2, bisectionConcurrency: 5 }, 1, 2, 3, 4, 5, 6);
    expect(world.active('search')).toEqual(['1+2', '3+4']);
    world.fail('1+2');
    // The bisection goes before the next screen.
    expect(world.active('search').toSorted()).toEqual(['1', '3+4']);
  });

  it('has the slot of a run that another result made needless, before anything else starts', () => {
    const world = screening({ concurrency: 3 }, 1, 2, 3, 4);
    world.fail('1+2');
    world.fail('3+4');
    expect(world.active('search').toSorted()).toEqual(['1', '3']);
    world.fail('3');
    // A second plan at the same time finds no slot that the first one left free.
    expect(plan(world.snapshot, world.now, screenByTwos).actions).toEqual([]);
  });

  it('gives the slot of a needless run to an urgent entry, which is never screened instead', () => {
    const world = new World({ concurrency: 2 });
    world.strategy = {
      ...screenByTwos,
      propose: ({ pending }) => ({ proposals: [{ screen: pending.map(({ pr }) => pr) }], wakeAt: null }),
    };
    world.send({ kind: 'state', state: 'DRAINING' });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.send({ kind: 'state', state: 'RUNNING' });
    world.fail('1+2+3+4');
    expect(world.active('search').toSorted()).toEqual(['1', '1+2+3']);
    for (const pr of [8, 9]) world.submit(pr, { priority: 0 });
    world.fail('1');
    expect(world.active('line')).toEqual(['8', '8+9']);
    expect(world.active('search')).toEqual([]);
  });

  it('is in the invariants', () => {
    const world = screening({ concurrency: 2 }, 1, 2, 3, 4);
    const runs = [...world.snapshot.runs.values()];
    const started: Run = { ...runs[0]!, id: 99 };
    const snapshot = { ...world.snapshot, runs: new Map([...world.snapshot.runs, [99, started]]) };
    const step = { snapshot, facts: [], actions: [{ kind: 'start-run', run: started } as const] };
    expect(violationsOfStep(world.snapshot, step, screenByTwos)).toEqual([
      '3 line and search runs at once, the budget is 2',
    ]);
  });
});

describe('two failed runs', () => {
  it('remove the last entry of the shortest failing prefix, if the second is of it alone', () => {
    const world = screening({}, 1, 2);
    world.fail('1+2');
    world.pass('1');
    expect(world.merged()).toEqual([1]);
    expect(world.outcome(2)).toBeUndefined();
    expect(world.active('search')).toEqual(['2']);
    world.fail('2');
    expect(world.outcome(2)).toBe('failed');
  });

  it('are needed for the first entry too, and the others do not wait for the second', () => {
    const world = screening({}, 1, 2);
    world.fail('1+2');
    world.fail('1');
    expect(world.outcome(1)).toBeUndefined();
    expect(world.active('search')).toEqual(['1', '2']);
    world.pass('1');
    world.pass('2');
    expect(world.merged()).toEqual([1]);
    expect(world.active('line')).toEqual(['2']);
  });

  it('are needed for an entry that is tested alone in the line', () => {
    const world = screening({}, 1);
    const straight: Strategy = {
      screens: true,
      propose: ({ pending }) => ({
        proposals: pending.map(({ pr }): Proposal => ({ members: [pr] })),
        wakeAt: null,
      }),
    };
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    world.strategy = straight;
    world.submit(2);
    world.fail('2');
    expect(world.state(2)).toBe('testing');
    expect(world.active('search')).toEqual(['2']);
    world.fail('2');
    expect(world.outcome(2)).toBe('failed');
    const failed = world.facts.findLast((fact) => fact.kind === 'failed');
    expect(failed).toMatchObject({ reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' });
  });

  it('are not a failure and a run without a result', () => {
    const world = screening({}, 1);
    world.fail('1');
    for (let attempt = 0; attempt < 2; attempt++) {
      world.send({ kind: 'run-infrastructure-failed', run: world.run('1').id, timedOut: true });
      world.advance(15 * 60_000);
    }
    expect(world.outcome(1)).toBeUndefined();
    expect(world.active('line')).toEqual(['1']);
  });

  it('are in the invariants', () => {
    const world = screening({}, 1);
    const [run] = world.snapshot.runs.values();
    const failed: Run = { ...run!, status: 'failed' };
    const before: Snapshot = { ...world.snapshot, runs: new Map([[failed.id, failed]]) };
    const fact: PlannerFact = {
      kind: 'failed',
      pr: 1,
      reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
      evidence: { failedRun: failed.id },
    };
    const step = { snapshot: before, facts: [fact], actions: [] };
    expect(violationsOfStep(before, step, screenByTwos)).toEqual([`#1 failed by run ${failed.id} alone`]);
    expect(violationsOfStep(before, step)).toEqual([]);
    const twice = { ...before, runs: new Map([...before.runs, [99, { ...failed, id: 99 }]]) };
    expect(violationsOfStep(twice, { ...step, snapshot: twice }, screenByTwos)).toEqual([]);
  });
});

describe('a group of screened entries that fails', () => {
  it('is run once more in place if it is small, and lands if that passes', () => {
    const world = chained({}, 1, 2);
    world.fail('1+2');
    expect(world.active('line')).toEqual(['1+2']);
    expect(world.active('search')).toEqual([]);
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
  });

  it('is bisected if it fails again, and both failures count', () => {
    const world = chained({}, 1, 2);
    world.fail('1+2');
    world.fail('1+2');
    expect([1, 2].map((pr) => screenOf(world, pr))).toEqual(['none', 'none']);
    expect(world.active('search')).toEqual(['1']);
    world.pass('1');
    expect(world.outcome(2)).toBe('failed');
    expect(world.merged()).toEqual([1]);
  });

  it('waits for a slot to be run once more', () => {
    const world = chained({ concurrency: 1 }, 1, 2);
    world.submit(3);
    world.fail('1+2');
    // The repeat goes before the next screen.
    expect(world.active('line')).toEqual(['1+2']);
    expect(world.active('search')).toEqual([]);
  });

  it('is screened again, once, on the branch as it is now, if it is larger', () => {
    const world = chained({}, 1, 2, 3);
    expect(world.active('line')).toEqual(['1+2+3']);
    world.fail('1+2+3');
    expect([1, 2, 3].map((pr) => screenOf(world, pr))).toEqual(['doubted', 'doubted', 'doubted']);
    expect(world.active('search')).toEqual(['1+2', '3']);
    moveBranch(world);
    world.pass('1+2');
    world.pass('3');
    moveBranch(world);
    const again = () => [1, 2, 3].map((pr) => screenOf(world, pr));
    expect(again()).toEqual(['confirmed', 'confirmed', 'confirmed']);
    world.fail('1+2+3');
    // This time it is run once more in place, and then bisected.
    expect(world.active('line')).toEqual(['1+2+3']);
    world.fail('1+2+3');
    expect(again()).toEqual(['doubted', 'doubted', 'doubted']);
    expect(world.active('search')).toEqual(['1', '1+2']);
  });
});

it('a run beside the line is no proof in the invariants, even if it passed on the tip', () => {
  const world = screening({}, 1);
  const [run] = world.snapshot.runs.values();
  const landing = { id: 77, members: [1], proof: { kind: 'exact', run: run!.id } } as const;
  const snapshot: Snapshot = {
    ...world.snapshot,
    landing,
    runs: new Map([[run!.id, { ...run!, status: 'passed' }]]),
  };
  expect(findViolations(snapshot)).toContain(
    `#1 lands by run ${run!.id}, which was beside the line and proves nothing`,
  );
});

describe('a group of screened entries that failed is run again', () => {
  const join = (world: World, ...prs: readonly number[]) => {
    for (const pr of prs) world.submit(pr);
    for (const run of world.active('search')) world.pass(run);
  };

  it('as soon as the queue is not paused any more', () => {
    const world = chained({}, 1, 2);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.fail('1+2');
    expect(world.active('line')).toEqual([]);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.active('line')).toEqual(['1+2']);
  });

  it('once everything that it assumed is decided, and not before', () => {
    const world = chained({}, 1, 2);
    join(world, 3, 4);
    expect(world.active('line')).toEqual(['1+2', '1+2+3+4']);
    world.fail('1+2+3+4');
    expect(world.active('line')).toEqual(['1+2']);
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
    expect(world.active('line')).toEqual(['3+4']);
  });

  it('after the groups behind it that it waits for', () => {
    const world = chained({ pendingFailureDepth: 1 }, 1, 2);
    join(world, 3);
    world.fail('1+2');
    expect(world.active('line')).toEqual(['1+2+3']);
    world.fail('1+2+3');
    expect(world.active('line')).toEqual(['1+2']);
  });

  it('within the budget, before new screens', () => {
    const world = chained({ concurrency: 2 }, 1, 2);
    world.submit(3);
    world.submit(4);
    expect([world.active('line'), world.active('search')]).toEqual([['1+2'], ['3']]);
    world.fail('1+2');
    expect([world.active('line'), world.active('search')]).toEqual([['1+2'], ['3']]);
  });

  it('but not one that passed, that was refused, or that a run behind it proves', () => {
    const world = chained({ canOptimisticallyMerge: true }, 1, 2);
    join(world, 3);
    world.pass('1+2+3');
    expect(world.merged()).toEqual([1, 2, 3]);
    const refused = chained({}, 1, 2);
    refused.send({
      kind: 'run-failed',
      run: refused.run('1+2').id,
      why: 'START_TEST_RUN_NO_REQUIRED_STATUSES',
    });
    expect(refused.active('line')).not.toContain('1+2');
  });
});

it('an urgent entry ends the last screen, whose entries say why they wait again', () => {
  const world = screening({ concurrency: 2 }, 1, 2, 3, 4);
  const before = world.snapshot;
  world.submit(9, { priority: 0 });
  expect([world.active('line'), world.active('search')]).toEqual([['9'], ['1+2']]);
  expect(before.searches).toHaveLength(2);
  expect([3, 4].map((pr) => world.state(pr))).toEqual(['pending', 'pending']);
  // A bisection that has a result keeps its slot.
  const bisected = screening({ concurrency: 1 }, 1, 2);
  bisected.fail('1+2');
  bisected.submit(9, { priority: 0 });
  expect([bisected.active('line'), bisected.active('search')]).toEqual([[], ['1']]);
});

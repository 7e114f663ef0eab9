// Targeted search: only the tests that failed are run to find which entries broke them.
import { describe, expect, it } from 'vitest';
import { foresee } from '#core/queue/planner/strategy/foresee.ts';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import type { Run } from '#core/queue/planner/model.ts';
import { plan } from '#core/queue/planner/plan.ts';
import type { Strategy } from '#core/queue/planner/strategy.ts';
import { screenByTwos } from './screening.ts';
import { World } from './world.ts';

/** Screens everything that waits as one batch. What passed is one group of the line. */
const screenAll: Strategy = {
  screens: true,
  propose: (view) => {
    const { proposals, wakeAt } = screenByTwos.propose(view);
    const screens = proposals.flatMap((proposal) => ('screen' in proposal ? proposal.screen : []));
    const others = proposals.filter((proposal) => !('screen' in proposal));
    return { proposals: screens.length === 0 ? others : [...others, { screen: screens }], wakeAt };
  },
};

function screened(...prs: number[]): World {
  const world = new World({ concurrency: 4, testingTimeoutMinutes: 0 });
  world.strategy = screenAll;
  world.send({ kind: 'state', state: 'DRAINING' });
  for (const pr of prs) world.submit(pr);
  world.send({ kind: 'state', state: 'RUNNING' });
  return world;
}

const fail = (world: World, members: string, ...tests: string[]) =>
  world.send({ kind: 'run-failed', run: world.run(members).id, tests });

const testsOf = (world: World, members: string) => world.run(members).tests;

const screenOf = (world: World, pr: number) => world.snapshot.items.get(pr)?.screen;

const moveBranch = (world: World) => world.send({ kind: 'branch-moved', tip: `${world.snapshot.tip}x` });

describe('a screen whose failed tests are known', () => {
  it('first runs these tests in the whole batch again', () => {
    const world = screened(1, 2, 3);
    expect(testsOf(world, '1+2+3')).toBeUndefined();
    fail(world, '1+2+3', 'a', 'b');
    expect(world.active('search')).toEqual(['1+2+3']);
    expect(testsOf(world, '1+2+3')).toEqual(['a', 'b']);
  });

  it('removes no entry if they all pass then: its entries count as screened, and need a run of all tests to land', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    world.pass('1+2');
    expect([1, 2].map((pr) => screenOf(world, pr))).toEqual(['passed', 'passed']);
    expect(world.merged()).toEqual([]);
    expect(world.active('line')).toEqual(['1+2']);
    expect(testsOf(world, '1+2')).toBeUndefined();
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
  });

  it('finds two culprits by their tests, and clears the others', () => {
    const world = screened(1, 2, 3, 4);
    fail(world, '1+2+3+4', 'a', 'b');
    fail(world, '1+2+3+4', 'a', 'b');
    // a breaks with 2, b with 4.
    expect(world.active('search')).toEqual(['1+2']);
    fail(world, '1+2', 'a');
    expect(world.active('search')).toEqual(['1', '1+2+3']);
    world.pass('1');
    fail(world, '1+2+3', 'a');
    // 4 may fail only together with 2: the rest is searched again.
    expect(world.active('search')).toEqual(['2', '1+3+4']);
    expect([testsOf(world, '2'), testsOf(world, '1+3+4')]).toEqual([['a'], ['b']]);
    fail(world, '2', 'a');
    expect(world.outcome(2)).toBe('failed');
    fail(world, '1+3+4', 'b');
    world.pass('1');
    world.pass('1+3');
    expect(testsOf(world, '4')).toEqual(['b']);
    fail(world, '4', 'b');
    expect(world.outcome(4)).toBe('failed');
    expect([1, 3].map((pr) => screenOf(world, pr))).toEqual(['passed', 'passed']);
    expect(world.active('line')).toEqual(['1+3']);
  });

  it('names the run and the test as evidence', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    fail(world, '1+2', 'a');
    world.pass('1');
    const failedRun = world.run('2').id;
    fail(world, '2', 'a');
    const fact = world.facts.findLast(({ kind }) => kind === 'failed');
    expect(fact).toMatchObject({ pr: 2, evidence: { failedRun, test: 'a' } });
  });

  it('does not blame an entry for the failure that began the search: it takes two more', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    fail(world, '1+2', 'a');
    world.pass('1');
    expect(world.outcome(2)).toBeUndefined();
    world.pass('2');
    expect(world.outcome(2)).toBeUndefined();
    expect([1, 2].map((pr) => screenOf(world, pr))).toEqual(['passed', 'passed']);
    // It fails with 1, and waits for it.
    expect(world.active('line')).toEqual(['1']);
    world.pass('1');
    expect(world.active('line')).toEqual(['2']);
  });

  it('takes a failure whose tests are not known for one of every test', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    world.fail('1+2');
    world.pass('1');
    world.fail('2');
    expect(world.outcome(2)).toBe('failed');
  });

  it('does not count a failure in other tests', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    fail(world, '1+2', 'other');
    expect([1, 2].map((pr) => screenOf(world, pr))).toEqual(['passed', 'passed']);
  });

  it('leaves its entries to the line if a run gives no result', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    for (let attempt = 0; attempt < 4; attempt++) {
      world.send({ kind: 'run-infrastructure-failed', run: world.run('1+2').id, timedOut: false });
      world.advance(15 * 60_000);
    }
    expect(world.active('line')).toEqual(['1', '1+2']);
    // Whatever fails next is searched by all tests.
    expect([1, 2].map((pr) => screenOf(world, pr))).toEqual(['doubted', 'doubted']);
    fail(world, '1', 'a');
    expect(world.outcome(1)).toBeUndefined();
    expect([...world.snapshot.runs.values()].some(({ tests }) => tests !== undefined)).toBe(false);
  });

  it('continues with all tests if a run passed without a result for each of the tests', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    fail(world, '1+2', 'a');
    world.send({ kind: 'run-passed', run: world.run('1').id, lacksResults: true });
    expect(world.active('search')).toEqual(['1']);
    expect(testsOf(world, '1')).toBeUndefined();
    world.fail('1');
    world.fail('1');
    expect(world.outcome(1)).toBe('failed');
  });

  it('ends if a run could not be started for a known cause, and asks for it no more', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    world.send({
      kind: 'run-failed',
      run: world.run('1+2').id,
      why: 'START_TEST_RUN_NO_REQUIRED_STATUSES',
    });
    expect(world.active('search')).toEqual([]);
    expect(world.active('line')).toEqual(['1', '1+2']);
  });

  it('does not clear an entry that fails only together with one that is removed', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a', 'b');
    fail(world, '1+2', 'a', 'b');
    fail(world, '1', 'a');
    expect(testsOf(world, '2')).toEqual(['b']);
    fail(world, '1', 'a');
    expect(world.outcome(1)).toBe('failed');
    world.pass('2');
    expect(world.outcome(2)).toBeUndefined();
    expect(screenOf(world, 2)).toBe('passed');
  });

  it('repeats a run without a result with the same tests', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    world.send({ kind: 'run-infrastructure-failed', run: world.run('1+2').id, timedOut: false });
    world.advance(60_000);
    expect(testsOf(world, '1+2')).toEqual(['a']);
  });

  it('ends if an entry leaves, and the others are screened by all tests', () => {
    const world = screened(1, 2, 3);
    fail(world, '1+2+3', 'a');
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(world.active('search')).toEqual(['2+3']);
    expect(testsOf(world, '2+3')).toBeUndefined();
  });
});

it('a screen without known tests, or with more than a hundred, is bisected by runs of all tests', () => {
  for (const tests of [[], Array.from({ length: 101 }, (_, at) => `t${at}`)]) {
    const world = screened(1, 2);
    fail(world, '1+2', ...tests);
    expect(world.active('search')).toEqual(['1']);
    expect(testsOf(world, '1')).toBeUndefined();
  }
});

describe('a group of the line whose failed tests are known', () => {
  /** Entries that passed a screen on the branch as it was, under test as one group. */
  function chained(...prs: number[]): World {
    const world = screened(...prs);
    moveBranch(world);
    world.pass(prs.join('+'));
    return world;
  }

  it('is searched by these tests instead of being screened again', () => {
    const world = chained(1, 2, 3);
    fail(world, '1+2+3', 'a');
    expect(world.active('search')).toEqual(['1+2+3']);
    expect(testsOf(world, '1+2+3')).toEqual(['a']);
  });

  it('is bisected by all tests once a search by tests has cleared its entries twice', () => {
    const world = chained(1, 2);
    fail(world, '1+2', 'a');
    world.pass('1+2');
    expect([1, 2].map((pr) => screenOf(world, pr))).toEqual(['confirmed', 'confirmed']);
    fail(world, '1+2', 'a');
    // Run once more in place, by all tests, and then bisected.
    expect(world.active('line')).toEqual(['1+2']);
    fail(world, '1+2', 'a');
    expect(world.active('search')).toEqual(['1']);
    expect(testsOf(world, '1')).toBeUndefined();
  });
});

describe('an entry of a lane whose failed tests are known', () => {
  function laned(): World {
    const world = new World({ mode: 'parallel', concurrency: 4, testingTimeoutMinutes: 0 });
    world.strategy = foresee;
    world.snapshot = { ...world.snapshot, failureShare: 0.05, flakeShare: 0.05 };
    world.submit(1, { targets: Uint32Array.of(1) });
    fail(world, '1', 'a');
    return world;
  }

  it('is tested alone by these tests, and removed if they fail often enough', () => {
    const world = laned();
    expect(testsOf(world, '1')).toEqual(['a']);
    for (let failures = 2; failures < 4; failures++) fail(world, '1', 'a');
    expect(world.outcome(1)).toBeUndefined();
    fail(world, '1', 'a');
    expect(world.outcome(1)).toBe('failed');
  });

  it('lands by a run of all tests if they pass, and the next time all tests are run', () => {
    const world = laned();
    world.pass('1');
    expect(world.merged()).toEqual([]);
    expect(testsOf(world, '1')).toBeUndefined();
    fail(world, '1', 'a');
    expect(world.place(1)?.kind).toBe('search');
    expect(testsOf(world, '1')).toBeUndefined();
    world.pass('1');
    expect(world.merged()).toEqual([1]);
  });
});

describe('the invariants', () => {
  it('find a landing by a run of some tests', () => {
    const world = new World({ concurrency: 1, testingTimeoutMinutes: 0 });
    world.submit(1);
    const before = world.snapshot;
    const run = { ...world.run('1'), status: 'passed' as const, tests: ['a'] };
    const { snapshot } = plan({ ...before, runs: new Map([[run.id, run]]) }, world.now);
    expect(findViolations(snapshot)).toEqual([`#1 lands by run ${run.id}, which did not run all tests`]);
  });

  it('find an entry that fails by a test that did not fail', () => {
    const world = screened(1, 2);
    fail(world, '1+2', 'a');
    fail(world, '1+2', 'a');
    world.pass('1');
    const alone = world.run('2');
    const failed: Run = { ...alone, status: 'failed', failedTests: ['a'] };
    const before = { ...world.snapshot, runs: new Map([...world.snapshot.runs, [alone.id, failed]]) };
    const step = (test: string) => ({
      snapshot: before,
      actions: [],
      facts: [
        {
          kind: 'failed' as const,
          pr: 2,
          reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' as const,
          evidence: { failedRun: alone.id, test },
        },
      ],
    });
    expect(violationsOfStep(before, step('a'), screenAll)).toEqual([]);
    expect(violationsOfStep(before, step('b'), screenAll)).toEqual([
      `#2 failed by the test b, which did not fail in run ${alone.id}`,
      `#2 failed by run ${alone.id} alone`,
    ]);
  });
});

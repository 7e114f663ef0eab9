// A run in which only flaky tests failed: it is run again, and a failure after that counts.
import { describe, expect, it } from 'vitest';
import { isActive } from '#core/queue/planner/model.ts';
import { situations } from '#core/queue/planner/situation.ts';
import { World } from './world.ts';

const flakes = (world: World, members: string) =>
  world.send({ kind: 'run-failed-by-flakes', run: world.run(members).id });

describe('a run that failed in nothing but flaky tests', () => {
  it('is run again at once, and its pull request merges if it passes then', () => {
    const world = new World();
    world.submit(1);
    const { id } = world.run('1');
    flakes(world, '1');
    expect(world.state(1)).toBe('testing');
    expect(world.run('1')).toMatchObject({ flakes: 1, attempt: 0 });
    expect(world.run('1').id).not.toBe(id);
    world.pass('1');
    expect(world.merged()).toEqual([1]);
  });

  it('counts once its reruns are used, whichever tests failed', () => {
    const world = new World();
    world.submit(1);
    flakes(world, '1');
    flakes(world, '1');
    expect(world.facts.at(-1)).toMatchObject({
      kind: 'failed',
      pr: 1,
      reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
    });
  });

  it('counts at once where the queue reruns none, and later where it reruns more', () => {
    const none = new World({ flakeReruns: 0 });
    none.submit(1);
    flakes(none, '1');
    expect(none.outcome(1)).toBe('failed');
    const two = new World({ flakeReruns: 2 });
    two.submit(1);
    flakes(two, '1');
    flakes(two, '1');
    expect(two.state(1)).toBe('testing');
    flakes(two, '1');
    expect(two.outcome(1)).toBe('failed');
  });

  it('disturbs no other run of the line', () => {
    const world = new World({ concurrency: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    const others = ['1', '1+2+3'].map((members) => world.run(members).id);
    flakes(world, '1+2');
    expect(['1', '1+2+3'].map((members) => world.run(members).id)).toEqual(others);
    for (const members of ['1+2+3', '1+2', '1']) world.pass(members);
    expect(world.merged()).toEqual([1, 2, 3]);
  });

  it('counts after a failure for another reason, which uses no rerun up', () => {
    const world = new World({ strategy: 'adaptive', concurrency: 2 });
    world.submit(1);
    world.advance(3_600_000);
    const [members] = [...world.active(), ...world.active('search')];
    flakes(world, members!);
    world.fail(members!);
    expect(world.run(members!).flakes).toBe(1);
    flakes(world, members!);
    expect(world.outcome(1)).toBe('failed');
  });

  it('is waited for by a failed one ahead that waits for the runs behind it', () => {
    const world = new World({ concurrency: 2, pendingFailureDepth: 1, canOptimisticallyMerge: true });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1');
    flakes(world, '1+2');
    expect([world.state(1), world.active()]).toEqual(['pending_failure', ['1+2']]);
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
  });

  it('keeps the repeats that it has for runs without a result', () => {
    const world = new World();
    world.submit(1);
    flakes(world, '1');
    world.send({ kind: 'run-infrastructure-failed', run: world.run('1').id, timedOut: true });
    world.advance(60_000);
    expect(world.run('1')).toMatchObject({ attempt: 1, timeouts: 1, flakes: 1 });
    flakes(world, '1');
    expect(world.outcome(1)).toBe('failed');
  });

  it('has its reruns again after a restart', () => {
    const world = new World();
    world.submit(1);
    flakes(world, '1');
    world.send({ kind: 'restart', pr: 1 });
    flakes(world, '1');
    expect(world.state(1)).toBe('testing');
  });

  it('is run again in a bisection, which it does not mislead', () => {
    const world = new World({ batch: true, batchingMinSize: 2, bisectionConcurrency: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    flakes(world, '1');
    expect(world.active('search')).toEqual(['1']);
    world.pass('1');
    world.fail('1+2');
    expect([world.outcome(1), world.outcome(2)]).toEqual(['merged', 'failed']);
  });

  it('ends an outage of CI: CI gave a result', () => {
    const world = new World();
    world.submit(1);
    world.snapshot = { ...world.snapshot, outageSince: 0 };
    flakes(world, '1');
    expect(world.snapshot.outageSince).toBeNull();
  });

  it('waits for a slot, and says why', () => {
    const world = new World({ concurrency: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'settings', settings: { concurrency: 1 } });
    flakes(world, '1+2');
    expect(world.active()).toEqual(['1']);
    expect(situations(world.snapshot).get(2)).toEqual({ kind: 'retrying', isAfterFlake: true });
    world.pass('1');
    expect(situations(world.snapshot).get(2)).toMatchObject({ kind: 'testing', isAfterFlake: true });
    expect([...world.snapshot.runs.values()].filter(isActive)).toHaveLength(1);
  });

  it('of a screen is run again as a whole', () => {
    const world = new World({ strategy: 'adaptive', concurrency: 2 });
    world.submit(1);
    world.advance(3_600_000);
    const [members] = [...world.active(), ...world.active('search')];
    flakes(world, members!);
    expect([...world.active(), ...world.active('search')]).toEqual([members]);
    expect(world.run(members!).flakes).toBe(1);
  });
});

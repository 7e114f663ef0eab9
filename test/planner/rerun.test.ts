// A run in which only flaky tests failed, where the Git host can run the failed jobs again on the same commit.
import { describe, expect, it } from 'vitest';
import { restoreRun, storedPlan } from '#core/queue/engine/stored.ts';
import { pushByMs } from '#core/queue/planner/clock.ts';
import type { Action } from '#core/queue/planner/model.ts';
import { observe } from '#core/queue/planner/observe.ts';
import { situations } from '#core/queue/planner/situation.ts';
import { World } from './world.ts';

const excused = [{ suite: 's1', name: 'test', at: 1 }];
const flakes = (world: World, members: string) =>
  world.send({ kind: 'run-failed-by-flakes', run: world.run(members).id, excused });

function openWorld(settings: ConstructorParameters<typeof World>[0] = {}) {
  const world = new World(settings);
  world.submit(1);
  return world;
}

describe('a run whose failed jobs run again', () => {
  it('is the same run on the same commit, and its pull request merges by it', () => {
    const world = openWorld();
    const { id } = world.run('1');
    flakes(world, '1');
    expect(world.run('1')).toMatchObject({ id, status: 'starting', flakes: 1, rerun: { since: null } });
    expect(world.state(1)).toBe('testing');
    world.send({ kind: 'run-started', run: id, at: world.now });
    expect(world.run('1')).toMatchObject({ id, status: 'running', rerun: { since: world.now } });
    world.pass('1');
    expect(world.merged()).toEqual([1]);
  });

  it('is requested once, with the check suites of the failed jobs', () => {
    const world = openWorld();
    const { id } = world.run('1');
    const event = { kind: 'run-failed-by-flakes', run: id, excused: [...excused, ...excused] } as const;
    const { actions } = observe(world.snapshot, event, world.now);
    expect(actions).toEqual<Action[]>([{ kind: 'rerun-failed-jobs', run: id, suites: ['s1'], after: 1 }]);
  });

  it('counts if it fails again', () => {
    const world = openWorld();
    flakes(world, '1');
    flakes(world, '1');
    expect(world.outcome(1)).toBe('failed');
  });

  it('is repeated as a whole if the Git host refuses, which uses no other rerun up', () => {
    const world = openWorld();
    const { id } = world.run('1');
    flakes(world, '1');
    world.send({ kind: 'rerun-refused', run: id });
    expect(world.run('1')).toMatchObject({ status: 'starting', flakes: 1, attempt: 0 });
    expect(world.run('1').id).not.toBe(id);
    expect(world.run('1').rerun).toBeUndefined();
    flakes(world, '1');
    expect(world.outcome(1)).toBe('failed');
  });

  it('is repeated as a whole if no new attempt begins within the start limit', () => {
    for (const testingTimeoutMinutes of [60, 0]) {
      const world = openWorld({ testingTimeoutMinutes });
      const { id } = world.run('1');
      flakes(world, '1');
      world.advance(world.snapshot.limits.startByMs - 1);
      expect(world.run('1').id).toBe(id);
      world.advance(1);
      world.advance(60_000);
      expect(world.run('1').id).not.toBe(id);
      expect(world.run('1')).toMatchObject({ status: 'starting', flakes: 1 });
    }
  });

  it('keeps its slot', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    flakes(world, '1');
    expect([world.active(), world.state(2)]).toEqual([['1'], 'pending']);
  });

  it('is not requested in a paused queue, nor for a run of some tests', () => {
    const world = openWorld();
    const { id } = world.run('1');
    world.send({ kind: 'state', state: 'PAUSED' });
    const event = { kind: 'run-failed-by-flakes', run: id, excused } as const;
    const { snapshot, actions } = observe(world.snapshot, event, world.now);
    expect([actions, snapshot.runs.get(id)?.status]).toEqual([[], 'start_failed']);
    const some = openWorld();
    const run = { ...some.run('1'), tests: ['a'] };
    const targeted = { ...some.snapshot, runs: new Map([[run.id, run]]) };
    expect(observe(targeted, { ...event, run: run.id }, some.now).actions).toEqual([]);
  });

  it('has its reruns again after a restart, on another commit', () => {
    const world = openWorld();
    const { id } = world.run('1');
    flakes(world, '1');
    world.send({ kind: 'restart', pr: 1 });
    expect(world.run('1').id).not.toBe(id);
    expect(world.run('1').rerun).toBeUndefined();
    flakes(world, '1');
    expect(world.state(1)).toBe('testing');
  });

  it('says that only the failed jobs run again', () => {
    const world = openWorld();
    flakes(world, '1');
    expect(situations(world.snapshot).get(1)).toMatchObject({
      kind: 'testing',
      isAfterFlake: true,
      isRerun: true,
    });
  });

  it('is stored in the form of a run that is repeated at the end of its time, for the release before', () => {
    for (const testingTimeoutMinutes of [60, 0]) {
      const world = openWorld({ testingTimeoutMinutes });
      flakes(world, '1');
      const awaited = world.run('1');
      const [stored] = storedPlan(world.snapshot).runs;
      expect(stored).toMatchObject({
        status: 'start_failed',
        attempt: -1,
        notBefore: world.now + world.snapshot.limits.startByMs,
      });
      expect(restoreRun({ ...awaited, ...stored })).toEqual(awaited);
      world.send({ kind: 'run-started', run: awaited.id, at: world.now });
      const [begun] = storedPlan(world.snapshot).runs;
      expect(restoreRun({ ...awaited, ...begun })).toEqual(world.run('1'));
      expect(begun?.notBefore).toBe(world.now + (testingTimeoutMinutes * 60_000 || pushByMs));
    }
  });
});

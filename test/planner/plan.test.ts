import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;

describe('a single line', () => {
  it('plays the worked example of plan.ts', () => {
    const world = new World({ concurrency: 2 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    expect(world.active()).toEqual(['1', '1+2']);
    world.fail('1+2');
    expect(world.state(2)).toBe('pending_failure');
    expect(world.active()).toEqual(['1', '1+2+3']);
    world.pass('1');
    expect([world.state(1), world.state(2), world.state(3)]).toEqual(['merged', 'failed', 'testing']);
    expect(world.active()).toEqual(['3']);
    world.pass('3');
    expect(world.merged()).toEqual([1, 3]);
  });

  it('tests again without the one ahead that failed', () => {
    const world = new World({ concurrency: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    world.fail('1');
    expect([world.state(1), world.state(2)]).toEqual(['failed', 'testing']);
    expect(world.active()).toEqual(['2']);
    world.pass('2');
    expect(world.state(2)).toBe('merged');
  });

  it('lands several that each passed, as one', () => {
    const world = new World();
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.pass('1+2');
    world.pass('1+2+3');
    expect(world.state(3)).toBe('tests_passed');
    world.pass('1');
    expect(world.merged()).toEqual([1, 2, 3]);
  });

  it('lets a later pass clear an earlier failure with optimistic merging', () => {
    const world = new World({ canOptimisticallyMerge: true, pendingFailureDepth: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1');
    expect(world.state(1)).toBe('pending_failure');
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
  });

  it('puts an urgent one ahead of what is under test', () => {
    const world = new World({ concurrency: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.submit(9, { priority: 0 });
    expect(world.active()).toEqual(['9', '9+1']);
    expect(world.state(2)).toBe('pending');
  });

  it('begins anew when somebody else pushes to the branch', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'branch-moved', tip: 'X' });
    expect(world.facts.map((fact) => ('reason' in fact ? fact.reason : fact.kind))).toContain(
      'MANUAL_PUSH_TO_TARGET_BRANCH',
    );
    expect(world.run('1').composition.base).toBe('X');
  });
});

describe('a batch', () => {
  const settings = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 5, concurrency: 2 };

  it('starts when it is full, or when its oldest has waited', () => {
    const world = new World(settings);
    for (const pr of [1, 2, 3, 4, 5]) world.submit(pr);
    expect(world.active()).toEqual(['1+2+3+4']);
    expect(world.wakeAt).toBe(minutes(5));
    world.advance(minutes(5));
    expect(world.active()).toEqual(['1+2+3+4', '1+2+3+4+5']);
  });

  it('is searched by prefixes, and the culprit fails by a run of its own', () => {
    const world = new World({ ...settings, bisectionConcurrency: 3 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1+2+3+4');
    expect(world.active('search')).toEqual(['1', '1+2', '1+2+3']);
    world.pass('1');
    world.fail('1+2+3');
    world.fail('1+2');
    expect(world.outcome(2)).toBe('failed');
    expect([world.merged(), world.active()]).toEqual([[1], ['3+4']]);
    world.pass('3+4');
    expect(world.merged()).toEqual([1, 3, 4]);
  });

  it('blames nobody for what is left over: the whole batch is run once more', () => {
    const world = new World({ ...settings, bisectionConcurrency: 3 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1+2+3+4');
    for (const prefix of ['1', '1+2', '1+2+3']) world.pass(prefix);
    expect(world.active('search')).toEqual(['1+2+3+4']);
    world.pass('1+2+3+4');
    expect(world.merged()).toEqual([1, 2, 3, 4]);
  });
});

describe('lanes', () => {
  const targets = (...list: number[]) => ({ targets: Uint32Array.from(list) });

  it('test apart what shares no target, and land in any order with a lane proof', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, targets(1));
    world.submit(2, targets(2));
    world.submit(3, targets(1, 2));
    expect(world.active()).toEqual(['1', '2', '1+2+3']);
    world.pass('2');
    expect(world.merged()).toEqual([2]);
    world.pass('1');
    expect(world.facts.findLast((fact) => fact.kind === 'merged')).toMatchObject({
      pr: 1,
      proof: { kind: 'lane' },
    });
    expect(world.active()).toEqual(['3']);
    world.pass('3');
    expect(world.merged()).toEqual([2, 1, 3]);
  });
});

describe('the machinery', () => {
  it('is given a second try after a time-out, and then the change is to blame', () => {
    const world = new World({ testingTimeoutMinutes: 10 });
    world.submit(1);
    world.send({ kind: 'run-started', run: world.run('1').id });
    world.advanceBegun(minutes(10));
    expect(world.state(1)).toBe('testing');
    world.advanceBegun(minutes(10));
    expect(world.state(1)).toBe('failed');
  });

  it('stops all clocks while the host is away', () => {
    const world = new World({ testingTimeoutMinutes: 10 });
    world.submit(1);
    world.send({ kind: 'host-away' });
    world.advance(minutes(60));
    world.send({ kind: 'host-back' });
    expect(world.state(1)).toBe('testing');
    expect(world.snapshot.runs.get(world.run('1').id)!.attempt).toBe(0);
  });
});

describe('a queue that switches modes', () => {
  it('waits until nothing is under test', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    world.submit(2);
    expect([world.snapshot.state, world.state(2)]).toEqual(['SWITCHING_MODES', 'not_ready']);
    world.pass('1');
    expect([world.snapshot.state, world.snapshot.settings.mode]).toEqual(['RUNNING', 'parallel']);
  });
});

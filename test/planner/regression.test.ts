// The smallest story of every mistake that the property tests and the model check found.
import { describe, expect, it } from 'vitest';
import { observe } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { take } from './reading.ts';
import { anItem, World } from './world.ts';

const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

const landingOf = (world: World): number => world.snapshot.landing?.id ?? 0;

describe('a queue that has switched modes', () => {
  it('admits at once those that waited for that', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    world.submit(2);
    world.pass('1');
    expect(world.state(2)).toBe('testing');
  });

  it('does not wait for one that conflicts with somebody who is no longer ready', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    world.send({ kind: 'conflict', run: world.run('1+2').id, pr: 2, with: 1 });
    // The one ahead begins anew, and is not ready when it does.
    world.send({ kind: 'state', state: 'RUNNING' });
    let { snapshot } = take(world.snapshot, { kind: 'readiness', pr: 1, ready: false }, 0);
    ({ snapshot } = observe(snapshot, { kind: 'branch-moved', tip: 'X' }, 0));
    world.snapshot = plan(snapshot, 0).snapshot;
    world.send(null);
    expect(world.state(1)).toBe('not_ready');
    expect(world.active()).toEqual(['2']);
  });
});

describe('a landing under way', () => {
  const landing = (settings = {}) => {
    const world = new World(settings);
    world.landsByItself = false;
    return world;
  };

  it('is not disturbed by news about the branch: its outcome says where the branch is', () => {
    const world = landing();
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1');
    world.send({ kind: 'branch-moved', tip: 'T1' });
    world.send({ kind: 'landed', landing: landingOf(world), tip: 'T1' });
    expect(world.merged()).toEqual([1]);
    expect(world.active()).toEqual(['2']);
  });

  it('begins anew when the branch had really moved', () => {
    const world = landing();
    world.submit(1);
    world.pass('1');
    world.send({ kind: 'branch-moved', tip: 'X' });
    world.send({ kind: 'landing-lost', landing: landingOf(world), tip: 'X' });
    expect(world.run('1').composition.base).toBe('X');
  });

  it('is not undone by settings that would not have begun it', () => {
    const world = landing({ canOptimisticallyMerge: true, pendingFailureDepth: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1');
    world.pass('1+2');
    world.send({ kind: 'settings', settings: { canOptimisticallyMerge: false } });
    world.send({ kind: 'landed', landing: landingOf(world), tip: 'T1' });
    expect(world.merged()).toEqual([1, 2]);
  });

  it('is not displaced by an urgent one of another lane that shares a target with it', () => {
    const world = landing({ mode: 'parallel', concurrency: 3 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.pass('2');
    world.submit(9, { priority: 0, ...on(1, 2) });
    expect(world.active()).toEqual(['2+9']);
    world.send({ kind: 'landed', landing: landingOf(world), tip: 'T1' });
    expect(world.merged()).toEqual([2]);
  });

  it('ends for those that asked to leave when somebody merges another of it by hand', () => {
    const world = landing();
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1+2');
    world.pass('1');
    world.send({ kind: 'ended', pr: 2, reason: 'PR_PUSHED_TO' });
    world.send({ kind: 'merged-by-hand', pr: 1, tip: 'X' });
    expect(world.outcome(2)).toBe('cancelled');
  });

  it('keeps its own proof when the change is tested on another tip meanwhile', () => {
    const world = landing({ directMergeMode: 'always' });
    world.send({ kind: 'submitted', item: anItem(1, { ready: false }) });
    world.send({ kind: 'tested-on-tip', pr: 1, tip: 'T' });
    world.send({ kind: 'readiness', pr: 1, ready: true });
    expect(world.snapshot.landing?.proof.kind).toBe('direct');
    world.send({ kind: 'tested-on-tip', pr: 1, tip: 'X' });
    world.send({ kind: 'landing-lost', landing: landingOf(world), tip: 'X' });
    expect(world.active()).toEqual(['1']);
  });

  it('is left alone by a conflict that is reported late', () => {
    const world = landing({ canOptimisticallyMerge: true });
    for (const pr of [1, 2]) world.submit(pr);
    const late = world.run('1').id;
    world.pass('1+2');
    world.send({ kind: 'conflict', run: late, pr: 1, with: 'tip' });
    world.send({ kind: 'landed', landing: landingOf(world), tip: 'T1' });
    expect(world.merged()).toEqual([1, 2]);
  });

  it('does not leave a run hanging that could not be built on what has landed meanwhile', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(1, 2));
    const late = world.run('1+2+3').id;
    world.pass('2');
    world.send({ kind: 'conflict', run: late, pr: 2, with: 1 });
    world.advance(15_000);
    expect(world.run('1+3').attempt).toBe(1);
  });

  it('keeps its lane when targets change meanwhile', () => {
    const world = landing({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(1, 2));
    world.pass('1+2');
    world.pass('1');
    world.send({ kind: 'targets', pr: 2, targets: Uint32Array.from([2]) });
    world.send({ kind: 'landed', landing: landingOf(world), tip: 'T1' });
    expect(world.merged()).toEqual([1, 2]);
  });
});

describe('a merge by hand', () => {
  it('that is reported twice does not move the branch back', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'merged-by-hand', pr: 1, tip: 'X' });
    world.send({ kind: 'branch-moved', tip: 'Y' });
    world.send({ kind: 'merged-by-hand', pr: 1, tip: 'X' });
    expect(world.run('2').composition.base).toBe('Y');
  });
});

describe('the search of a batch', () => {
  const settings = { batch: true, batchingMinSize: 4, concurrency: 2, bisectionConcurrency: 3 };
  const searching = () => {
    const world = new World(settings);
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1+2+3+4');
    return world;
  };

  it('leaves no run behind when two of the batch conflict', () => {
    const world = searching();
    world.send({ kind: 'conflict', run: world.run('1+2').id, pr: 2, with: 1 });
    expect(world.active('search')).toEqual([]);
    expect(world.state(2)).toBe('pending');
  });

  it('goes on when a longer prefix passes after a shorter one failed', () => {
    const world = searching();
    const prefixes = ['1+2', '1+2+3'].map((prefix) => world.run(prefix).id);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'run-failed', run: prefixes[0]! });
    world.send({ kind: 'run-passed', run: prefixes[1]! });
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.active('search')).toEqual(['1+2+3+4']);
    world.fail('1+2+3+4');
    expect(world.outcome(4)).toBe('failed');
  });

  it('ends when one of the batch left, though it is back already', () => {
    const world = searching();
    let { snapshot } = observe(world.snapshot, { kind: 'ended', pr: 2, reason: 'PR_PUSHED_TO' }, 0);
    ({ snapshot } = observe(snapshot, { kind: 'submitted', item: anItem(2, { ready: false }) }, 0));
    world.snapshot = snapshot;
    world.send(null);
    expect(world.active('search')).toEqual([]);
    expect([world.place(2)?.kind, world.active()]).toEqual(['not_ready', ['1+3+4']]);
  });
});

describe('an urgent entry', () => {
  it('displaces what a failure waited for, and that settles it in the same look', () => {
    const world = new World({ mode: 'parallel', pendingFailureDepth: 1, concurrency: 2 });
    world.submit(1, on(1));
    world.submit(2, on(1, 2));
    world.fail('1');
    expect(world.state(1)).toBe('pending_failure');
    world.submit(9, { priority: 0, ...on(2) });
    expect(world.outcome(1)).toBe('failed');
    expect(world.active()).toEqual(['9', '9+2']);
  });

  it('is tested without an entry ahead of it that fails in the same plan', () => {
    const world = new World({ mode: 'parallel', pendingFailureDepth: 1, concurrency: 3 });
    world.submit(5, { priority: 0, ...on(2, 4) });
    world.submit(3, on(2));
    world.submit(4, on(4));
    world.fail('5');
    world.fail('5+4');
    expect(world.state(5)).toBe('pending_failure');
    // It displaces 3, the first behind 5. Then 4 is the first, which failed too: 5 fails, and the run on top of it ends.
    world.submit(9, { priority: 0, ...on(2) });
    expect(world.outcome(5)).toBe('failed');
    expect(world.active().toSorted()).toEqual(['4', '9', '9+3']);
  });

  it('starts nothing over a budget that was made smaller', () => {
    const world = new World({ mode: 'parallel', concurrency: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr, on(pr));
    world.send({ kind: 'settings', settings: { concurrency: 1 } });
    world.submit(9, { priority: 0, ...on(9) });
    expect(world.active()).toEqual(['9']);
  });
});

describe('lanes', () => {
  it('fill a batch with what no longer overtakes anybody, in the same look', () => {
    const world = new World({ mode: 'parallel', batch: true, batchingMinSize: 3, concurrency: 2 });
    world.send({ kind: 'state', state: 'DRAINING' });
    world.submit(2, on(1));
    world.submit(3, on(1));
    world.submit(4, { noBatch: true, ...on(2) });
    world.submit(5, on(2));
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.active()).toEqual(['4', '4+2+3+5']);
  });

  it('blame nobody by a run that other lanes have overtaken', () => {
    const world = new World({ mode: 'parallel', canOptimisticallyMerge: true });
    world.submit(1, on(1, 2));
    world.submit(2, on(1));
    world.submit(3, on(2));
    // #1 is broken, and #2 repairs it: #3 was tested on top of #1 alone.
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
    world.fail('3');
    expect(world.state(3)).toBe('testing');
    world.pass('3');
    expect(world.facts.at(-1)).toMatchObject({ pr: 3, proof: { kind: 'exact' } });
  });

  it('test again what turns out to share a target with what landed in between', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.pass('2');
    world.send({ kind: 'targets', pr: 1, targets: Uint32Array.from([1, 2]) });
    world.pass('1');
    expect(world.facts.findLast((fact) => fact.kind === 'merged')).toMatchObject({
      pr: 1,
      proof: { kind: 'exact' },
    });
  });
});

describe('a host that is away', () => {
  it('is no reason to hold a plan that decides nothing against what happened meanwhile', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'host-away' });
    world.send({ kind: 'branch-moved', tip: 'X' });
    world.send({ kind: 'host-back' });
    expect(world.run('1').composition.base).toBe('X');
  });
});

it('does not keep the proof of a lane whose targets changed while it was landing with another', () => {
  const world = new World({ mode: 'parallel' });
  world.submit(1, { targets: Uint32Array.of(1) });
  world.submit(2, { targets: Uint32Array.of(2) });
  world.submit(3, { targets: Uint32Array.of(1) });
  world.pass('2');
  world.landsByItself = false;
  world.pass('1+3');
  world.pass('1');
  const { id: landing, members } = world.snapshot.landing!;
  expect(members).toEqual([1, 3]);
  world.send({ kind: 'targets', pr: 1, targets: Uint32Array.of(1, 2) });
  world.send({ kind: 'landing-refused', landing, pr: 3, reason: 'MERGE_REFUSED_BY_HOST' });
  // Its run was built without #2, which is on the branch now and shares a target with it.
  expect([world.snapshot.landing, world.active()]).toEqual([null, ['1']]);
});

it('takes in a conflict within a batch of which one has left before anybody looked', () => {
  const world = new World({ batch: true, batchingMinSize: 3, bisectionConcurrency: 2 });
  for (const pr of [1, 2, 3]) world.submit(pr);
  world.fail('1+2+3');
  const { id: run } = world.run('1+2');
  world.send({ kind: 'host-away' });
  world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
  world.send({ kind: 'conflict', run, pr: 2, with: 1 });
  world.send({ kind: 'host-back' });
  expect([world.outcome(1), world.state(2), world.state(3)]).toEqual(['cancelled', 'testing', 'testing']);
});

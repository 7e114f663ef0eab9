// What lands, by which proof, and what that makes of those that were tested on the branch as it was.
import { describe, expect, it } from 'vitest';
import type { QueueSettings } from '#core/queue/settings.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { World } from './world.ts';

const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });
const reasonsOf = (world: World, pr: number) =>
  world.facts.flatMap((fact) => (fact.kind === 'queued' && fact.pr === pr ? [fact.reason] : []));
const landsSlowly = (settings: Partial<QueueSettings> = {}) => {
  const world = new World(settings);
  world.landsByItself = false;
  return world;
};
const land = (world: World, tip: string) =>
  world.send({ kind: 'landed', landing: world.snapshot.landing!.id, tip });

describe('what lands', () => {
  it('is asked for with its members, its proof and the branch it goes on', () => {
    const world = landsSlowly();
    for (const pr of [1, 2]) world.submit(pr);
    const run = world.run('1').id;
    const { snapshot } = world;
    const passed = {
      ...snapshot,
      runs: new Map(snapshot.runs).set(run, { ...world.run('1'), status: 'passed' as const }),
    };
    const { actions } = plan(passed, 0);
    expect(actions).toEqual([
      {
        kind: 'land',
        landing: { id: snapshot.nextId, members: [1], proof: { kind: 'exact', run } },
        base: 'T',
      },
    ]);
  });

  it('is one thing at a time', () => {
    const world = landsSlowly({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.pass('1');
    const first = world.snapshot.landing!;
    world.pass('2');
    expect(world.snapshot.landing).toEqual(first);
    land(world, 'T1');
    expect(world.snapshot.landing).toMatchObject({ members: [2], proof: { kind: 'lane' } });
    expect(world.snapshot.landing!.id).toBeGreaterThan(first.id);
  });

  it('is the longest that is proved, and of equals the first', () => {
    const landsFirst = (...targets: number[]) => {
      const world = landsSlowly({ mode: 'parallel' });
      for (const [index, target] of targets.entries()) world.submit(index + 1, on(target));
      world.send({ kind: 'state', state: 'PAUSED' });
      for (const members of world.active()) world.pass(members);
      world.send({ kind: 'state', state: 'RUNNING' });
      return world.snapshot.landing?.members;
    };
    expect(landsFirst(1, 1, 2)).toEqual([1, 2]);
    expect(landsFirst(1, 2, 2)).toEqual([2, 3]);
    expect(landsFirst(1, 2)).toEqual([1]);
  });

  it('waits for those ahead, without optimistic merging', () => {
    const world = new World();
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.pass('1+2+3');
    world.pass('1');
    expect(world.merged()).toEqual([1]);
    expect([world.state(2), world.state(3)]).toEqual(['testing', 'tests_passed']);
    world.pass('2');
    expect(world.merged()).toEqual([1, 2, 3]);
  });

  it('says of everybody it proves that they passed, with optimistic merging', () => {
    const world = new World({ canOptimisticallyMerge: true });
    world.send({ kind: 'state', state: 'RUNNING' });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1+2');
    expect([1, 2, 3].map((pr) => world.state(pr))).toEqual(['tests_passed', 'tests_passed', 'testing']);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.merged()).toEqual([1, 2]);
    expect(world.active()).toEqual(['3']);
  });
});

describe('what was tested on top of what has landed', () => {
  it('goes on as what it is on the branch now', () => {
    const world = landsSlowly();
    for (const pr of [1, 2, 3]) world.submit(pr);
    const [two, three] = [world.run('1+2').id, world.run('1+2+3').id];
    world.pass('1');
    land(world, 'T1');
    expect(world.run('2')).toMatchObject({
      id: two,
      drifted: false,
      composition: { base: 'T1', members: [2], tested: 1 },
    });
    expect(world.run('2+3')).toMatchObject({ id: three, composition: { base: 'T1', members: [2, 3] } });
    expect([world.snapshot.items.has(1), world.snapshot.line.length]).toEqual([false, 2]);
    expect(world.facts.at(-1)).toEqual({
      kind: 'merged',
      pr: 1,
      reason: 'MERGE_GRAPH_MERGE',
      proof: expect.objectContaining({ kind: 'exact' }),
      tip: 'T1',
    });
  });

  it('in another lane goes on with a proof of its lane', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    const { id } = world.run('2');
    world.pass('1');
    expect(world.run('2')).toMatchObject({
      id,
      drifted: true,
      overtaken: false,
      composition: { base: 'T1' },
    });
  });

  it('begins anew if it shares a target with what landed beside it', () => {
    const world = landsSlowly({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.pass('1');
    world.send({ kind: 'targets', pr: 2, targets: Uint32Array.from([1, 2]) });
    const { id } = world.run('2');
    land(world, 'T1');
    expect(world.run('2').id).not.toBe(id);
    expect(world.run('2')).toMatchObject({ drifted: false, composition: { base: 'T1' } });
    expect(reasonsOf(world, 2).at(-1)).toBe('MANUAL_PUSH_TO_TARGET_BRANCH');
  });

  it('begins anew if any of it shares a target with what landed beside it', () => {
    const world = landsSlowly({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(2, 3));
    world.pass('1');
    world.send({ kind: 'targets', pr: 3, targets: Uint32Array.from([1, 2, 3]) });
    const [two, three] = [world.run('2').id, world.run('2+3').id];
    land(world, 'T1');
    expect(world.run('2').id).toBe(two);
    expect(world.run('2+3').id).not.toBe(three);
  });

  it('begins anew in a single line, where something else landed before it', () => {
    const world = landsSlowly({ directMergeMode: 'always' });
    world.submit(1, { ready: false });
    world.send({ kind: 'tested-on-tip', pr: 1, tip: 'T' });
    world.send({ kind: 'readiness', pr: 1, ready: true });
    expect(world.snapshot.landing).toMatchObject({ members: [1], proof: { kind: 'direct' } });
    world.submit(9, { priority: 0 });
    const { id } = world.run('9');
    land(world, 'T1');
    expect(world.facts.find(({ kind }) => kind === 'merged')).toMatchObject({
      reason: 'MERGE_GRAPH_DIRECT_MERGE',
    });
    expect(world.run('9').id).not.toBe(id);
    expect(world.run('9')).toMatchObject({ drifted: false, composition: { base: 'T1' } });
  });

  it('drifts where what landed stood in its middle, and is not overtaken by that', () => {
    const world = new World({ mode: 'parallel', canOptimisticallyMerge: true });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(1, 2));
    world.pass('2');
    expect(world.merged()).toEqual([2]);
    expect(world.run('1+3')).toMatchObject({ drifted: true, overtaken: false });
  });

  it('is not overtaken by one that it contains whole', () => {
    const world = new World({ mode: 'parallel', canOptimisticallyMerge: true });
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.submit(3, on(1));
    world.pass('1+2');
    expect(world.merged()).toEqual([1, 2]);
    expect(world.run('3')).toMatchObject({ drifted: false, overtaken: false });
  });
});

describe('a landing that does not happen', () => {
  it('because the branch moved begins everybody anew there', () => {
    const world = landsSlowly();
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1');
    world.send({ kind: 'landing-lost', landing: world.snapshot.landing!.id, tip: 'X' });
    expect([world.snapshot.landing, world.snapshot.tip, world.active()]).toEqual([null, 'X', ['1', '1+2']]);
    expect(reasonsOf(world, 1).at(-1)).toBe('MANUAL_PUSH_TO_TARGET_BRANCH');
  });

  it('lets those go that asked to leave meanwhile, and nobody else', () => {
    const world = landsSlowly();
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1+2');
    world.pass('1');
    world.send({ kind: 'ended', pr: 2, reason: 'USER_REQUESTED' });
    expect(world.snapshot.items.get(2)!.endRequested).toBe('USER_REQUESTED');
    expect(world.outcome(2)).toBeUndefined();
    world.send({ kind: 'landing-lost', landing: world.snapshot.landing!.id, tip: 'X' });
    expect(world.facts).toContainEqual({ kind: 'cancelled', pr: 2, reason: 'USER_REQUESTED' });
    expect([world.outcome(1), world.active()]).toEqual([undefined, ['1']]);
  });

  it('because the host will not have one of it lets the others go that asked to', () => {
    const world = landsSlowly();
    for (const pr of [1, 2, 3]) world.submit(pr);
    for (const members of ['1+2+3', '1+2', '1']) world.pass(members);
    world.send({ kind: 'ended', pr: 2, reason: 'USER_REQUESTED' });
    const landing = world.snapshot.landing!.id;
    world.send({ kind: 'landing-refused', landing, pr: 1, reason: 'MERGE_REFUSED_BY_HOST' });
    expect([1, 2, 3].map((pr) => world.outcome(pr))).toEqual(['failed', 'cancelled', undefined]);
    expect(world.active()).toEqual(['3']);
  });

  it('that happens after all takes with it who asked to leave', () => {
    const world = landsSlowly();
    world.submit(1);
    world.pass('1');
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    land(world, 'T1');
    expect([world.outcome(1), world.merged()]).toEqual(['merged', [1]]);
  });
});

describe('a merge by hand', () => {
  it('of one that is landing ends the landing, and the branch is where it was merged', () => {
    const world = landsSlowly();
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1');
    world.send({ kind: 'merged-by-hand', pr: 1, tip: 'H' });
    expect([world.snapshot.landing, world.snapshot.tip, world.active()]).toEqual([null, 'H', ['2']]);
    expect(reasonsOf(world, 2).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED');
  });

  it('of another while something lands does not say where the branch is', () => {
    const world = landsSlowly();
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1');
    const { landing } = world.snapshot;
    world.send({ kind: 'merged-by-hand', pr: 2, tip: 'H' });
    expect([world.snapshot.landing, world.snapshot.tip]).toEqual([landing, 'T']);
    expect(world.outcome(2)).toBe('merged');
  });
});

describe('a direct merge', () => {
  const direct = (settings: Partial<QueueSettings> = {}) =>
    landsSlowly({ directMergeMode: 'always', concurrency: 1, ...settings });
  const tested = (world: World, pr: number, tip = 'T') => {
    world.submit(pr, { ready: false });
    world.send({ kind: 'tested-on-tip', pr, tip });
    world.send({ kind: 'readiness', pr, ready: true });
  };

  it('lands at once what is tested on the tip', () => {
    const world = direct();
    const { nextId } = world.snapshot;
    tested(world, 1);
    expect(world.snapshot.landing).toEqual({ id: nextId, members: [1], proof: { kind: 'direct' } });
    expect(world.snapshot.nextId).toBe(nextId + 1);
    expect(world.active()).toEqual([]);
  });

  it('is not for what was tested on another tip, nor where it is off', () => {
    const stale = direct();
    tested(stale, 1, 'S');
    expect([stale.snapshot.landing, stale.active()]).toEqual([null, ['1']]);
    const off = direct({ directMergeMode: 'off' });
    tested(off, 1);
    expect([off.snapshot.landing, off.active()]).toEqual([null, ['1']]);
  });

  it('is not for one with others ahead of it, under test or pending', () => {
    const world = direct();
    world.submit(1);
    tested(world, 2);
    expect([world.snapshot.landing, world.state(2)]).toEqual([null, 'pending']);

    const pending = direct();
    pending.send({ kind: 'state', state: 'DRAINING' });
    pending.submit(1);
    pending.submit(2);
    pending.send({ kind: 'tested-on-tip', pr: 2, tip: 'T' });
    pending.send({ kind: 'state', state: 'RUNNING' });
    expect([pending.snapshot.landing, pending.active()]).toEqual([null, ['1']]);
  });

  it('is not for one that shares a target with somebody pending ahead of it', () => {
    const world = direct({ mode: 'parallel' });
    world.send({ kind: 'state', state: 'DRAINING' });
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.submit(3, on(3));
    for (const pr of [2, 3]) world.send({ kind: 'tested-on-tip', pr, tip: 'T' });
    const { actions, snapshot } = plan({ ...world.snapshot, state: 'RUNNING' }, 0);
    expect(snapshot.landing?.members).toEqual([3]);
    expect(actions).toEqual([{ kind: 'land', landing: snapshot.landing, base: 'T' }]);
  });

  it('is for one in a lane of its own', () => {
    const world = direct({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, { ready: false, ...on(2) });
    world.submit(3, { ready: false, ...on(1, 3) });
    for (const pr of [2, 3]) world.send({ kind: 'tested-on-tip', pr, tip: 'T' });
    world.send({ kind: 'readiness', pr: 3, ready: true });
    expect(world.snapshot.landing).toBeNull();
    world.send({ kind: 'readiness', pr: 2, ready: true });
    expect(world.snapshot.landing?.members).toEqual([2]);
  });

  it('waits for a landing under way, and for a queue that runs', () => {
    const world = direct({ mode: 'parallel', concurrency: 2 });
    world.submit(1, on(1));
    world.pass('1');
    const { landing } = world.snapshot;
    world.submit(2, { ready: false, ...on(2) });
    world.send({ kind: 'tested-on-tip', pr: 2, tip: 'T' });
    world.send({ kind: 'readiness', pr: 2, ready: true });
    expect(world.snapshot.landing).toEqual(landing);

    const paused = direct();
    paused.submit(1);
    paused.submit(2);
    paused.send({ kind: 'tested-on-tip', pr: 2, tip: 'T' });
    paused.send({ kind: 'state', state: 'PAUSED' });
    paused.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(paused.snapshot.landing).toBeNull();
    paused.send({ kind: 'state', state: 'RUNNING' });
    expect(paused.snapshot.landing?.members).toEqual([2]);
  });
});

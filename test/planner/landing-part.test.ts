// A landing that did not happen, or only in part: what becomes of the rest.
import { describe, expect, it } from 'vitest';
import type { QueueSettings } from '#core/queue/settings.ts';
import { observe } from '#core/queue/planner/observe.ts';
import { World } from './world.ts';

const reasonsOf = (world: World, pr: number) =>
  world.facts.flatMap((fact) => (fact.kind === 'queued' && fact.pr === pr ? [fact.reason] : []));

/** #1, #2 and #3 have passed, each on top of those ahead or as one batch, and are landing together. */
function landing(settings: Partial<QueueSettings>): World {
  const world = new World({ concurrency: 3, ...settings });
  world.landsByItself = false;
  for (const pr of [1, 2, 3]) world.submit(pr);
  world.send({ kind: 'state', state: 'PAUSED' });
  for (const members of world.active()) world.pass(members);
  world.send({ kind: 'state', state: 'RUNNING' });
  expect(world.snapshot.landing?.members).toEqual([1, 2, 3]);
  return world;
}
const asBatch = { batch: true, batchingMinSize: 3 };

/** The host merged #1 alone; then it refused #2, or (null) #2 and #3 may not land now. */
const stops = (world: World, pr: number | null) =>
  world.send({
    kind: 'landed-in-part',
    landing: world.snapshot.landing!.id,
    members: [1],
    tip: 'T1',
    pr,
    reason: pr === null ? null : 'MERGE_REFUSED_BY_HOST',
  });

describe('a batch of which the host merged a part', () => {
  it('is tested again without the entry that the host refused', () => {
    const world = landing(asBatch);
    stops(world, 2);
    expect(world.merged()).toEqual([1]);
    expect(world.outcome(2)).toBe('failed');
    expect(reasonsOf(world, 3).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_FAILED');
    expect(world.snapshot).toMatchObject({ tip: 'T1', landing: null });
    expect(world.active()).toEqual(['3']);
  });

  it('is tested again on the branch as it is now, if the rest may not land yet', () => {
    const world = landing(asBatch);
    stops(world, null);
    expect(world.merged()).toEqual([1]);
    for (const pr of [2, 3]) expect(reasonsOf(world, pr).at(-1)).toBe('MANUAL_PUSH_TO_TARGET_BRANCH');
    expect(world.run('2+3').composition).toEqual({ base: 'T1', members: [2, 3], tested: 2 });
  });

  it('says that an entry left if that is why the rest may not land', () => {
    const world = landing(asBatch);
    world.send({ kind: 'readiness', pr: 3, ready: false });
    stops(world, null);
    expect(reasonsOf(world, 2).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_CANCELLED');
    expect([world.state(2), world.state(3)]).toEqual(['testing', 'not_ready']);
    expect(world.active()).toEqual(['2']);
  });
});

describe('entries that were tested apart, of which the host merged the first', () => {
  it('keep what they have shown, and land next', () => {
    const world = landing({});
    stops(world, null);
    expect(world.merged()).toEqual([1]);
    expect([reasonsOf(world, 2), reasonsOf(world, 3)]).toEqual([
      ['MERGE_ITEM_NOW_READY'],
      ['MERGE_ITEM_NOW_READY'],
    ]);
    expect(world.snapshot.landing).toMatchObject({ members: [2, 3], proof: { kind: 'exact' } });
  });

  it('are tested again if they were tested on top of the entry that the host refused', () => {
    const world = landing({});
    stops(world, 2);
    expect(world.outcome(2)).toBe('failed');
    expect(reasonsOf(world, 3).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_FAILED');
    expect(world.run('3').composition.base).toBe('T1');
  });

  it('do not change by a late report about a pull request that is not landing', () => {
    const world = landing({});
    stops(world, 9);
    expect(world.merged()).toEqual([]);
    expect(world.snapshot.landing?.members).toEqual([1, 2, 3]);
  });

  it('are cancelled now if that was requested during the landing', () => {
    const world = landing({});
    world.send({ kind: 'ended', pr: 3, reason: 'PR_CLOSED' });
    expect(world.outcome(3)).toBeUndefined();
    stops(world, null);
    expect(world.outcome(3)).toBe('cancelled');
    expect(world.snapshot.landing?.members).toEqual([2]);
  });
});

describe('a landing that the host refused', () => {
  const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

  /** #2 and #3 share a lane and are landing together; #1 and #4 have lanes of their own. */
  function refused(isOvertaken: boolean): World {
    const world = new World({ mode: 'parallel', concurrency: 4 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(2));
    world.submit(4, on(4));
    if (isOvertaken) world.pass('1');
    world.landsByItself = false;
    world.send({ kind: 'state', state: 'PAUSED' });
    for (const members of ['2', '2+3']) world.pass(members);
    world.send({ kind: 'state', state: 'RUNNING' });
    const { id, members } = world.snapshot.landing!;
    expect(members).toEqual([2, 3]);
    const { id: other } = world.run('4');
    world.send({ kind: 'landing-refused', landing: id, pr: 3, reason: 'MERGE_REFUSED_BY_HOST' });
    expect(world.outcome(3)).toBe('failed');
    // The run of another lane continues.
    expect(world.run('4').id).toBe(other);
    return world;
  }

  it('leaves the rest with what it has shown on this branch', () => {
    const world = refused(false);
    expect(world.snapshot.landing).toMatchObject({ members: [2], proof: { kind: 'exact' } });
  });

  it('tests the rest again where other lanes landed in between, since its targets may have changed', () => {
    const world = refused(true);
    expect(reasonsOf(world, 2).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_FAILED');
    expect(world.run('2')).toMatchObject({ drifted: false, composition: { base: 'T1' } });
    expect(reasonsOf(world, 4)).toEqual(['MERGE_ITEM_NOW_READY']);
  });
});

describe('while a landing is in progress', () => {
  const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

  it('the end of one of its entries is left to the branch', () => {
    const { snapshot } = landing({});
    const { facts, snapshot: after } = observe(snapshot, { kind: 'ended', pr: 2, reason: 'PR_CLOSED' }, 0);
    expect(facts).toEqual([]);
    expect([...after.items.keys()]).toEqual([1, 2, 3]);
  });

  it('new targets do not change what lands, and afterwards they make a lane proof void', () => {
    const world = new World({ mode: 'parallel', concurrency: 4 });
    for (const pr of [1, 2, 3]) world.submit(pr, on(pr));
    world.pass('1');
    world.landsByItself = false;
    world.pass('2');
    expect(world.snapshot.landing).toMatchObject({ members: [2], proof: { kind: 'lane' } });
    const other = world.run('3').id;
    world.send({ kind: 'targets', pr: 2, targets: Uint32Array.of(3) });
    expect(world.snapshot.landing?.members).toEqual([2]);
    expect(world.state(2)).toBe('tests_passed');
    expect(world.run('3').id).toBe(other);
    world.send({ kind: 'targets', pr: 3, targets: Uint32Array.of(9) });
    expect(reasonsOf(world, 3).at(-1)).toBe('TESTS_RESTARTED_BY_API_REQUEST');
  });
});

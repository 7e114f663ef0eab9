// Why entries move: every ending says the right thing, and the states of a queue hold what they promise.
import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

const lastOf = (world: World, pr: number) => world.facts.findLast((fact) => 'pr' in fact && fact.pr === pr);

describe('an end says why', () => {
  it('merged on the proof of its run', () => {
    const world = new World();
    world.submit(1);
    const { id } = world.run('1');
    world.pass('1');
    expect(lastOf(world, 1)).toEqual({
      kind: 'merged',
      pr: 1,
      reason: 'MERGE_GRAPH_MERGE',
      proof: { kind: 'exact', run: id },
      tip: 'T1',
    });
  });

  it('merged directly, when its own checks passed on the tip and nobody was ahead', () => {
    const world = new World({ directMergeMode: 'always', concurrency: 1 });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.submit(1);
    world.send({ kind: 'tested-on-tip', pr: 1, tip: 'T' });
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(lastOf(world, 1)).toMatchObject({
      kind: 'merged',
      reason: 'MERGE_GRAPH_DIRECT_MERGE',
      proof: { kind: 'direct' },
    });
  });

  it('merged by hand, and what was tested on top of it begins anew on the branch as it is', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'merged-by-hand', pr: 1, tip: 'H' });
    expect(lastOf(world, 1)).toMatchObject({ kind: 'merged', reason: 'MANUAL_MERGE', proof: null, tip: 'H' });
    expect(
      world.facts.find(
        (fact) => fact.kind === 'queued' && fact.pr === 2 && fact.reason !== 'MERGE_ITEM_NOW_READY',
      ),
    ).toMatchObject({
      reason: 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED',
    });
    expect(world.run('2').composition.base).toBe('H');
  });

  it('failed by a required status, by time-outs, by never starting, by a conflict, by the host', () => {
    const red = new World();
    red.submit(1);
    red.fail('1');
    expect(lastOf(red, 1)).toMatchObject({ kind: 'failed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' });

    const slow = new World({ testingTimeoutMinutes: 10 });
    slow.submit(1);
    for (let round = 0; round < 2; round++) slow.advanceBegun(minutes(10));
    expect(lastOf(slow, 1)).toMatchObject({ kind: 'failed', reason: 'TEST_RUN_TIMEOUT' });

    const stuck = new World();
    stuck.submit(1);
    for (let attempt = 0; attempt < 5; attempt++) {
      stuck.send({ kind: 'run-not-started', run: stuck.run('1').id });
      if (stuck.wakeAt !== null && stuck.outcome(1) === undefined) stuck.advance(minutes(5));
    }
    expect(lastOf(stuck, 1)).toMatchObject({ kind: 'failed', reason: 'START_TEST_RUN_RETRY_EXHAUSTED' });

    const clashing = new World();
    clashing.submit(1);
    clashing.send({ kind: 'conflict', run: clashing.run('1').id, pr: 1, with: 'tip' });
    expect(lastOf(clashing, 1)).toMatchObject({ kind: 'failed', reason: 'START_TEST_RUN_MERGE_CONFLICT' });

    const refused = new World();
    refused.landsByItself = false;
    refused.submit(1);
    refused.pass('1');
    const { id: landing, members } = refused.snapshot.landing!;
    refused.send({ kind: 'landing-refused', landing, pr: members[0]!, reason: 'MERGE_REFUSED_BY_HOST' });
    expect(lastOf(refused, 1)).toMatchObject({ kind: 'failed', reason: 'MERGE_REFUSED_BY_HOST' });
  });
});

describe('a paused queue', () => {
  it('merges nothing, and lands what passed meanwhile when it runs again', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1');
    expect([world.state(1), world.snapshot.landing]).toEqual(['tests_passed', null]);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.merged()).toEqual([1]);
  });
});

describe('a failure depth', () => {
  it('of one waits for the next behind it, and not for those behind that', () => {
    const world = new World({ pendingFailureDepth: 1 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.fail('1');
    expect(world.state(1)).toBe('pending_failure');
    world.fail('1+2');
    expect(world.outcome(1)).toBe('failed');
  });

  it('waits for nobody in a lane of its own', () => {
    const world = new World({ mode: 'parallel', pendingFailureDepth: 2 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.fail('1');
    expect(world.outcome(1)).toBe('failed');
  });
});

describe('a batch that the machinery gave up on', () => {
  it('is not searched: each of it is tested alone', () => {
    const world = new World({ batch: true, batchingMinSize: 2, testingTimeoutMinutes: 10 });
    for (const pr of [1, 2]) world.submit(pr);
    for (let round = 0; round < 2; round++) world.advanceBegun(minutes(10));
    expect(world.active('search')).toEqual([]);
    expect(world.active()).toEqual(['1', '1+2']);
    expect(world.snapshot.line.map(({ members }) => members)).toEqual([[1], [2]]);
  });
});

describe('lanes', () => {
  it('land the longest that is proved first', () => {
    const world = new World({ mode: 'parallel' });
    world.landsByItself = false;
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(2));
    world.send({ kind: 'state', state: 'PAUSED' });
    for (const members of ['1', '2', '2+3']) world.pass(members);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.snapshot.landing!.members).toEqual([2, 3]);
  });

  it('blame by a run that only other lanes have overtaken, at once', () => {
    const world = new World({ mode: 'parallel', canOptimisticallyMerge: true });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.pass('1');
    world.fail('2');
    expect(world.outcome(2)).toBe('failed');
  });

  it('keep a search on the base it began with while others land', () => {
    const world = new World({ mode: 'parallel', batch: true, batchingMinSize: 2 });
    world.submit(1, on(1));
    world.submit(2, on(1));
    world.fail('1+2');
    const { base } = world.run('1').composition;
    world.submit(3, { ...on(3), noBatch: true });
    world.pass('3');
    expect(world.merged()).toEqual([3]);
    expect(world.run('1').composition.base).toBe(base);
    world.fail('1');
    expect(world.outcome(1)).toBe('failed');
  });
});

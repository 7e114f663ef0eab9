// Who fails, when, and by which evidence; and what people see of the line meanwhile.
import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });
const factsOf = (world: World, pr: number) => world.facts.filter((fact) => 'pr' in fact && fact.pr === pr);
const reasonsOf = (world: World, pr: number) =>
  factsOf(world, pr).flatMap((fact) => (fact.kind === 'queued' ? [fact.reason] : []));

describe('a failure', () => {
  it('on the branch itself is somebody’s, by that run', () => {
    const world = new World();
    world.submit(1);
    const failedRun = world.run('1').id;
    world.fail('1');
    expect(world.facts.at(-1)).toEqual({
      kind: 'failed',
      pr: 1,
      reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
      evidence: { failedRun },
    });
  });

  it('sends those on top back, and says why', () => {
    const world = new World();
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.fail('1');
    expect(world.active()).toEqual(['2', '2+3']);
    for (const pr of [2, 3])
      expect(reasonsOf(world, pr)).toEqual(['MERGE_ITEM_NOW_READY', 'PREREQUISITE_MERGE_ITEM_FAILED']);
  });

  it('in a paused queue is final all the same', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.fail('1');
    expect(world.outcome(1)).toBe('failed');
  });

  it('of a batch is searched, unless the machinery gave up', () => {
    const world = new World({ batch: true, batchingMinSize: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    expect(world.place(1)?.kind).toBe('search');
    expect(reasonsOf(world, 1)).toEqual(['MERGE_ITEM_NOW_READY', 'BISECTION_REQUIRED']);
  });

  it('of a batch that the machinery gave up on sends it back to be tested one by one', () => {
    const world = new World({ batch: true, batchingMinSize: 2, testingTimeoutMinutes: 10 });
    for (const pr of [1, 2]) world.submit(pr);
    for (let round = 0; round < 2; round++) world.advanceBegun(minutes(10));
    expect(reasonsOf(world, 2)).toEqual(['MERGE_ITEM_NOW_READY', 'BISECTION_REQUIRED']);
    expect(world.active()).toEqual(['1', '1+2']);
  });

  it('of a batch on top of others waits for them', () => {
    const world = new World({ batch: true, batchingMinSize: 2, concurrency: 2 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1+2+3+4');
    expect([world.state(3), world.active('search')]).toEqual(['pending_failure', []]);
    world.pass('1+2');
    expect(world.active('search')).toEqual(['3']);
  });

  it('is undone by a pass that contains it, with optimistic merging, and only then', () => {
    const world = new World({ canOptimisticallyMerge: true, pendingFailureDepth: 2 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.fail('1');
    world.pass('1+2');
    expect([world.state(1), world.state(2)]).toEqual(['tests_passed', 'tests_passed']);
    expect(world.outcome(1)).toBeUndefined();
    world.send({ kind: 'settings', settings: { canOptimisticallyMerge: false, pendingFailureDepth: 0 } });
    expect(world.outcome(1)).toBe('failed');
  });
});

describe('a failure depth of two', () => {
  it('waits for the two next, and not for the third', () => {
    const world = new World({ pendingFailureDepth: 2, concurrency: 4 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1');
    world.fail('1+2');
    expect(world.state(1)).toBe('pending_failure');
    world.fail('1+2+3');
    expect([world.outcome(1), world.active()]).toEqual(['failed', ['2', '2+3', '2+3+4']]);
  });

  it('counts only those that are tested on top of it', () => {
    const world = new World({ mode: 'parallel', pendingFailureDepth: 1, concurrency: 4 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(1));
    world.fail('1');
    expect(world.state(1)).toBe('pending_failure');
    world.fail('1+3');
    expect([world.outcome(1), world.state(2)]).toEqual(['failed', 'testing']);
  });
});

describe('what people see', () => {
  it('is said once, with the run that shows it', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1+2');
    world.fail('1+2');
    world.advance(0);
    expect(factsOf(world, 2).slice(1)).toEqual([
      { kind: 'testing', pr: 2, run: id },
      { kind: 'suspected', pr: 2, run: id },
    ]);
    expect(world.place(2)).toEqual({
      kind: 'line',
      group: world.snapshot.line[1]!.id,
      shown: 'pending_failure',
    });
  });

  it('is a pass when it passed, and tests again when it is restarted', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1+2');
    world.pass('1+2');
    expect(factsOf(world, 2).at(-1)).toEqual({ kind: 'passed', pr: 2, run: id });
    world.send({ kind: 'restart', pr: 2 });
    expect(factsOf(world, 2).at(-1)).toEqual({ kind: 'testing', pr: 2, run: world.run('1+2').id });
  });

  it('is no failure while the machinery is given another try', () => {
    const world = new World({ testingTimeoutMinutes: 10 });
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.advanceBegun(minutes(10));
    expect([world.state(1), world.active()]).toEqual(['testing', []]);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.active()).toEqual(['1', '1+2']);
    world.advanceBegun(minutes(10));
    expect(world.outcome(1)).toBe('failed');
  });
});

describe('those behind one that goes elsewhere', () => {
  it('begin anew when the batch ahead of them is searched', () => {
    const world = new World({ batch: true, batchingMinSize: 2, concurrency: 2 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1+2');
    expect(world.active('search')).toEqual(['1']);
    expect(world.active()).toEqual(['3+4']);
    expect(reasonsOf(world, 3).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_FAILED');
  });

  it('are all sent back in one look, also those behind those', () => {
    const world = new World({ mode: 'parallel', concurrency: 5 });
    world.submit(1, on(1));
    world.submit(2, on(1, 2));
    world.submit(3, on(2, 3));
    world.submit(4, on(4));
    const { id } = world.run('4');
    world.fail('1');
    expect(world.active()).toEqual(['4', '2', '2+3']);
    expect(world.run('4').id).toBe(id);
    expect(reasonsOf(world, 4)).toHaveLength(1);
  });

  it('are told what the one ahead did: failed, cancelled, or merged by hand', () => {
    const world = new World({ mode: 'parallel', concurrency: 9 });
    for (const pr of [1, 2, 3]) world.submit(pr, on(pr));
    for (const pr of [11, 12, 13]) world.submit(pr, on(pr - 10));
    world.fail('1');
    world.send({ kind: 'ended', pr: 2, reason: 'PR_CLOSED' });
    world.send({ kind: 'merged-by-hand', pr: 3, tip: 'H' });
    const last = (pr: number) => reasonsOf(world, pr).filter((reason) => reason.startsWith('PREREQUISITE'));
    expect([last(11), last(12), last(13)]).toEqual([
      ['PREREQUISITE_MERGE_ITEM_FAILED'],
      ['PREREQUISITE_MERGE_ITEM_CANCELLED'],
      ['PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED'],
    ]);
  });
});

describe('how somebody left', () => {
  it('is forgotten when no run names them any more', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'ended', pr: 1, reason: 'PR_CLOSED' });
    expect(world.snapshot.gone).toEqual(new Map());
    world.send({ kind: 'host-away' });
    world.submit(3);
    world.send({ kind: 'ended', pr: 2, reason: 'PR_CLOSED' });
    expect(world.snapshot.gone).toEqual(new Map([[2, 'cancelled']]));
    world.send({ kind: 'host-back' });
    expect(world.snapshot.gone).toEqual(new Map());
  });
});

// How the culprit of a batch is found, run by run.
import { describe, expect, it } from 'vitest';
import type { QueueSettings } from '#core/queue/settings.ts';
import { situations } from '#core/queue/planner/situation.ts';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

/** A batch of this many that has failed, and is searched. */
function searching(size: number, settings: Partial<QueueSettings> = {}): World {
  const world = new World({ batch: true, batchingMinSize: size, concurrency: 2, ...settings });
  for (let pr = 1; pr <= size; pr++) world.submit(pr);
  world.fail(prefix(size));
  return world;
}

const prefix = (length: number): string => Array.from({ length }, (_, index) => index + 1).join('+');
const searched = (world: World): number[] =>
  world.active('search').map((members) => members.split('+').length);
const factsOf = (world: World, pr: number) => world.facts.filter((fact) => 'pr' in fact && fact.pr === pr);
const reasonsOf = (world: World, pr: number) =>
  factsOf(world, pr).flatMap((fact) => (fact.kind === 'queued' ? [fact.reason] : []));

describe('the prefixes of a round', () => {
  it.each([
    [8, 1, [4]],
    [8, 2, [3, 5]],
    [8, 3, [2, 4, 6]],
    [9, 2, [3, 6]],
    [9, 4, [2, 4, 5, 7]],
    [5, 3, [1, 3, 4]],
    [4, 9, [1, 2, 3]],
    [3, 1, [2]],
    [2, 5, [1]],
  ])('of a batch of %i are spread evenly over %i slots', (size, slots, lengths) => {
    expect(searched(searching(size, { bisectionConcurrency: slots }))).toEqual(lengths);
  });

  it('are as many as the line has slots where searches have no budget of their own', () => {
    expect(searched(searching(8, { bisectionConcurrency: 0, concurrency: 3 }))).toEqual([2, 4, 6]);
    expect(searched(searching(8, { bisectionConcurrency: 1, concurrency: 3 }))).toEqual([4]);
  });

  it('are of the base that the batch failed on, and test nothing but the prefix', () => {
    const world = searching(4, { bisectionConcurrency: 1 });
    expect(world.run('1+2').composition).toEqual({ base: 'T', members: [1, 2], tested: 2 });
    expect(world.run('1+2').attempt).toBe(0);
  });
});

describe('what a prefix shows', () => {
  it('that passes leaves those behind it', () => {
    const world = searching(8, { bisectionConcurrency: 1 });
    world.pass(prefix(4));
    expect(searched(world)).toEqual([6]);
    world.pass(prefix(6));
    expect(searched(world)).toEqual([7]);
    world.fail(prefix(7));
    expect(world.outcome(7)).toBe('failed');
  });

  it('that fails leaves those in it', () => {
    const world = searching(8, { bisectionConcurrency: 1 });
    world.fail(prefix(4));
    expect(searched(world)).toEqual([2]);
    world.fail(prefix(2));
    expect(searched(world)).toEqual([1]);
    world.fail(prefix(1));
    expect(factsOf(world, 1).at(-1)).toMatchObject({
      kind: 'failed',
      reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
    });
  });

  it('stops the runs that no longer matter, and keeps those that do', () => {
    const world = searching(8, { bisectionConcurrency: 3 });
    world.fail(prefix(4));
    // The longer one is stopped; the round is not over before the shorter one has answered.
    expect(searched(world)).toEqual([2]);
    world.pass(prefix(2));
    expect(searched(world)).toEqual([3]);

    const other = searching(8, { bisectionConcurrency: 3 });
    other.pass(prefix(4));
    expect(searched(other)).toEqual([6]);
  });

  it('names the culprit by the run that failed with it, once exactly what passed without it has landed', () => {
    const world = searching(4, { bisectionConcurrency: 3 });
    world.landsByItself = false;
    const withIt = world.run('1+2+3').id;
    world.pass('1+2');
    world.fail('1+2+3');
    expect(world.outcome(3)).toBeUndefined();
    expect(world.active('search')).toEqual([]);
    world.send({ kind: 'landed', landing: world.snapshot.landing!.id, tip: 'T1' });
    expect(factsOf(world, 3).at(-1)).toMatchObject({ kind: 'failed', evidence: { failedRun: withIt } });
    expect(world.snapshot.searches).toEqual([]);
  });

  it('takes the shortest that fails and the longest that passes, in whatever order they answer', () => {
    for (const order of [
      ['4', '6', '2'],
      ['6', '2', '4'],
      ['2', '4', '6'],
    ]) {
      const world = searching(8, { bisectionConcurrency: 3 });
      const ids = new Map([2, 4, 6].map((length) => [String(length), world.run(prefix(length)).id]));
      // While the queue is paused no run is stopped, so that all three answer.
      world.send({ kind: 'state', state: 'PAUSED' });
      for (const length of order)
        world.send({ kind: length === '2' ? 'run-passed' : 'run-failed', run: ids.get(length)! });
      world.send({ kind: 'state', state: 'RUNNING' });
      expect(searched(world)).toEqual([3]);
      expect(world.snapshot.searches).toMatchObject([
        { passes: 2, fails: 4, passedRun: ids.get('2'), failedRun: ids.get('4') },
      ]);
    }
  });

  it('is dropped where a longer prefix passes: the whole batch is run again', () => {
    const world = searching(4, { bisectionConcurrency: 3 });
    const runs = ['1', '1+2', '1+2+3'].map((members) => world.run(members).id);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'run-failed', run: runs[1]! });
    world.send({ kind: 'run-passed', run: runs[2]! });
    expect(world.snapshot.searches).toMatchObject([{ passes: 3, fails: 4, failedRun: null }]);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.active('search')).toEqual(['1+2+3+4']);
  });
});

describe('an entry that its batch singles out while the branch moves', () => {
  /** #1 passes without #2 and fails with it; the branch has moved, so #1 does not land by that. */
  function singledOut(): World {
    const world = searching(2);
    world.send({ kind: 'branch-moved', tip: 'X' });
    world.pass('1');
    world.fail('1+2');
    return world;
  }

  it('is tested alone on the branch, and nothing waits for it', () => {
    const world = singledOut();
    expect(world.outcome(2)).toBeUndefined();
    expect(world.active('search')).toEqual(['2']);
    expect(world.run('2').composition).toEqual({ base: 'X', members: [2], tested: 1 });
    expect(world.active()).toEqual(['1']);
    expect(situations(world.snapshot).get(2)).toMatchObject({ kind: 'bisected', isAlone: true });
  });

  it('is removed if it fails there too', () => {
    const world = singledOut();
    const { id } = world.run('2');
    world.fail('2');
    expect(factsOf(world, 2).at(-1)).toMatchObject({ kind: 'failed', evidence: { failedRun: id } });
  });

  it('waits for the last entry before it if it passes, and fails on the branch with it', () => {
    const world = singledOut();
    world.pass('2');
    expect(world.state(2)).toBe('pending');
    expect(world.active()).toEqual(['1']);
    expect(situations(world.snapshot).get(2)).toMatchObject({ conflictsWith: 1, failedTogether: true });
    world.pass('1');
    expect(world.merged()).toEqual([1]);
    world.fail('2');
    expect(world.outcome(2)).toBe('failed');
  });

  it('lands if the entry before it is removed', () => {
    const world = singledOut();
    world.pass('2');
    world.fail('1');
    expect(world.outcome(1)).toBe('failed');
    world.pass('2');
    expect(world.merged()).toEqual([2]);
  });

  it('is tested alone if the landing that it waits for does not happen', () => {
    const world = searching(2);
    world.landsByItself = false;
    world.pass('1');
    world.fail('1+2');
    expect(world.active('search')).toEqual([]);
    world.send({ kind: 'landing-lost', landing: world.snapshot.landing!.id, tip: 'X' });
    expect(world.active('search')).toEqual(['2']);
  });
});

describe('the whole batch', () => {
  it('is run again once, when all before it passed', () => {
    const world = searching(2);
    world.pass('1');
    const { id } = world.run('1+2');
    world.advance(minutes(1));
    expect([world.active('search'), world.run('1+2').id]).toEqual([['1+2'], id]);
    world.fail('1+2');
    expect(factsOf(world, 2).at(-1)).toMatchObject({ kind: 'failed' });
  });

  it('that passes the second time blames nobody, and the search is over', () => {
    const world = searching(2);
    world.pass('1');
    world.pass('1+2');
    expect([world.outcome(1), world.outcome(2)]).not.toContain('failed');
    expect([world.snapshot.searches, world.active('search')]).toEqual([[], []]);
  });
});

describe('the end of a search', () => {
  it('sends the innocent back, and says so', () => {
    const world = searching(3, { bisectionConcurrency: 2 });
    world.submit(9, { noBatch: true });
    world.fail('1');
    expect(world.outcome(1)).toBe('failed');
    for (const pr of [2, 3])
      expect(reasonsOf(world, pr)).toEqual([
        'MERGE_ITEM_NOW_READY',
        'BISECTION_REQUIRED',
        'BISECTION_TEST_RUN_PASSED',
      ]);
    expect(world.active('search')).toEqual([]);
    // They are a batch again, without waiting for it to fill.
    expect(world.active()).toEqual(['9', '9+2+3']);
  });

  it('comes when one of the batch leaves, and the others are tested without it', () => {
    const world = searching(3);
    world.send({ kind: 'ended', pr: 2, reason: 'USER_REQUESTED' });
    expect(world.snapshot.searches).toEqual([]);
    expect(world.active('search')).toEqual([]);
    expect(world.active()).toEqual(['1+3']);
  });

  it('comes for one search and not for another', () => {
    const world = new World({ batch: true, batchingMinSize: 2, concurrency: 4, mode: 'parallel' });
    for (const pr of [1, 2]) world.submit(pr, on(1));
    for (const pr of [3, 4]) world.submit(pr, on(2));
    world.fail('1+2');
    world.fail('3+4');
    expect(world.active('search')).toEqual(['1', '3']);
    world.fail('1');
    expect([world.outcome(1), world.outcome(3)]).toEqual(['failed', undefined]);
    expect(world.active('search')).toEqual(['3']);
    expect(world.snapshot.searches).toHaveLength(1);
    world.pass('3');
    expect(world.active('search')).toEqual(['3+4']);
  });
});

describe('several searches', () => {
  it('share one budget', () => {
    const world = new World({
      batch: true,
      batchingMinSize: 4,
      concurrency: 4,
      bisectionConcurrency: 3,
      mode: 'parallel',
    });
    for (const pr of [1, 2, 3, 4]) world.submit(pr, on(1));
    for (const pr of [5, 6, 7, 8]) world.submit(pr, on(2));
    world.fail('1+2+3+4');
    world.fail('5+6+7+8');
    expect(world.active('search')).toEqual(['1', '1+2', '1+2+3']);
    world.pass('1+2');
    // #1 is known to pass by the longer one: its slot is free for the other search.
    expect(world.active('search')).toEqual(['1+2+3', '5', '5+6+7']);
  });
});

describe('the machinery of a search', () => {
  it('that could not start a run tries again after a pause, and wakes for it', () => {
    const world = searching(2, { testingTimeoutMinutes: 0 });
    world.send({ kind: 'run-not-started', run: world.run('1').id });
    expect(world.active('search')).toEqual([]);
    expect(world.wakeAt).toBe(15_000);
    world.advance(14_999);
    expect(world.active('search')).toEqual([]);
    world.advance(1);
    const { id } = world.run('1');
    expect(world.run('1')).toMatchObject({ attempt: 1, of: { kind: 'search' } });
    world.advance(1);
    expect([world.run('1').id, world.active('search')]).toEqual([id, ['1']]);
  });

  it('that starts a prefix late does not make it forget that a longer one passed', () => {
    const world = searching(8, { bisectionConcurrency: 3 });
    const longer = world.run(prefix(4)).id;
    world.send({ kind: 'run-not-started', run: world.run(prefix(2)).id });
    world.advance(15_000);
    const late = world.run(prefix(2)).id;
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'run-passed', run: longer });
    world.send({ kind: 'run-passed', run: late });
    expect(world.snapshot.searches).toMatchObject([{ passes: 4, passedRun: longer }]);
  });

  /** Two searches with one slot: the run of the first could not be started, and the second has the slot. */
  const crowded = () => {
    const settings = { batch: true, batchingMinSize: 2, concurrency: 4, bisectionConcurrency: 1 };
    const world = new World({ ...settings, mode: 'parallel' });
    for (const pr of [1, 2]) world.submit(pr, on(1));
    for (const pr of [3, 4]) world.submit(pr, on(2));
    world.fail('1+2');
    world.fail('3+4');
    expect(world.active('search')).toEqual(['1']);
    world.send({ kind: 'run-not-started', run: world.run('1').id });
    world.advance(minutes(1));
    expect(world.active('search')).toEqual(['3']);
    return world;
  };

  it('waits for a slot with what is tried again', () => {
    const world = crowded();
    world.fail('3');
    expect(world.active('search')).toEqual(['1']);
  });

  it('waits for a slot with the whole batch as well', () => {
    const world = crowded();
    world.pass('3');
    expect(world.active('search')).toEqual(['1']);
    world.fail('1');
    expect(world.active('search')).toEqual(['3+4']);
  });

  it('that is given up on ends the search: each is tested alone, and nobody is to blame', () => {
    const world = searching(3, { bisectionConcurrency: 1, testingTimeoutMinutes: 10 });
    world.advanceBegun(minutes(10));
    expect(world.active('search')).toEqual(['1+2']);
    world.advanceBegun(minutes(10));
    expect(world.active('search')).toEqual([]);
    expect([1, 2, 3].map((pr) => world.outcome(pr))).toEqual([undefined, undefined, undefined]);
    expect(world.active()).toEqual(['1', '1+2']);
    expect(world.snapshot.line.map(({ members }) => members)).toEqual([[1], [2]]);
  });
});

describe('a search that the machinery ends', () => {
  const timeOutTwice = (world: World) => {
    for (let round = 0; round < 2; round++) world.advanceBegun(minutes(10));
  };

  it('blames nobody of those that are still suspected', () => {
    const world = searching(8, { bisectionConcurrency: 1, testingTimeoutMinutes: 10 });
    world.fail(prefix(4));
    timeOutTwice(world);
    expect(world.snapshot.searches).toEqual([]);
    expect(world.facts.filter(({ kind }) => kind === 'failed')).toEqual([]);
  });

  it('blames nobody for what is left over when the whole batch could not be run again', () => {
    const world = searching(2, { testingTimeoutMinutes: 10 });
    world.pass('1');
    expect(world.active('search')).toEqual(['1+2']);
    timeOutTwice(world);
    expect(world.snapshot.searches).toEqual([]);
    expect(world.facts.filter(({ kind }) => kind === 'failed')).toEqual([]);
  });
});

describe('a paused queue', () => {
  it('starts no prefix', () => {
    const world = searching(8, { bisectionConcurrency: 1 });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass(prefix(4));
    expect(searched(world)).toEqual([]);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(searched(world)).toEqual([6]);
  });
});

describe('the prefix that passed', () => {
  it('lands as it is in a lane of its own, and the culprit is out', () => {
    const world = new World({ batch: true, batchingMinSize: 2, concurrency: 3, mode: 'parallel' });
    for (const pr of [1, 2]) world.submit(pr, on(1));
    world.fail('1+2');
    world.submit(3, { noBatch: true, ...on(2) });
    world.pass('1');
    world.fail('1+2');
    expect(world.merged()).toEqual([1]);
    expect(factsOf(world, 1).map(({ kind }) => kind)).toEqual([
      'queued',
      'testing',
      'queued',
      'passed',
      'merged',
    ]);
    expect(world.active()).toEqual(['3']);
  });

  it('is given up when one of the batch is no longer ready, and the others are tested without it', () => {
    const world = searching(3, { bisectionConcurrency: 2 });
    world.send({ kind: 'readiness', pr: 1, ready: false });
    expect(world.snapshot.searches).toEqual([]);
    expect([world.state(1), world.active()]).toEqual(['not_ready', ['2+3']]);
    world.pass('2+3');
    expect(world.merged()).toEqual([2, 3]);
  });

  it('is not said to have passed where the branch has moved on', () => {
    const world = searching(2);
    world.send({ kind: 'branch-moved', tip: 'X' });
    world.pass('1');
    world.fail('1+2');
    expect(factsOf(world, 1).map(({ kind }) => kind)).not.toContain('passed');
    expect(reasonsOf(world, 1).at(-1)).toBe('BISECTION_TEST_RUN_PASSED');
  });

  it('has numbers of its own', () => {
    const world = searching(2);
    world.landsByItself = false;
    world.pass('1');
    world.fail('1+2');
    const { landing, line, nextId } = world.snapshot;
    expect(landing!.members).toEqual([1]);
    expect(landing!.id).toBeGreaterThan(line[0]!.id);
    expect(nextId).toBeGreaterThan(landing!.id);
  });
});

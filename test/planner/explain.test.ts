// What people read when they ask why a change is where it is.
import { describe, expect, it } from 'vitest';
import { explain } from '#core/queue/planner/explain.ts';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });
const told = (world: World, pr: number) => explain(world.snapshot, pr, world.now);

describe('one that is not in the line', () => {
  it('misses something, or waits for the queue to admit it', () => {
    const world = new World();
    world.submit(1, { ready: false });
    expect(told(world, 1)).toEqual([
      'It is not ready: its base branch, its mergeability or its impacted targets are missing.',
    ]);
    world.send({ kind: 'state', state: 'DRAINING' });
    world.send({ kind: 'readiness', pr: 1, ready: true });
    expect(told(world, 1)).toEqual([
      'It is ready, and enters the line as soon as the queue admits it.',
      'The queue is draining: it finishes what was admitted before and admits nothing new until its state is RUNNING again.',
    ]);
  });

  it('is not explained if it is not live', () => {
    expect(told(new World(), 1)).toEqual([]);
  });
});

describe('one that is pending', () => {
  it('is next, or is told who is before it, while all slots are taken', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2, 3, 4, 5, 6, 7]) world.submit(pr);
    expect([2, 3, 4, 5, 6, 7].flatMap((pr) => told(world, pr))).toEqual([
      'It is next: the one test slot is taken, and it gets the first that is free.',
      '#2 is before it, and the one test slot is taken.',
      '#2, #3 are before it, and the one test slot is taken.',
      '#2, #3, #4 are before it, and the one test slot is taken.',
      '#2, #3, #4 and 1 more are before it, and the one test slot is taken.',
      '#2, #3, #4 and 2 more are before it, and the one test slot is taken.',
    ]);
  });

  it('counts only slots of the line as taken: a search has its own', () => {
    const world = new World({ batch: true, batchingMinSize: 2, concurrency: 2, bisectionConcurrency: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    world.submit(3);
    world.submit(4);
    world.submit(5);
    expect(world.active('search')).toEqual(['1']);
    expect(told(world, 5)[0]).toMatch(/^Its batch fills/);
  });

  it('waits for its batch to fill', () => {
    const world = new World({ batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 7 });
    world.submit(1);
    expect(told(world, 1)).toEqual([
      'Its batch fills: it starts with 3 pull requests, or when the oldest has waited 7 min.',
    ]);
  });

  it('waits for nobody’s batch when it is tested alone', () => {
    const world = new World({ batch: true, batchingMinSize: 3 });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'state', state: 'RUNNING' });
    world.submit(1, { noBatch: true });
    world.submit(2, { priority: 0 });
    world.submit(3);
    world.send({ kind: 'branch-moved', tip: 'X' });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'branch-moved', tip: 'Y' });
    expect([told(world, 2)[0], told(world, 1)[0], told(world, 3)[0]]).toEqual([
      'It is next, and starts with the queue’s next look.',
      'It waits for #2, before it in the line.',
      'Its batch fills: it starts with 3 pull requests, or when the oldest has waited 5 min.',
    ]);
  });

  it('waits for the one it conflicts with, until that one has left', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'conflict', run: world.run('1+2').id, pr: 2, with: 1 });
    expect(told(world, 2)).toEqual([
      'It conflicts with #1, which is ahead of it: it waits until that one has landed or left.',
    ]);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(told(world, 2)).toEqual([
      'It is next, and starts with the queue’s next look.',
      'The queue is paused: nothing is admitted, tested or merged until its state is RUNNING again.',
    ]);
  });
});

describe('one in the line', () => {
  it('is told since when its tests were asked for, on what, and until when they must begin', () => {
    const world = new World();
    world.now = minutes(2);
    for (const pr of [1, 2]) world.submit(pr);
    world.advance(minutes(3));
    expect([...told(world, 1), ...told(world, 2)]).toEqual([
      'Its tests were asked for 3 min ago and have not begun. It times out in 57 min. It is tested on the branch.',
      'Its tests were asked for 3 min ago and have not begun. It times out in 57 min. It is tested on top of #1.',
    ]);
  });

  it('is told how long its tests run, and when they time out if they do', () => {
    const world = new World({ testingTimeoutMinutes: 30 });
    world.submit(1);
    world.advance(minutes(2));
    world.send({ kind: 'run-started', run: world.run('1').id });
    world.advance(minutes(10));
    expect(told(world, 1)).toEqual([
      'Its tests have run for 10 min. It times out in 20 min. It is tested on the branch.',
    ]);
    world.send({ kind: 'settings', settings: { testingTimeoutMinutes: 0 } });
    expect(told(world, 1)).toEqual(['Its tests have run for 10 min. It is tested on the branch.']);
  });

  it('is told no negative time by a clock that is behind', () => {
    const world = new World();
    world.submit(1);
    expect(explain(world.snapshot, 1, -minutes(5))[0]).toMatch(/^Its tests were asked for 0 min ago/);
  });

  it('lands next when it passed on the branch, or once those ahead can', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1+2');
    expect(told(world, 2)[0]).toBe('Its tests passed on top of #1: it lands once #1 can.');
    world.pass('1');
    expect(told(world, 1)[0]).toBe('Its tests passed: it lands next.');
  });

  it('is tried again when the machinery failed', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'run-not-started', run: world.run('1').id });
    expect(told(world, 1)).toEqual(['CI gave no result about it. Its tests are repeated after a pause.']);
  });

  it('is told whom its failure waits for', () => {
    const world = new World();
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.fail('1+2');
    world.fail('1+2+3');
    expect([...told(world, 2), ...told(world, 3)]).toEqual([
      'Its tests failed on top of #1: whether it is to blame is known once #1 has passed.',
      'Its tests failed on top of #1, #2: whether it is to blame is known once #1, #2 have passed.',
    ]);
  });

  it('is told that those behind it are waited for, or that its batch is searched next', () => {
    const world = new World({ pendingFailureDepth: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1');
    expect(told(world, 1)).toEqual([
      'Its tests failed: the next pull requests behind it are waited for before that is final.',
    ]);

    const batches = new World({ batch: true, batchingMinSize: 2, pendingFailureDepth: 1 });
    for (const pr of [1, 2, 3, 4]) batches.submit(pr);
    batches.fail('1+2');
    expect(told(batches, 2)).toEqual(['The tests of its batch failed: the culprit is searched for next.']);
  });

  it('is explained by its own group’s latest run, whatever other lanes do', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.send({ kind: 'run-started', run: world.run('2').id });
    world.advance(minutes(4));
    expect(told(world, 1)[0]).toMatch(/^Its tests were asked for 4 min ago/);
    expect(told(world, 2)[0]).toMatch(/^Its tests have run for 4 min/);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1');
    expect(told(world, 1)[0]).toBe('Its tests passed: it lands next.');
  });

  it('is told that its tests begin where it has none yet', () => {
    const world = new World();
    world.submit(1);
    expect(explain({ ...world.snapshot, runs: new Map() }, 1, 0)).toEqual([
      'Its tests begin with the queue’s next look.',
    ]);
    expect(explain({ ...world.snapshot, line: [] }, 1, 0)).toEqual([
      'Its tests begin with the queue’s next look.',
    ]);
  });

  it('is landing, and then nothing else matters', () => {
    const world = new World();
    world.landsByItself = false;
    world.submit(1);
    world.pass('1');
    world.send({ kind: 'state', state: 'PAUSED' });
    expect(told(world, 1)).toEqual(['It is landing: its commits are being put on the branch.']);
  });
});

describe('one in a batch that is searched', () => {
  const searching = () => {
    const world = new World({ batch: true, batchingMinSize: 4, bisectionConcurrency: 3 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1+2+3+4');
    return world;
  };

  it('is told who is suspected', () => {
    const world = searching();
    expect(told(world, 1)).toEqual([
      'The tests of its batch failed, and the culprit is searched for: #1, #2, #3 and 1 more are suspected. The others go back to the line.',
    ]);
    world.pass('1');
    world.fail('1+2+3');
    expect(told(world, 1)[0]).toContain(': #2, #3 are suspected.');
  });

  it('is told of a single suspect when only the last of the batch is left', () => {
    const world = searching();
    for (const prefix of ['1', '1+2', '1+2+3']) world.pass(prefix);
    expect(told(world, 1)[0]).toContain(': #4 is suspected.');
  });

  it('is told that the search begins where there is none yet', () => {
    const world = searching();
    expect(explain({ ...world.snapshot, searches: [] }, 1, 0)).toEqual([
      'The tests of its batch failed: the culprit is searched for next.',
    ]);
    const [search] = world.snapshot.searches;
    const searches = [{ ...search!, id: 999, members: [5, 6] }, search!];
    expect(explain({ ...world.snapshot, searches }, 1, 0)[0]).toContain('#1, #2, #3');
  });
});

describe('the state of the queue', () => {
  it('is told where it is the reason', () => {
    const world = new World();
    world.submit(1);
    expect(told(world, 1)).toHaveLength(1);
    world.send({ kind: 'state', state: 'DRAINING' });
    expect(told(world, 1)).toHaveLength(1);
    world.send({ kind: 'state', state: 'PAUSED' });
    expect(told(world, 1).at(-1)).toBe(
      'The queue is paused: nothing is admitted, tested or merged until its state is RUNNING again.',
    );
    world.send({ kind: 'state', state: 'RUNNING' });
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    // What is under test goes on; what is not waits for it.
    expect(told(world, 1)).toHaveLength(1);
    world.submit(2);
    expect(told(world, 2).at(-1)).toBe(
      'The queue is switching modes: it admits nothing until what is under test has finished.',
    );
  });

  it('is told first when the host does not answer', () => {
    const world = new World();
    world.landsByItself = false;
    world.submit(1);
    world.send({ kind: 'host-away' });
    expect(told(world, 1)).toEqual([
      'Its host does not answer: nothing is decided until it does.',
      'Its tests were asked for 0 min ago and have not begun. It times out in 60 min. It is tested on the branch.',
    ]);
    world.send({ kind: 'host-back' });
    world.pass('1');
    world.send({ kind: 'host-away' });
    expect(told(world, 1)).toEqual([
      'Its host does not answer: nothing is decided until it does.',
      'It is landing: its commits are being put on the branch.',
    ]);
  });
});

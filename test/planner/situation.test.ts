// What people read when they ask why a change is where it is.
import { describe, expect, it } from 'vitest';
import { linePlaces } from '#core/queue/engine/line-place.ts';
import type { Snapshot } from '#core/queue/planner/model.ts';
import { queueSituation, situations } from '#core/queue/planner/situation.ts';
import { explainSituation, type QueueSituation, type Situation } from '#core/queue/situation.ts';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

/** What people read of an entry: its situation as the database keeps it, in the order that the database has. */
function explain(snapshot: Snapshot, pr: number, now: number): string | null {
  const stored = <Value>(value: Value) => JSON.parse(JSON.stringify(value)) as Value;
  const situation = situations(snapshot).get(pr);
  if (situation === undefined) return null;
  const places = [...linePlaces(snapshot, now)].toSorted(
    ([, a], [, b]) => a.rank - b.rank || a.major - b.major || a.minor - b.minor,
  );
  return explainSituation(stored<Situation>(situation), {
    settings: snapshot.settings,
    position: places.findIndex(([other]) => other === pr),
    queueSituation: stored<QueueSituation>(queueSituation(snapshot, now)),
    run: null,
    now,
  });
}

const explanation = (world: World, pr: number) => explain(world.snapshot, pr, world.now);

it('has no situation before it is in the queue', () => {
  const world = new World();
  world.submit(1, { ready: false });
  expect([explanation(world, 1), explanation(world, 2)]).toEqual([null, null]);
});

describe('one that is pending', () => {
  it('is next, or waits for the pull request before it, while all slots are taken', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2, 3, 4, 5, 6, 7]) world.submit(pr);
    expect([2, 3, 4, 5, 6, 7].map((pr) => explanation(world, pr))).toEqual([
      'It is next, but the only test slot is taken. Its tests start when a slot is free.',
      '#2 is ahead of it, and the only test slot is taken.',
      '#2, #3 are ahead of it, and the only test slot is taken.',
      '#2, #3, #4 are ahead of it, and the only test slot is taken.',
      '#2, #3, #4 and 1 more are ahead of it, and the only test slot is taken.',
      '#2, #3, #4 and 2 more are ahead of it, and the only test slot is taken.',
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
    expect(explanation(world, 5)).toMatch(/^Its batch is filling/);
  });

  it('waits for its batch to fill', () => {
    const world = new World({ batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 7 });
    world.submit(1);
    expect(explanation(world, 1)).toBe(
      'Its batch is filling. Tests start with 3 pull requests, or when the oldest has waited 7 min.',
    );
  });

  it('waits for no batch when it is tested alone', () => {
    const world = new World({ batch: true, batchingMinSize: 3 });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'state', state: 'RUNNING' });
    world.submit(1, { noBatch: true });
    world.submit(2, { priority: 0 });
    world.submit(3);
    world.send({ kind: 'branch-moved', tip: 'X' });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'branch-moved', tip: 'Y' });
    expect([explanation(world, 2), explanation(world, 1), explanation(world, 3)]).toEqual([
      'It is next; tests start within seconds.',
      'It waits for #2, ahead of it in the queue.',
      'Its batch is filling. Tests start with 3 pull requests, or when the oldest has waited 5 min.',
    ]);
  });

  it('waits for the one it conflicts with, until that one has left', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'conflict', run: world.run('1+2').id, pr: 2, with: 1 });
    expect(explanation(world, 2)).toBe(
      'It conflicts with #1, which is ahead of it. It waits until #1 merges or is removed from the queue.',
    );
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'ended', pr: 1, reason: 'USER_REQUESTED' });
    expect(explanation(world, 2)).toBe('It is next; tests start within seconds.');
  });

  it('waits for no batch when the bisection of its own was given up, and it is tested alone', () => {
    const world = new World({ batch: true, batchingMinSize: 4 });
    for (const pr of [1, 2]) world.submit(pr);
    world.advance(minutes(5));
    world.fail('1+2');
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'conflict', run: world.run('1').id, pr: 1, with: 9 });
    expect(world.place(2)).toMatchObject({ kind: 'pending', alone: true });
    expect(explanation(world, 2)).toBe('It waits for #1, ahead of it in the queue.');
  });
});

describe('one in the line', () => {
  it('says since when its tests were asked for, on what, and until when they must begin', () => {
    const world = new World();
    world.now = minutes(2);
    for (const pr of [1, 2]) world.submit(pr);
    world.advance(minutes(3));
    expect([explanation(world, 1), explanation(world, 2)]).toEqual([
      'Its tests were requested 3 min ago and have not started. It times out in 57 min. It is tested with the branch as it is now.',
      'Its tests were requested 3 min ago and have not started. It times out in 57 min. It is tested with the branch and #1 ahead of it.',
    ]);
  });

  it('says how long its tests run, and when they time out if they do', () => {
    const world = new World({ testingTimeoutMinutes: 30 });
    world.submit(1);
    world.advance(minutes(2));
    world.send({ kind: 'run-started', run: world.run('1').id });
    world.advance(minutes(10));
    expect(explanation(world, 1)).toBe(
      'Its tests have been running for 10 min. It times out in 20 min. It is tested with the branch as it is now.',
    );
    world.send({ kind: 'settings', settings: { testingTimeoutMinutes: 0 } });
    expect(explanation(world, 1)).toBe(
      'Its tests have been running for 10 min. It is tested with the branch as it is now.',
    );
  });

  it('is given its time from when CI began, and an outage of the host moves that', () => {
    const world = new World({ testingTimeoutMinutes: 60 });
    world.submit(1);
    world.advance(minutes(30));
    world.send({ kind: 'run-started', run: world.run('1').id });
    world.advance(minutes(20));
    expect(explanation(world, 1)).toBe(
      'Its tests have been running for 20 min. It times out in 40 min. It is tested with the branch as it is now.',
    );
    world.send({ kind: 'host-away' });
    world.advance(minutes(100));
    expect(explanation(world, 1)).toMatch(/have been running for 20 min\. It times out in 40 min/);
    world.send({ kind: 'host-back' });
    expect(explanation(world, 1)).toMatch(/have been running for 20 min\. It times out in 40 min/);
  });

  it('names no negative time by a clock that is behind', () => {
    const world = new World();
    world.submit(1);
    expect(explain(world.snapshot, 1, -minutes(5))).toMatch(/^Its tests were requested 0 min ago/);
  });

  it('lands next when it passed on the branch, or once those ahead can', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1+2');
    expect(explanation(world, 2)).toBe('Its tests passed with #1 ahead of it. It merges as soon as #1 can.');
    world.pass('1');
    expect(explanation(world, 1)).toBe('Its tests passed. It merges next.');
  });

  it('has passed when a run that contains it has, where that proves it', () => {
    const world = new World({ canOptimisticallyMerge: true });
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1+2');
    expect([world.state(1), explanation(world, 1)]).toEqual([
      'tests_passed',
      'Its tests passed. It merges next.',
    ]);
  });

  it('is tried again when the machinery failed', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'run-not-started', run: world.run('1').id });
    expect(explanation(world, 1)).toBe('CI gave no result. Signalbox repeats its tests after a pause.');
  });

  it('names the pull requests that its failure waits for', () => {
    const world = new World();
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.fail('1+2');
    world.fail('1+2+3');
    expect([explanation(world, 2), explanation(world, 3)]).toEqual([
      'Its tests failed with #1 ahead of it. Signalbox knows whether this pull request is the cause once #1 has merged.',
      'Its tests failed with #1, #2 ahead of it. Signalbox knows whether this pull request is the cause once #1, #2 have merged.',
    ]);
    // #1 has passed, which settles nothing until it has landed.
    world.landsByItself = false;
    world.pass('1');
    expect(explanation(world, 2)).toMatch(/once #1 has merged/);
  });

  it('explains that Signalbox waits for the runs behind it, or that its batch is bisected next', () => {
    const world = new World({ pendingFailureDepth: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1');
    expect(explanation(world, 1)).toBe(
      'Its tests failed. Signalbox waits for the pull requests behind it before it decides.',
    );

    const batches = new World({ batch: true, batchingMinSize: 2, pendingFailureDepth: 1 });
    for (const pr of [1, 2, 3, 4]) batches.submit(pr);
    batches.fail('1+2');
    expect(explanation(batches, 2)).toBe('The tests of its batch failed. Signalbox bisects the batch next.');
  });

  it('is explained by its own group’s latest run, whatever other lanes do', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.send({ kind: 'run-started', run: world.run('2').id });
    world.advance(minutes(4));
    expect(explanation(world, 1)).toMatch(/^Its tests were requested 4 min ago/);
    expect(explanation(world, 2)).toMatch(/^Its tests have been running for 4 min/);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.pass('1');
    expect(explanation(world, 1)).toBe('Its tests passed. It merges next.');
  });

  it('is landing, and then nothing else matters', () => {
    const world = new World();
    world.landsByItself = false;
    world.submit(1);
    world.pass('1');
    world.send({ kind: 'state', state: 'PAUSED' });
    expect(explanation(world, 1)).toBe('Signalbox is merging it now.');
  });
});

describe('one in a batch that is bisected', () => {
  const bisecting = (count: number, bisectionConcurrency: number) => {
    const prs = Array.from({ length: count }, (_, index) => index + 1);
    const world = new World({ batch: true, batchingMinSize: count, bisectionConcurrency });
    for (const pr of prs) world.submit(pr);
    world.fail(prs.join('+'));
    return world;
  };
  const sentence = (found: string) =>
    `The tests of its batch failed, and Signalbox bisects the batch: ${found}. All but the culprit return to the queue.`;

  it('names the pull requests that are suspected, and those that are cleared', () => {
    const world = bisecting(4, 3);
    expect(explanation(world, 1)).toBe(sentence('#1, #2, #3 and 1 more are suspected'));
    world.pass('1');
    world.fail('1+2+3');
    expect(explanation(world, 1)).toBe(sentence('#2, #3 are suspected, #1 is cleared'));
  });

  it('suspects none that passed, whatever prefix is under test', () => {
    const world = bisecting(8, 1);
    world.pass('1+2+3+4');
    expect(world.active('search')).toEqual(['1+2+3+4+5+6']);
    for (const pr of [1, 5, 8])
      expect(explanation(world, pr)).toBe(
        sentence('#5, #6, #7 and 1 more are suspected, #1, #2, #3 and 1 more are cleared'),
      );
  });

  it('names a single suspect when only the last of the batch is left', () => {
    const world = bisecting(4, 3);
    for (const prefix of ['1', '1+2', '1+2+3']) world.pass(prefix);
    expect(explanation(world, 1)).toBe(sentence('#4 is suspected, #1, #2, #3 are cleared'));
  });
});

it('an entry that is not ready is neither under test nor ahead of another', () => {
  const world = new World({ concurrency: 2 });
  for (const pr of [1, 2, 3, 4]) world.submit(pr);
  world.submit(5, { ready: false });
  expect(queueSituation(world.snapshot, 0)).toEqual({
    underTest: 2,
    firstPending: [3, 4],
    slotsTaken: 2,
    frozenAt: null,
    batches: null,
  });
  world.send({ kind: 'conflict', run: world.run('1+2').id, pr: 2, with: 1 });
  expect(situations(world.snapshot).get(2)).toMatchObject({ kind: 'pending', conflictsWith: 1 });
  const items = new Map(world.snapshot.items).set(1, {
    ...world.snapshot.items.get(1)!,
    place: { kind: 'not_ready' },
  });
  expect(situations({ ...world.snapshot, items }).get(2)).toMatchObject({
    kind: 'pending',
    conflictsWith: null,
  });
});

it('an entry that left its bisection while the Git host did not answer is not bisected any more', () => {
  const world = new World({ batch: true, batchingMinSize: 3 });
  for (const pr of [1, 2, 3]) world.submit(pr);
  world.fail('1+2+3');
  world.send({ kind: 'host-away' });
  world.send({ kind: 'ended', pr: 2, reason: 'PR_CLOSED' });
  expect([...situations(world.snapshot)].map(([pr, { kind }]) => [pr, kind])).toEqual([
    [1, 'bisected'],
    [3, 'bisected'],
  ]);
});

describe('one in a screen', () => {
  /** #1 and #2 are in the line, #3 and #4 in one screen, #5 and #6 in one each. */
  function screening(): World {
    const world = new World({ strategy: 'adaptive', concurrency: 5, testingTimeoutMinutes: 0 });
    world.snapshot = { ...world.snapshot, failureShare: 0.15 };
    for (const pr of [1, 2, 3, 4, 5, 6]) world.submit(pr);
    world.now += minutes(1);
    world.send(null);
    expect([world.active(), world.active('search')]).toEqual([
      ['1', '1+2'],
      ['3+4', '5', '6'],
    ]);
    return world;
  }
  const situation = (world: World, pr: number) => situations(world.snapshot).get(pr);

  it('is under test with nothing ahead of it', () => {
    const world = screening();
    const times = { requestedAt: minutes(1), pushedAt: null, startedAt: null };
    const testing = { kind: 'testing', ahead: { first: [], count: 0 }, times, limits: null };
    for (const pr of [3, 4, 5, 6]) expect(situation(world, pr)).toEqual(testing);
    expect(situation(world, 2)).toMatchObject({ ahead: { first: [1], count: 1 } });
  });

  it('is tried again if CI lost its run, and no other is', () => {
    const world = screening();
    world.send({ kind: 'run-infrastructure-failed', run: world.run('3+4').id, timedOut: false });
    expect([3, 4, 5, 6].map((pr) => situation(world, pr)?.kind)).toEqual([
      'retrying',
      'retrying',
      'testing',
      'testing',
    ]);
  });

  it('waits for the next group of the chain once its screen has passed', () => {
    const world = screening();
    world.pass('3+4');
    for (const pr of [3, 4])
      expect(situation(world, pr)).toEqual({
        kind: 'pending',
        conflictsWith: null,
        startsAlone: false,
        isScreened: true,
      });
    expect(queueSituation(world.snapshot, world.now)).toMatchObject({ underTest: 4, slotsTaken: 4 });
  });

  it('is bisected once its screen has failed', () => {
    const world = screening();
    world.fail('3+4');
    expect(situation(world, 3)).toEqual({
      kind: 'bisected',
      suspects: { first: [3, 4], count: 2 },
      cleared: { first: [], count: 0 },
    });
  });
});

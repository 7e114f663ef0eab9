// Time-outs, pauses between attempts, and when the queue wants to look again.
import { describe, expect, it } from 'vitest';
import { computeDeadline, pushByMs, startPauseMs } from '#core/queue/planner/clock.ts';
import { observe } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });
const begin = (world: World, members: string) =>
  world.send({ kind: 'run-started', run: world.run(members).id });
const push = (world: World, members: string) =>
  world.send({ kind: 'run-pushed', run: world.run(members).id, at: world.now });
const notStarted = (world: World, members: string) =>
  world.send({ kind: 'run-not-started', run: world.run(members).id });

describe('a run', () => {
  it('must have begun within three minutes of its push, where the queue has no history', () => {
    const world = new World({ testingTimeoutMinutes: 300 });
    world.submit(1);
    world.advance(minutes(5));
    push(world, '1');
    expect(world.wakeAt).toBe(minutes(8));
    world.advance(minutes(3) - 1);
    expect(world.run('1').attempt).toBe(0);
    world.advance(1);
    expect(world.run('1')).toMatchObject({ attempt: 1, timeouts: 0, pushedAt: null });
  });

  it('must have begun within what the history of the queue says', () => {
    const world = new World({ testingTimeoutMinutes: 300 });
    world.snapshot = {
      ...world.snapshot,
      limits: { startByMs: minutes(20), finishByMs: null, usualMs: null },
    };
    world.submit(1);
    push(world, '1');
    expect(world.wakeAt).toBe(minutes(20));
  });

  it('is given twice the time to begin with every repeat', () => {
    const world = new World({ testingTimeoutMinutes: 300 });
    world.submit(1);
    for (const allowed of [3, 6, 12, 24]) {
      push(world, '1');
      expect(world.wakeAt).toBe(world.now + minutes(allowed));
      world.advance(minutes(allowed));
    }
    expect(world.outcome(1)).toBe('failed');
    expect(world.now).toBe(minutes(45));
  });

  it('must be finished within what the history of the queue says, at most the time-out', () => {
    const limits = { startByMs: minutes(3), finishByMs: minutes(20), usualMs: null };
    for (const [testingTimeoutMinutes, first, second] of [
      [300, 20, 40],
      [30, 20, 30],
      [15, 15, 15],
    ] as const) {
      const world = new World({ testingTimeoutMinutes });
      world.snapshot = { ...world.snapshot, limits };
      world.submit(1);
      begin(world, '1');
      expect(world.wakeAt).toBe(minutes(first));
      world.advance(minutes(first));
      begin(world, '1');
      expect(world.wakeAt).toBe(minutes(first + second));
      world.advance(minutes(second));
      expect(world.facts.at(-1)).toMatchObject({ kind: 'failed', reason: 'TEST_RUN_TIMEOUT' });
    }
  });

  it('must have its test branch pushed within an hour', () => {
    const world = new World({ testingTimeoutMinutes: 300 });
    world.submit(1);
    world.advance(0);
    expect([pushByMs, world.wakeAt]).toEqual([minutes(60), minutes(60)]);
    world.advance(minutes(60) - 1);
    expect(world.run('1').attempt).toBe(0);
    world.advance(1);
    expect(world.run('1').attempt).toBe(1);
  });

  it('must have begun within the whole time-out where that is shorter', () => {
    const world = new World({ testingTimeoutMinutes: 10 });
    world.submit(1);
    world.advance(0);
    expect(world.wakeAt).toBe(minutes(10));
  });

  it('that has begun has its whole time from then on', () => {
    const world = new World({ testingTimeoutMinutes: 90 });
    world.submit(1);
    world.advance(minutes(30));
    begin(world, '1');
    expect(world.wakeAt).toBe(minutes(120));
    world.advance(minutes(90) - 1);
    expect(world.run('1').attempt).toBe(0);
    // A second word that it has begun gives it no more time.
    begin(world, '1');
    expect(world.wakeAt).toBe(minutes(120));
    world.advance(1);
    expect(world.run('1').attempt).toBe(1);
  });

  it('has no deadline where the time-out is off', () => {
    const world = new World({ testingTimeoutMinutes: 0 });
    world.submit(1);
    world.advance(0);
    expect(world.wakeAt).toBeNull();
    expect(computeDeadline(world.snapshot, world.run('1'))).toBeNull();
    world.advance(minutes(10_000));
    expect(world.run('1').attempt).toBe(0);
  });

  it('that is out of time is cancelled at its CI, and tried once more', () => {
    const world = new World({ testingTimeoutMinutes: 10 });
    world.submit(1);
    const { id } = world.run('1');
    const { actions } = plan(world.snapshot, minutes(10));
    expect(actions).toMatchObject([{ kind: 'cancel-run', run: id }, { kind: 'start-run' }]);
    expect(plan(world.snapshot, minutes(10) - 1).actions).toEqual([]);
  });

  it('wakes the queue for the first of several deadlines', () => {
    const world = new World({ testingTimeoutMinutes: 10, mode: 'parallel' });
    world.submit(1, on(1));
    world.now = minutes(2);
    world.submit(2, on(2));
    expect(world.wakeAt).toBe(minutes(10));
    begin(world, '1');
    expect(world.wakeAt).toBe(minutes(12));
  });
});

describe('a run that could not be started', () => {
  it('is tried again after pauses that double', () => {
    expect([0, 1, 2, 3].map(startPauseMs)).toEqual([15_000, 30_000, 60_000, 120_000]);
    const world = new World();
    world.submit(1);
    for (const pause of [15_000, 30_000, 60_000, 120_000]) {
      notStarted(world, '1');
      expect([world.state(1), world.active()]).toEqual(['testing', []]);
      expect(world.wakeAt).toBe(world.now + pause);
      world.advance(pause - 1);
      expect(world.active()).toEqual([]);
      world.advance(1);
      expect(world.active()).toEqual(['1']);
    }
    notStarted(world, '1');
    expect(world.outcome(1)).toBe('failed');
  });

  it('keeps its place and what it is tested on top of', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    notStarted(world, '1+2');
    expect(world.active()).toEqual(['1']);
    world.advance(15_000);
    expect(world.run('1+2')).toMatchObject({ attempt: 1, composition: { base: 'T', tested: 1 } });
  });

  it('waits for a slot, and is tried as soon as there is one', () => {
    const world = new World({ concurrency: 1 });
    world.submit(1);
    notStarted(world, '1');
    world.submit(2);
    expect(world.active()).toEqual(['1+2']);
    world.advance(minutes(1));
    expect(world.active()).toEqual(['1+2']);
    world.pass('1+2');
    expect(world.active()).toEqual(['1']);
  });

  it('is not tried in a paused queue', () => {
    const world = new World();
    world.submit(1);
    notStarted(world, '1');
    world.send({ kind: 'state', state: 'PAUSED' });
    world.advance(minutes(1));
    expect(world.active()).toEqual([]);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.active()).toEqual(['1']);
  });
});

describe('a host that is away', () => {
  it('costs nobody any time', () => {
    const world = new World({ testingTimeoutMinutes: 10, mode: 'parallel', concurrency: 3 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(3));
    begin(world, '2');
    notStarted(world, '3');
    world.now = 5_000;
    world.send({ kind: 'host-away' });
    world.advance(minutes(60));
    // Nothing is decided meanwhile, nor again by a second word of the same.
    world.send({ kind: 'host-away' });
    expect(world.snapshot.frozenAt).toBe(5_000);
    expect(world.wakeAt).toBeNull();
    world.send({ kind: 'host-back' });
    expect(world.snapshot.frozenAt).toBeNull();
    expect([world.run('1'), world.run('2')]).toMatchObject([
      { requestedAt: minutes(60), startedAt: null, attempt: 0 },
      { requestedAt: minutes(60), startedAt: minutes(60), attempt: 0 },
    ]);
    expect(world.wakeAt).toBe(minutes(60) + 15_000);
    world.send({ kind: 'host-back' });
    expect(world.run('2').startedAt).toBe(minutes(60));
    const group = world.snapshot.line[0]!.id;
    expect(world.place(1)).toEqual({ kind: 'line', group, shown: 'testing' });
  });

  it('does not shorten the time in which CI must begin, counted from the push', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'run-pushed', run: world.run('1').id, at: 0 });
    expect(world.wakeAt).toBe(minutes(3));
    world.now = minutes(1);
    world.send({ kind: 'host-away' });
    world.now = minutes(61);
    world.send({ kind: 'host-back' });
    expect(world.wakeAt).toBe(minutes(63));
    // A run that was not pushed yet has no such time.
    const unpushed = new World();
    unpushed.submit(1);
    unpushed.send({ kind: 'host-away' });
    unpushed.now = minutes(10);
    unpushed.send({ kind: 'host-back' });
    expect(unpushed.run('1').pushedAt).toBeNull();
    expect(unpushed.wakeAt).toBe(minutes(70));
  });

  it('has no verdict and no landing until it is back', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'host-away' });
    world.pass('1');
    expect([world.merged(), world.state(1)]).toEqual([[], 'testing']);
    world.submit(2);
    expect(world.state(2)).toBe('not_ready');
    world.send({ kind: 'host-back' });
    expect([world.merged(), world.active()]).toEqual([[1], ['2']]);
  });
});

describe('patience with what was never ready', () => {
  const hours = (count: number) => minutes(60 * count);

  it('ends when the settings say so, and wakes the queue for it', () => {
    const world = new World({ notReadyTimeoutHours: 2 });
    world.submit(1, { ready: false });
    expect(world.wakeAt).toBe(hours(2));
    world.advance(hours(2) - 1);
    expect(world.state(1)).toBe('not_ready');
    world.advance(1);
    expect(world.facts.at(-1)).toEqual({
      kind: 'cancelled',
      pr: 1,
      reason: 'NOT_READY_TIMEOUT_EXPIRED',
    });
    expect(world.outcome(1)).toBe('cancelled');
  });

  it('has no end where it is off, nor with one that was in the queue before', () => {
    const world = new World({ notReadyTimeoutHours: 0 });
    world.submit(1, { ready: false });
    expect(world.wakeAt).toBeNull();
    world.advance(hours(1_000));
    expect(world.state(1)).toBe('not_ready');

    const known = new World({ notReadyTimeoutHours: 1, concurrency: 1 });
    known.submit(1);
    known.submit(2);
    known.send({ kind: 'readiness', pr: 2, ready: false });
    expect(known.facts.at(-1)).toEqual({ kind: 'unready', pr: 2 });
    known.now = hours(5);
    known.send({ kind: 'settings', settings: { testingTimeoutMinutes: 0 } });
    expect(known.state(2)).toBe('not_ready');
    known.send({ kind: 'readiness', pr: 2, ready: true });
    // It keeps the time at which it first was in the queue.
    expect(known.snapshot.items.get(2)).toMatchObject({ queuedAt: 0, place: { since: hours(5) } });
  });

  it('does not end by itself what is ready in a queue that admits nothing', () => {
    const world = new World({ notReadyTimeoutHours: 1 });
    world.send({ kind: 'state', state: 'DRAINING' });
    world.submit(1);
    world.advance(hours(2));
    expect(world.state(1)).toBe('not_ready');
  });
});

describe('a look that nothing follows from', () => {
  it('changes nothing and asks for nothing', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const again = plan(world.snapshot, 0);
    expect([again.facts, again.actions]).toEqual([[], []]);
    expect(again.snapshot).toEqual(world.snapshot);
  });

  it('is what a late or doubled word makes', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1');
    world.pass('1');
    const { snapshot } = world;
    for (const kind of ['run-started', 'run-passed', 'run-failed', 'run-not-started'] as const)
      expect(observe(snapshot, { kind, run: id }, 0)).toEqual({ snapshot, facts: [], actions: [] });
    const late = { kind: 'run-infrastructure-failed', run: id, timedOut: false } as const;
    expect(observe(snapshot, late, 0)).toEqual({ snapshot, facts: [], actions: [] });
  });
});

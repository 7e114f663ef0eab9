// CI that gives no result: it is repeated in place, removes no pull request at first, and never a queue of them.
import { describe, expect, it } from 'vitest';
import { infrastructurePauseMs } from '#core/queue/planner/clock.ts';
import type { PlannerFact } from '#core/queue/planner/model.ts';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });
const pauses = [0, 1, 2].map(infrastructurePauseMs);
const hours = (count: number) => minutes(60 * count);

const breaks = (world: World, members: string, timedOut = false) =>
  world.send({ kind: 'run-infrastructure-failed', run: world.run(members).id, timedOut });

/** CI breaks, and so does every repeat. */
function breaksForGood(world: World, members: string): void {
  for (const pause of pauses) {
    breaks(world, members);
    world.advance(pause);
  }
  breaks(world, members);
}

const failures = (world: World) =>
  world.facts.filter((fact): fact is Extract<PlannerFact, { kind: 'failed' }> => fact.kind === 'failed');

describe('a run without a result', () => {
  it('is repeated three times after growing pauses, and then its pull request leaves with a reason of its own', () => {
    expect(pauses).toEqual([15_000, minutes(3), minutes(15)]);
    const world = new World();
    world.submit(1);
    for (const [attempt, pause] of pauses.entries()) {
      breaks(world, '1');
      expect([world.state(1), world.active(), world.wakeAt]).toEqual(['testing', [], world.now + pause]);
      world.advance(pause - 1);
      expect(world.active()).toEqual([]);
      world.advance(1);
      expect(world.run('1').attempt).toBe(attempt + 1);
    }
    breaks(world, '1');
    expect(failures(world)).toMatchObject([{ pr: 1, reason: 'TEST_RUN_INFRASTRUCTURE_FAILED' }]);
  });

  it('disturbs nothing else in the line', () => {
    const world = new World({ concurrency: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    const others = ['1', '1+2+3'].map((members) => world.run(members).id);
    breaks(world, '1+2');
    expect(world.active()).toEqual(['1', '1+2+3']);
    world.advance(pauses[0]!);
    expect(['1', '1+2+3'].map((members) => world.run(members).id)).toEqual(others);
    for (const members of ['1+2+3', '1+2', '1']) world.pass(members);
    expect(world.merged()).toEqual([1, 2, 3]);
  });

  it('is a fresh start for its count when a person restarts it', () => {
    const world = new World();
    world.submit(1);
    breaks(world, '1');
    world.advance(pauses[0]!);
    world.send({ kind: 'restart', pr: 1 });
    expect(world.run('1')).toMatchObject({ attempt: 0, timeouts: 0 });
  });

  it('leaves a real failure to be one', () => {
    const world = new World();
    world.submit(1);
    breaks(world, '1');
    world.advance(pauses[0]!);
    world.fail('1');
    expect(failures(world)).toMatchObject([{ pr: 1, reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' }]);
  });

  it('that ran out of CI’s own time is repeated once, and counts for itself', () => {
    const world = new World();
    world.submit(1);
    breaks(world, '1');
    world.advance(pauses[0]!);
    breaks(world, '1', true);
    world.advance(pauses[1]!);
    expect(world.run('1')).toMatchObject({ attempt: 2, timeouts: 1 });
    breaks(world, '1', true);
    expect(failures(world)).toMatchObject([{ pr: 1, reason: 'TEST_RUN_TIMEOUT' }]);
  });

  it('is not given up while something ahead of it has not landed, and is tried at once when that has', () => {
    const world = new World({ concurrency: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    for (const pause of [...pauses, pauses[2]!, pauses[2]!]) {
      breaks(world, '1+2');
      world.advance(pause);
    }
    breaks(world, '1+2');
    expect([world.state(2), world.active()]).toEqual(['testing', ['1']]);
    world.pass('1');
    expect([world.merged(), world.active()]).toEqual([[1], ['2']]);
    breaks(world, '2');
    expect(failures(world)).toMatchObject([{ pr: 2, reason: 'TEST_RUN_INFRASTRUCTURE_FAILED' }]);
  });

  it('because of a time-out is given up after one repeat, also behind an entry that has not landed', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    breaks(world, '1+2', true);
    world.advance(pauses[0]!);
    expect(world.state(2)).toBe('testing');
    breaks(world, '1+2', true);
    expect([world.state(2), world.active()]).toEqual(['pending_failure', ['1']]);
  });

  it('because of a known cause is given up after four repeats, also during an outage', () => {
    const world = new World({ mode: 'parallel' });
    for (const pr of [1, 2]) world.submit(pr, on(pr));
    breaksForGood(world, '1');
    expect(world.snapshot.outageSince).not.toBeNull();
    const why = 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH';
    for (let attempt = 0; attempt <= 4; attempt++) {
      expect(world.outcome(2)).toBeUndefined();
      world.send({ kind: 'run-not-started', run: world.run('2').id, why });
      world.advance(minutes(60));
    }
    expect(failures(world).at(-1)).toMatchObject({ pr: 2, reason: why });
  });

  it('behind an entry that has not landed is repeated twenty times, and then shows no failure of the change', () => {
    const world = new World({ testingTimeoutMinutes: 0 });
    for (const pr of [1, 2]) world.submit(pr);
    for (let attempt = 0; attempt <= 20; attempt++) {
      expect(world.run('1+2').attempt).toBe(attempt);
      breaks(world, '1+2');
      world.advance(minutes(15));
    }
    expect([world.state(2), world.active()]).toEqual(['testing', ['1']]);
  });

  it('of a batch is repeated as a batch, then each is tested alone, and nothing is bisected', () => {
    const world = new World({ batch: true, batchingMinSize: 3, concurrency: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    breaks(world, '1+2+3');
    world.advance(pauses[0]!);
    expect([world.active(), world.snapshot.searches]).toEqual([['1+2+3'], []]);
    for (const pause of pauses.slice(1)) {
      breaks(world, '1+2+3');
      world.advance(pause);
    }
    breaks(world, '1+2+3');
    expect([world.active(), world.snapshot.searches]).toEqual([['1', '1+2', '1+2+3'], []]);
    expect(failures(world)).toEqual([]);
    for (const members of ['1', '2', '2+3', '3']) if (world.active().includes(members)) world.pass(members);
    expect(world.merged()).toEqual([1, 2, 3]);
  });

  it('does not mislead a bisection', () => {
    const world = new World({ batch: true, batchingMinSize: 2, bisectionConcurrency: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    expect(world.active('search')).toEqual(['1']);
    breaks(world, '1');
    expect(world.snapshot.searches).toMatchObject([{ passes: 0, fails: 2 }]);
    world.advance(pauses[0]!);
    world.pass('1');
    world.fail('1+2');
    expect(failures(world)).toMatchObject([{ pr: 2, reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' }]);
    expect(world.merged()).toEqual([1]);
  });
});

describe('an outage of CI', () => {
  /** From now on every run breaks as soon as it is under way, for so long. */
  function outage(world: World, forMs: number): void {
    const until = world.now + forMs;
    for (;;) {
      for (const run of world.snapshot.runs.values())
        if (run.status === 'starting' && world.snapshot.runs.get(run.id)?.status === 'starting')
          world.send({ kind: 'run-infrastructure-failed', run: run.id, timedOut: false });
      if (world.wakeAt === null || world.wakeAt > until) break;
      world.advance(world.wakeAt - world.now);
    }
    world.now = until;
  }

  it('removes one pull request of a line of ten, and the others merge when it is over', () => {
    const world = new World({ concurrency: 5 });
    for (let pr = 1; pr <= 10; pr++) world.submit(pr);
    outage(world, hours(4));
    expect(failures(world)).toMatchObject([{ pr: 1, reason: 'TEST_RUN_INFRASTRUCTURE_FAILED' }]);
    expect(world.snapshot.items.size).toBe(9);
    world.advance(minutes(15));
    while (world.active().length > 0) world.pass(world.active()[0]!);
    expect(world.merged()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(world.snapshot.outageSince).toBeNull();
  });

  it('removes one pull request of all lanes together', () => {
    const world = new World({ mode: 'parallel', concurrency: 4 });
    for (let pr = 1; pr <= 4; pr++) world.submit(pr, on(pr));
    outage(world, hours(3));
    expect(failures(world)).toHaveLength(1);
  });

  it('that is short removes none', () => {
    const world = new World({ concurrency: 5 });
    for (let pr = 1; pr <= 10; pr++) world.submit(pr);
    outage(world, minutes(15));
    expect(failures(world)).toEqual([]);
  });

  it('is over as soon as any run has a result, and what waits is tried at once', () => {
    const world = new World({ mode: 'parallel', concurrency: 3 });
    for (let pr = 1; pr <= 3; pr++) world.submit(pr, on(pr));
    breaksForGood(world, '1');
    expect(failures(world)).toMatchObject([{ pr: 1 }]);
    breaks(world, '2');
    expect(world.active()).toEqual(['3']);
    world.pass('3');
    expect([world.snapshot.outageSince, world.active()]).toEqual([null, ['2']]);
    breaksForGood(world, '2');
    expect(failures(world)).toMatchObject([{ pr: 1 }, { pr: 2 }]);
  });

  it('may be why an entry leaves without a result, whatever the kind of it, and never why a check fails', () => {
    const removed = (end: (world: World) => void) => {
      const world = new World();
      world.submit(1);
      while (world.outcome(1) === undefined) {
        end(world);
        world.advance(minutes(20));
      }
      return [failures(world)[0]?.reason, world.snapshot.outageSince !== null];
    };
    expect(removed((world) => breaks(world, '1'))).toEqual(['TEST_RUN_INFRASTRUCTURE_FAILED', true]);
    expect(removed((world) => breaks(world, '1', true))).toEqual(['TEST_RUN_TIMEOUT', true]);
    const notStarted = (why?: 'START_TEST_RUN_NO_REQUIRED_STATUSES') => (world: World) =>
      world.send({ kind: 'run-not-started', run: world.run('1').id, ...(why === undefined ? {} : { why }) });
    expect(removed(notStarted())).toEqual(['START_TEST_RUN_RETRY_EXHAUSTED', true]);
    const why = 'START_TEST_RUN_NO_REQUIRED_STATUSES';
    expect(removed(notStarted(why))).toEqual([why, false]);
    expect(removed((world) => world.fail('1'))).toEqual(['TEST_RUN_REQUIRED_STATUS_FAILED', false]);
  });

  it('ends with a failed check as well, but not with a run that CI never ran', () => {
    const outage = () => {
      const world = new World({ mode: 'parallel' });
      for (const pr of [1, 2]) world.submit(pr, on(pr));
      breaksForGood(world, '1');
      expect(world.snapshot.outageSince).not.toBeNull();
      return world;
    };
    const failed = outage();
    failed.fail('2');
    expect(failed.snapshot.outageSince).toBeNull();
    const refused = outage();
    const why = 'START_TEST_RUN_CONFIG_PARSING_FAILURE';
    refused.send({ kind: 'run-failed', run: refused.run('2').id, why });
    expect(failures(refused).at(-1)).toMatchObject({ pr: 2, reason: why });
    expect(refused.snapshot.outageSince).not.toBeNull();
  });

  it('ends for a run that waits for its next attempt, which starts at once and counts as the first', () => {
    const world = new World({ mode: 'parallel' });
    for (let pr = 1; pr <= 4; pr++) world.submit(pr, on(pr));
    breaksForGood(world, '1');
    const why = 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH';
    world.send({ kind: 'run-not-started', run: world.run('3').id, why });
    breaks(world, '2');
    expect(world.active()).toEqual(['4']);
    world.pass('4');
    expect(world.snapshot.outageSince).toBeNull();
    expect(world.run('2')).toMatchObject({ attempt: 0, timeouts: 0, requestedAt: world.now });
    // A refusal by the host has another cause: its attempts are counted on, after its own pause.
    expect(world.active()).toEqual(['2']);
    world.advance(minutes(1));
    expect(world.run('3').attempt).toBe(1);
  });

  it('does not hold a pull request for ever: after some hours the next one leaves', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    outage(world, hours(12));
    expect(failures(world)).toMatchObject([{ pr: 1 }, { pr: 2 }]);
  });

  it('in which CI never begins ends the same way', () => {
    const world = new World({ concurrency: 3 });
    for (let pr = 1; pr <= 6; pr++) world.submit(pr);
    const until = hours(3);
    while (world.now < until) {
      for (const run of world.snapshot.runs.values())
        if (run.status === 'starting' && run.pushedAt === null)
          world.send({ kind: 'run-pushed', run: run.id, at: world.now });
      world.advance((world.wakeAt ?? until) - world.now);
    }
    expect(failures(world)).toMatchObject([{ pr: 1, reason: 'TEST_RUN_INFRASTRUCTURE_FAILED' }]);
  });
});

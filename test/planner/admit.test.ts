// Which entries are in the queue: readiness, patience, and merging without a run.
import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

const hours = (count: number) => count * 3_600_000;

describe('an entry that was never ready', () => {
  const patient = () => {
    const world = new World({ notReadyTimeoutHours: 2 });
    world.submit(1, { ready: false });
    return world;
  };

  it('is cancelled after the time that the queue allows, and no earlier', () => {
    const world = patient();
    expect(world.wakeAt).toBe(hours(2));
    world.advance(hours(2) - 1);
    expect(world.state(1)).toBe('not_ready');
    world.advance(1);
    expect(world.facts.at(-1)).toEqual({ kind: 'cancelled', pr: 1, reason: 'NOT_READY_TIMEOUT_EXPIRED' });
  });

  it('waits for ever in a queue without such a time', () => {
    const world = new World({ notReadyTimeoutHours: 0 });
    world.submit(1, { ready: false });
    world.advance(hours(10_000));
    expect(world.state(1)).toBe('not_ready');
  });
});

describe('an entry that was ready once', () => {
  it('is not cancelled when it is not ready any more, however long that lasts', () => {
    const world = new World({ notReadyTimeoutHours: 2 });
    world.submit(1);
    world.send({ kind: 'readiness', pr: 1, ready: false });
    expect(world.state(1)).toBe('not_ready');
    world.advance(hours(100));
    expect(world.state(1)).toBe('not_ready');
  });
});

describe('merging directly', () => {
  const direct = (settings = {}) => {
    const world = new World({ directMergeMode: 'always', concurrency: 1, ...settings });
    world.landsByItself = false;
    return world;
  };
  const testedOnTip = (world: World, pr: number) => world.send({ kind: 'tested-on-tip', pr, tip: 'T' });

  it('does not overtake any of the entries that wait, however many they are', () => {
    const world = direct();
    for (let pr = 1; pr <= 9; pr++) world.submit(pr);
    for (let pr = 2; pr <= 9; pr++) {
      testedOnTip(world, pr);
      expect(world.snapshot.landing).toBeNull();
    }
  });

  it('is decided by the branch: an entry that is no longer ready leaves only if it did not land', () => {
    const submitted = () => {
      const world = direct();
      world.send({ kind: 'state', state: 'PAUSED' });
      world.submit(1);
      testedOnTip(world, 1);
      world.send({ kind: 'state', state: 'RUNNING' });
      expect(world.snapshot.landing).toMatchObject({ members: [1], proof: { kind: 'direct' } });
      world.send({ kind: 'readiness', pr: 1, ready: false });
      expect(world.state(1)).toBe('pending');
      expect(world.facts.some(({ kind }) => kind === 'unready')).toBe(false);
      return world;
    };
    const merged = submitted();
    merged.send({ kind: 'landed', landing: merged.snapshot.landing!.id, tip: 'T1' });
    expect(merged.outcome(1)).toBe('merged');
    const lost = submitted();
    lost.send({ kind: 'landing-lost', landing: lost.snapshot.landing!.id, tip: 'X' });
    expect(lost.state(1)).toBe('not_ready');
  });
});

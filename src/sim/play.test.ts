import { describe, expect, it } from 'vitest';
import { sketchWorkload, storyOf } from './fixture.ts';
import { playPlanner } from './play.ts';
import type { Timing } from './workload.ts';

const timing: Timing = { startMin: [1], landMin: [2], runMin: null, again: { share: 0, afterMin: 0 } };
const serial = { concurrency: 1 };

describe('a queue on a virtual clock', () => {
  it('takes its time to begin a run and to land, and counts only tests as CI', () => {
    const played = playPlanner({ ...sketchWorkload([{ arrivesAtMin: 0 }]), timing }, serial);
    expect(storyOf(played)).toEqual(['1 merged at 13']);
    expect(played.ciMinutes).toBe(10);
  });

  it('draws how long runs take from those that passed and those that failed', () => {
    const workload = sketchWorkload([{ arrivesAtMin: 0 }, { arrivesAtMin: 0, isGood: false }]);
    const runMin = { passed: [20], failed: [5] };
    const played = playPlanner({ ...workload, timing: { ...timing, runMin } }, serial);
    expect(storyOf(played)).toEqual(['1 merged at 23', '2 failed at 29']);
  });

  it('lets who was evicted come again after a while, and nobody whose earlier submission merged', () => {
    const again = (isGood: boolean) =>
      sketchWorkload([
        { arrivesAtMin: 0, isGood },
        { arrivesAtMin: 1, follows: { number: 1, afterMin: 3 }, isGood },
      ]);
    expect(storyOf(playPlanner(again(true), { concurrency: 2 }))).toEqual(['1 merged at 10']);
    expect(storyOf(playPlanner(again(false), { concurrency: 2 }))).toEqual([
      '1 failed at 10',
      '2 failed at 23',
    ]);
  });

  it('submits again who was evicted by chance, and nobody who was to blame', () => {
    const changes = [{ arrivesAtMin: 0 }, { arrivesAtMin: 0, isGood: false }];
    const workload = {
      ...sketchWorkload(changes, { flakeProbability: 0.8 }),
      timing: { ...timing, again: { share: 1, afterMin: 4 } },
    };
    const { trips } = playPlanner(workload, serial);
    const first = trips.filter(({ number }) => number === 1);
    expect(first.length).toBeGreaterThan(1);
    expect(first.at(-1)!.outcome).toBe('merged');
    expect(first.slice(0, -1).every(({ isFalse }) => isFalse)).toBe(true);
    expect(first[1]!.fromMin).toBe(first[0]!.toMin + 4);
    expect(trips.filter(({ number }) => number === 2)).toMatchObject([{ outcome: 'failed', isFalse: false }]);
  });

  it('fails by chance the runs it is told, by the last change of each, and draws the others', () => {
    const luck = [true, undefined, false];
    const told = sketchWorkload([{ arrivesAtMin: 0, luck }], { flakeProbability: 1 });
    const workload = { ...told, timing: { ...timing, again: { share: 1, afterMin: 0 } } };
    const { trips } = playPlanner(workload, serial);
    expect(trips.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'merged']);
  });

  it('puts who is urgent first, and tests alone who wants it', () => {
    const changes = [
      { arrivesAtMin: 0 },
      { arrivesAtMin: 0 },
      { arrivesAtMin: 1, noBatch: true },
      { arrivesAtMin: 2, priority: 0 },
    ];
    const played = playPlanner(sketchWorkload(changes), {
      ...serial,
      batch: true,
      batchingMinSize: 8,
      batchingMaxWaitTimeMinutes: 0,
    });
    expect(played.decisions[0]!.number).toBe(4);
    // The urgent one, the two that share a run, and the one that will not.
    expect(played.runsStarted - played.runsAborted).toBe(3);
  });
});

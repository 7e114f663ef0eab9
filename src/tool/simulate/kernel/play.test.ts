import { describe, expect, it } from 'vitest';
import { sketchWorkload, describeDecisions } from './fixture.ts';
import { playPlanner } from './play.ts';
import { computeResult } from './result.ts';
import { createLineWorkload, type Timing } from './workload.ts';

const timing: Timing = {
  startMin: [1],
  cancelMin: [],
  landMin: [2],
  runMin: null,
  again: { share: 0, afterMin: 0 },
};
const serial = { strategy: 'manual', concurrency: 1 } as const;

describe('a queue on a virtual clock', () => {
  it('takes its time to begin a run and to land, and counts only tests as CI', () => {
    const played = playPlanner({ ...sketchWorkload([{ arrivesAtMin: 0 }]), timing }, serial);
    expect(describeDecisions(played)).toEqual(['1 merged at 13']);
    expect(played.ciMinutes).toBe(10);
  });

  it('continues a cancelled run for a while, and counts that as CI', () => {
    // 2 is tested on top of 1; when 1 fails after ten minutes, the run of 2 is cancelled and starts again.
    const workload = sketchWorkload([
      { arrivesAtMin: 0, isGood: false },
      { arrivesAtMin: 0, durationMin: 30 },
    ]);
    const timed = (cancelMin: readonly number[]) =>
      playPlanner(
        { ...workload, timing: { ...timing, startMin: [0], cancelMin } },
        { strategy: 'manual', concurrency: 2 },
      );
    expect(timed([]).ciMinutes).toBe(10 + 10 + 30);
    expect(timed([4]).ciMinutes).toBe(10 + 14 + 30);
    // It ends before it is cancelled.
    expect(timed([60]).ciMinutes).toBe(10 + 30 + 30);
    expect(timed([4]).runsAtOnceMax).toBe(2);
  });

  it('draws how long runs take from those that passed and those that failed', () => {
    const workload = sketchWorkload([{ arrivesAtMin: 0 }, { arrivesAtMin: 0, isGood: false }]);
    const runMin = { passed: [20], failed: [5] };
    const played = playPlanner({ ...workload, timing: { ...timing, runMin } }, serial);
    expect(describeDecisions(played)).toEqual(['1 merged at 23', '2 failed at 29']);
  });

  it('submits a removed change again after a while, and none whose earlier submission merged', () => {
    const again = (isGood: boolean) =>
      sketchWorkload([
        { arrivesAtMin: 0, isGood },
        { arrivesAtMin: 1, follows: { number: 1, afterMin: 3 }, isGood },
      ]);
    expect(describeDecisions(playPlanner(again(true), { strategy: 'manual', concurrency: 2 }))).toEqual([
      '1 merged at 10',
    ]);
    expect(describeDecisions(playPlanner(again(false), { strategy: 'manual', concurrency: 2 }))).toEqual([
      '1 failed at 10',
      '2 failed at 23',
    ]);
  });

  it('submits changes again that were removed by chance, and none that was to blame', () => {
    const changes = [{ arrivesAtMin: 0 }, { arrivesAtMin: 0, isGood: false }];
    const workload = {
      ...sketchWorkload(changes, { flakeProbability: 0.8 }),
      timing: { ...timing, again: { share: 1, afterMin: 4 } },
    };
    const { attempts } = playPlanner(workload, serial);
    const first = attempts.filter(({ number }) => number === 1);
    expect(first.length).toBeGreaterThan(1);
    expect(first.at(-1)!.outcome).toBe('merged');
    expect(first.slice(0, -1).every(({ isFalse }) => isFalse)).toBe(true);
    expect(first[1]!.fromMin).toBe(first[0]!.toMin + 4);
    expect(attempts.filter(({ number }) => number === 2)).toMatchObject([
      { outcome: 'failed', isFalse: false },
    ]);
  });

  it('fails the given runs by chance, by the last change of each, and draws the others', () => {
    const luck = [true, undefined, false];
    const baseWorkload = sketchWorkload([{ arrivesAtMin: 0, luck }], { flakeProbability: 1 });
    const workload = { ...baseWorkload, timing: { ...timing, again: { share: 1, afterMin: 0 } } };
    const { attempts } = playPlanner(workload, serial);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'merged']);
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
    // The urgent change, the two that share a run, and the one with noBatch.
    expect(played.runsStarted - played.runsAborted).toBe(3);
  });
});

it.each([{}, { batch: true, batchingMinSize: 6, bisectionConcurrency: 8 }])(
  'removes no sound change where no run fails by chance, however many pairs conflict (%j)',
  (settings) => {
    const workload = createLineWorkload({
      seed: 1,
      count: 250,
      arrivalsPerHour: 60,
      passProbability: 0.95,
      flakeProbability: 0,
      pairConflictProbability: 0.003,
      predictor: { kind: 'prior' },
    });
    const result = computeResult(
      'planner',
      workload,
      playPlanner(workload, { concurrency: 16, ...settings }),
    );
    expect(result).toMatchObject({ falseRemovals: 0, badMerges: 0 });
    // Some of those that conflict are removed for it, besides those that fail alone.
    expect(result.failed).toBeGreaterThan(workload.changes.filter(({ isGood }) => !isGood).length);
  },
);

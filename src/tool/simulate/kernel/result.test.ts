import { describe, expect, it } from 'vitest';
import { sketchWorkload } from './fixture.ts';
import type { SimulatedDecision } from './policy.ts';
import { computeResult, intervalOfSummaries, meanOfSummaries, summarize } from './result.ts';

const workload = sketchWorkload([
  { arrivesAtMin: 0 },
  { arrivesAtMin: 0, isGood: false },
  { arrivesAtMin: 5, shares: [1], conflictsWith: [1] },
  { arrivesAtMin: 10 },
]);
const decided = (
  number: number,
  outcome: SimulatedDecision['outcome'],
  atMin: number,
): SimulatedDecision => ({
  number,
  outcome,
  atMin,
});
const resultFor = (...decisions: SimulatedDecision[]) =>
  computeResult('hand', workload, { decisions, runsStarted: 8, runsAborted: 2, ciMinutes: 60 });
const perfect = [
  decided(1, 'merged', 10),
  decided(2, 'failed', 10),
  decided(3, 'failed', 15),
  decided(4, 'merged', 20),
];

describe('computeResult', () => {
  it('finds nothing wrong with a run that decided by the truth', () => {
    expect(resultFor(...perfect)).toMatchObject({
      merged: 2,
      failed: 2,
      cancelled: 0,
      badMerges: 0,
      falseRemovals: 0,
    });
  });

  it('counts the merge of a bad change and of one that conflicts with an earlier merge', () => {
    const result = resultFor(
      decided(1, 'merged', 10),
      decided(2, 'merged', 10),
      decided(3, 'merged', 15),
      decided(4, 'merged', 20),
    );
    expect(result.badMerges).toBe(2);
  });

  it('sees a conflict whichever of the two merged first', () => {
    const result = resultFor(
      decided(3, 'merged', 10),
      decided(1, 'merged', 12),
      decided(2, 'failed', 15),
      decided(4, 'merged', 20),
    );
    expect(result.badMerges).toBe(1);
  });

  it('counts the failure of a good change as false unless it conflicts with what merged before it', () => {
    const result = resultFor(
      decided(3, 'failed', 5),
      decided(1, 'merged', 10),
      decided(2, 'failed', 10),
      decided(4, 'failed', 20),
    );
    expect(result.falseRemovals).toBe(2);
  });

  it('leaves cancelled changes out of the turnaround', () => {
    const result = resultFor(
      decided(4, 'cancelled', 12),
      decided(1, 'merged', 12),
      decided(2, 'failed', 12),
      decided(3, 'failed', 12),
    );
    expect(result.turnaroundsMin).toEqual([12, 12, 7]);
    expect(result.cancelled).toBe(1);
  });

  it('insists that every change is decided once, after its arrival and in order of time', () => {
    expect(() => resultFor(...perfect.slice(1))).toThrow('never decided change 1');
    expect(() => resultFor(...perfect, decided(4, 'merged', 20))).toThrow('twice');
    expect(() => resultFor(decided(4, 'merged', 9))).toThrow('before it arrived');
    expect(() => resultFor(decided(1, 'merged', 9), decided(2, 'failed', 8))).toThrow('out of order');
    expect(() => resultFor(decided(5, 'merged', 9))).toThrow('does not exist');
  });
});

describe('submissions of a removed change', () => {
  const again = sketchWorkload([
    { arrivesAtMin: 0, isGood: false },
    { arrivesAtMin: 5 },
    { arrivesAtMin: 0, follows: { number: 1, afterMin: 7 } },
    { arrivesAtMin: 5, follows: { number: 2, afterMin: 7 } },
  ]);
  const rest = { runsStarted: 3, runsAborted: 0, ciMinutes: 30 };
  const first = [decided(1, 'failed', 10), decided(2, 'merged', 15)];

  it('arrive after the removal, and not at all after a merge', () => {
    const result = computeResult('hand', again, { ...rest, decisions: [...first, decided(3, 'merged', 27)] });
    expect(result.turnaroundsMin).toEqual([10, 10, 10]);
    expect(result.arrivalsMin).toBe(5);
    const early = [...first, decided(3, 'merged', 16)];
    expect(() => computeResult('hand', again, { ...rest, decisions: early })).toThrow('before it arrived');
    const surplus = [...first, decided(3, 'merged', 27), decided(4, 'merged', 30)];
    expect(() => computeResult('hand', again, { ...rest, decisions: surplus })).toThrow('before it arrived');
    expect(() => computeResult('hand', again, { ...rest, decisions: first })).toThrow(
      'never decided change 3',
    );
  });
});

describe('summarize', () => {
  it('sets figures in relation to the changes, the merges and the oracle', () => {
    const oracle = resultFor(...perfect);
    const late = resultFor(...perfect.map((decision) => ({ ...decision, atMin: decision.atMin + 20 })));
    expect(summarize(late, oracle)).toMatchObject({
      p50Min: 30,
      p50OverOracle: 3,
      runsPerChange: 2,
      runsPerMerged: 4,
      ciMinutesPerChange: 15,
      ciMinutesPerMerged: 30,
      ciMinutesOverOracle: 1,
      abortedShare: 0.25,
      falseRemovalPercent: 0,
      badMerges: 0,
    });
  });

  it('measures throughput from the first arrival to the last, and leaves out what drains after it', () => {
    const arrivals = sketchWorkload([0, 30, 60, 90, 120].map((arrivesAtMin) => ({ arrivesAtMin })));
    const decisions = [
      decided(1, 'merged', 10),
      decided(2, 'failed', 110),
      decided(3, 'merged', 120),
      decided(4, 'merged', 121),
      decided(5, 'merged', 900),
    ];
    const result = computeResult('hand', arrivals, {
      decisions,
      runsStarted: 5,
      runsAborted: 0,
      ciMinutes: 50,
    });
    const oracle = computeResult('oracle', arrivals, {
      decisions: decisions.map((decision, at) => ({ ...decision, atMin: 30 * at + 10 })),
      runsStarted: 5,
      runsAborted: 0,
      ciMinutes: 50,
    });
    // Three of five in two hours; the oracle decides four by then.
    expect(summarize(result, oracle)).toMatchObject({
      decidedPerHour: 1.5,
      mergedPerHour: 1,
      throughputOverOracle: 0.75,
    });
  });

  it('says by how much a mean over seeds may be off', () => {
    const summary = summarize(resultFor(...perfect), resultFor(...perfect));
    const others = [summary, { ...summary, p50Min: summary.p50Min + 4 }];
    // The deviation of two values that are 4 apart is the root of 8, that of their mean 2.
    expect(intervalOfSummaries(others).p50Min).toBeCloseTo(1.96 * 2, 9);
    expect(intervalOfSummaries([summary]).p50Min).toBe(0);
  });

  it('is averaged figure by figure', () => {
    const summary = summarize(resultFor(...perfect), resultFor(...perfect));
    const other = { ...summary, p50Min: summary.p50Min + 4 };
    expect(meanOfSummaries([summary, other])).toEqual({ ...summary, p50Min: summary.p50Min + 2 });
  });
});

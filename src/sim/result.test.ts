import { describe, expect, it } from 'vitest';
import { sketchWorkload } from './fixture.ts';
import type { Decision } from './policy.ts';
import { judge, meanOfSummaries, summarize } from './result.ts';

const workload = sketchWorkload([
  { arrivesAtMin: 0 },
  { arrivesAtMin: 0, isGood: false },
  { arrivesAtMin: 5, shares: [1], conflictsWith: [1] },
  { arrivesAtMin: 10 },
]);
const decided = (number: number, outcome: Decision['outcome'], atMin: number): Decision => ({
  number,
  outcome,
  atMin,
});
const judged = (...decisions: Decision[]) =>
  judge('hand', workload, { decisions, runsStarted: 8, runsAborted: 2, ciMinutes: 60 });
const perfect = [
  decided(1, 'merged', 10),
  decided(2, 'failed', 10),
  decided(3, 'failed', 15),
  decided(4, 'merged', 20),
];

describe('judge', () => {
  it('finds nothing wrong with a run that decided by the truth', () => {
    expect(judged(...perfect)).toMatchObject({
      merged: 2,
      failed: 2,
      cancelled: 0,
      badMerges: 0,
      falseEvictions: 0,
    });
  });

  it('counts the merge of a bad change and of one that conflicts with an earlier merge', () => {
    const result = judged(
      decided(1, 'merged', 10),
      decided(2, 'merged', 10),
      decided(3, 'merged', 15),
      decided(4, 'merged', 20),
    );
    expect(result.badMerges).toBe(2);
  });

  it('sees a conflict whichever of the two merged first', () => {
    const result = judged(
      decided(3, 'merged', 10),
      decided(1, 'merged', 12),
      decided(2, 'failed', 15),
      decided(4, 'merged', 20),
    );
    expect(result.badMerges).toBe(1);
  });

  it('counts the failure of a good change as false unless it conflicts with what merged before it', () => {
    const result = judged(
      decided(3, 'failed', 5),
      decided(1, 'merged', 10),
      decided(2, 'failed', 10),
      decided(4, 'failed', 20),
    );
    expect(result.falseEvictions).toBe(2);
  });

  it('leaves cancelled changes out of the turnaround', () => {
    const result = judged(
      decided(4, 'cancelled', 12),
      decided(1, 'merged', 12),
      decided(2, 'failed', 12),
      decided(3, 'failed', 12),
    );
    expect(result.turnaroundsMin).toEqual([12, 12, 7]);
    expect(result.cancelled).toBe(1);
  });

  it('insists that every change is decided once, after its arrival and in order of time', () => {
    expect(() => judged(...perfect.slice(1))).toThrow('never decided change 1');
    expect(() => judged(...perfect, decided(4, 'merged', 20))).toThrow('twice');
    expect(() => judged(decided(4, 'merged', 9))).toThrow('before it arrived');
    expect(() => judged(decided(1, 'merged', 9), decided(2, 'failed', 8))).toThrow('out of order');
    expect(() => judged(decided(5, 'merged', 9))).toThrow('does not exist');
  });
});

describe('summarize', () => {
  it('sets figures in relation to the changes, the merges and the oracle', () => {
    const oracle = judged(...perfect);
    const late = judged(...perfect.map((decision) => ({ ...decision, atMin: decision.atMin + 20 })));
    expect(summarize(late, oracle)).toMatchObject({
      p50Min: 30,
      p50OverOracle: 3,
      mergedPerHour: 3,
      decidedPerHour: 6,
      throughputOverOracle: 0.5,
      runsPerChange: 2,
      runsPerMerged: 4,
      ciMinutesPerChange: 15,
      ciMinutesPerMerged: 30,
      ciMinutesOverOracle: 1,
      abortedShare: 0.25,
      falseEvictionPercent: 0,
      badMerges: 0,
    });
  });

  it('is averaged figure by figure', () => {
    const summary = summarize(judged(...perfect), judged(...perfect));
    const other = { ...summary, p50Min: summary.p50Min + 4 };
    expect(meanOfSummaries([summary, other])).toEqual({ ...summary, p50Min: summary.p50Min + 2 });
  });
});

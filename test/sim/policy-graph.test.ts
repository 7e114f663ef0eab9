import { describe, expect, it } from 'vitest';
import { sketchWorkload, describeDecisions } from '#tool/simulate/kernel/fixture.ts';
import {
  bestFirst,
  createBestFirst,
  graphOracle,
  graphPolicies,
  optimistic,
  single,
  speculateAll,
} from './policy-graph.ts';
import { computeResult } from '#tool/simulate/kernel/result.ts';
import { percentile } from '#tool/simulate/kernel/statistics.ts';
import {
  createGraphWorkload,
  disturb,
  submitQueueOptions,
  type Workload,
} from '#tool/simulate/kernel/workload.ts';

const everyone = [graphOracle, ...graphPolicies];

describe('two changes that share, the first of them bad', () => {
  const workload = sketchWorkload([
    { arrivesAtMin: 0, isGood: false, predictedPass: 0.03 },
    { arrivesAtMin: 1, shares: [1] },
  ]);

  it('single builds the second once the first has failed', () => {
    const run = single.simulate(workload, 5);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 20']);
    expect(run).toMatchObject({ runsStarted: 2, runsAborted: 0, ciMinutes: 20 });
  });

  it('optimistic starts the second again', () => {
    const run = optimistic.simulate(workload, 5);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 20']);
    expect(run).toMatchObject({ runsStarted: 3, runsAborted: 1, ciMinutes: 29 });
  });

  it('speculate-all has built the second both ways', () => {
    const run = speculateAll.simulate(workload, 5);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 11']);
    expect(run).toMatchObject({ runsStarted: 3, runsAborted: 1, ciMinutes: 29 });
  });

  it('best-first gives its last slot to the likelier path', () => {
    const run = bestFirst.simulate(workload, 2);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 11']);
    expect(run).toMatchObject({ runsStarted: 2, runsAborted: 0, ciMinutes: 20 });
  });

  it('best-first builds the other path too if there is a slot and no threshold', () => {
    expect(bestFirst.simulate(workload, 3).runsStarted).toBe(3);
    const careful = createBestFirst('careful', { threshold: 0.05, isSticky: false });
    expect(careful.simulate(workload, 3).runsStarted).toBe(2);
  });

  it('the oracle builds the second once, without the first', () => {
    const run = graphOracle.simulate(workload, 5);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 11']);
    expect(run).toMatchObject({ runsStarted: 2, runsAborted: 0, ciMinutes: 20 });
  });
});

describe('every policy for a graph', () => {
  it.each(everyone)('$name fails the later of two that conflict', ({ simulate }) => {
    const workload = sketchWorkload([
      { arrivesAtMin: 0 },
      { arrivesAtMin: 1, shares: [1], conflictsWith: [1] },
    ]);
    const result = computeResult('policy', workload, simulate(workload, 5));
    expect(result).toMatchObject({ merged: 1, failed: 1, badMerges: 0, falseRemovals: 0 });
    expect(result.decisions.map(({ number }) => number)).toEqual([1, 2]);
  });

  it.each(everyone)('$name lets a quick change that shares with nothing overtake', ({ simulate }) => {
    const workload = sketchWorkload([
      { arrivesAtMin: 0, durationMin: 50 },
      { arrivesAtMin: 1, durationMin: 2 },
      { arrivesAtMin: 2, durationMin: 3, shares: [1] },
    ]);
    const [first, ...rest] = describeDecisions(simulate(workload, 5));
    expect(first).toBe('2 merged at 3');
    expect(rest[0]).toBe('1 merged at 50');
  });

  it.each(everyone)('$name starts a change again when it is pushed to', ({ simulate }) => {
    const push = { kind: 'push', number: 1, atMin: 4 } as const;
    const workload = sketchWorkload([{ arrivesAtMin: 0 }], { disturbances: [push] });
    const run = simulate(workload, 1);
    expect(describeDecisions(run)).toEqual(['1 merged at 14']);
    expect(run).toMatchObject({ runsStarted: 2, runsAborted: 1, ciMinutes: 14 });
  });

  it.each(everyone)('$name goes on without a change that is cancelled', ({ simulate }) => {
    const cancel = { kind: 'cancel', number: 1, atMin: 4 } as const;
    const workload = sketchWorkload([{ arrivesAtMin: 0 }, { arrivesAtMin: 1, shares: [1] }], {
      disturbances: [cancel],
    });
    const [first, second] = simulate(workload, 5).decisions;
    expect(first).toEqual({ number: 1, outcome: 'cancelled', atMin: 4 });
    expect(second).toMatchObject({ number: 2, outcome: 'merged' });
    expect(second!.atMin).toBeLessThanOrEqual(14);
  });

  it.each(everyone)(
    '$name decides every change once, flakes, pushes and cancellations or not',
    ({ simulate }) => {
      const plain = createGraphWorkload({
        ...submitQueueOptions,
        seed: 4,
        count: 150,
        sharingProbability: 0.05,
        flakeProbability: 0.05,
      });
      const workload = disturb(plain, { pushedShare: 0.2, cancelledShare: 0.1, delayMin: 15 });
      const result = computeResult('policy', workload, simulate(workload, 40));
      expect(result.badMerges).toBe(0);
      expect(result.cancelled).toBeGreaterThan(0);
      expect(simulate(workload, 40)).toEqual(simulate(workload, 40));
    },
  );

  it.each([1, 2, 3])('is no faster than the oracle at P50 and keeps to its outcomes, seed %i', (seed) => {
    const workload = createGraphWorkload({
      ...submitQueueOptions,
      seed,
      count: 200,
      sharingProbability: 0.02,
    });
    const oracle = computeResult('oracle', workload, graphOracle.simulate(workload, 500));
    expect(oracle.runsStarted).toBe(200);
    for (const { name, simulate } of graphPolicies) {
      const result = computeResult(name, workload, simulate(workload, 500));
      expect(result).toMatchObject({ badMerges: 0, falseRemovals: 0, merged: oracle.merged });
      expect(percentile(result.turnaroundsMin, 0.5)).toBeGreaterThanOrEqual(
        percentile(oracle.turnaroundsMin, 0.5),
      );
    }
  });
});

describe('sticky slots', () => {
  const workload = sketchWorkload([
    { arrivesAtMin: 0, durationMin: 100 },
    { arrivesAtMin: 1, shares: [1] },
    { arrivesAtMin: 2 },
  ]);

  it('are taken from a build that is worth less when they are not', () => {
    const run = createBestFirst('preemptive', { threshold: 0.1, isSticky: false }).simulate(workload, 2);
    expect(describeDecisions(run)).toEqual(['3 merged at 12', '1 merged at 100', '2 merged at 100']);
    expect(run).toMatchObject({ runsStarted: 4, runsAborted: 1 });
  });

  it('are kept to the end of a build that may still be needed', () => {
    const run = createBestFirst('sticky', { threshold: 0.1, isSticky: true }).simulate(workload, 2);
    expect(describeDecisions(run)).toEqual(['3 merged at 21', '1 merged at 100', '2 merged at 100']);
    expect(run).toMatchObject({ runsStarted: 3, runsAborted: 0 });
  });
});

/** The same changes, which share also with what those share with that they share with, and so on. */
function shareTransitively(workload: Workload): Workload {
  const closed = new Map<number, ReadonlySet<number>>();
  for (const { number, shares } of workload.changes)
    closed.set(number, new Set(shares.flatMap((earlier) => [earlier, ...closed.get(earlier)!])));
  const rising = (numbers: ReadonlySet<number>) => [...numbers].toSorted((one, other) => one - other);
  return {
    ...workload,
    changes: workload.changes.map((change) => ({ ...change, shares: rising(closed.get(change.number)!) })),
  };
}

describe('the oracle as the measure of a planner', () => {
  const options = { ...submitQueueOptions, count: 150, sharingProbability: 0.03 };

  it.each([11, 12, 13])(
    'is the same bound whether dependencies are direct or transitive, seed %d',
    (seed) => {
      // A change waits for those it shares with, and these wait for theirs: the closure adds nothing to wait for.
      const direct = createGraphWorkload({ ...options, seed });
      const transitive = shareTransitively(direct);
      expect(transitive.changes.flatMap(({ shares }) => shares).length).toBeGreaterThan(
        2 * direct.changes.flatMap(({ shares }) => shares).length,
      );
      const decisionsOf = (workload: Workload) =>
        describeDecisions(graphOracle.simulate(workload, 500)).toSorted();
      expect(decisionsOf(transitive)).toEqual(decisionsOf(direct));
    },
  );
});

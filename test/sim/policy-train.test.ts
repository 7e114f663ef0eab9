import { describe, expect, it } from 'vitest';
import { sketchWorkload, describeDecisions } from '#tool/simulate/kernel/fixture.ts';
import {
  allGreen,
  inlineBisection,
  lineOracle,
  linePolicies,
  offlineBisection,
  oneBatch,
  serial,
} from './policy-train.ts';
import { computeResult } from '#tool/simulate/kernel/result.ts';
import { percentile } from '#tool/simulate/kernel/statistics.ts';
import {
  createGraphWorkload,
  createLineWorkload,
  disturb,
  submitQueueOptions,
} from '#tool/simulate/kernel/workload.ts';

const everyone = [lineOracle, ...linePolicies];

describe('two changes in a line, the first of them bad', () => {
  const workload = sketchWorkload([{ arrivesAtMin: 0, isGood: false }, { arrivesAtMin: 1 }]);

  it('serial runs one after the other', () => {
    const run = serial.simulate(workload, 16);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 20']);
    expect(run).toMatchObject({ runsStarted: 2, runsAborted: 0, ciMinutes: 20 });
  });

  it('all-green starts the second again, and the aborted time counts', () => {
    const run = allGreen.simulate(workload, 16);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 20']);
    expect(run).toMatchObject({ runsStarted: 3, runsAborted: 1, ciMinutes: 29 });
  });

  it('inline bisection halves the batch in the train', () => {
    const run = inlineBisection.simulate(workload, 16);
    // The batch waits to 5, fails at 15; {1} and {1, 2} fail at 25; {2} passes.
    expect(describeDecisions(run)).toEqual(['1 failed at 25', '2 merged at 35']);
    expect(run).toMatchObject({ runsStarted: 4, runsAborted: 0, ciMinutes: 40 });
  });

  it('offline bisection runs the batch beside, then its halves, then the good half in the train', () => {
    const run = offlineBisection.simulate(workload, 16);
    expect(describeDecisions(run)).toEqual(['1 failed at 35', '2 merged at 45']);
    expect(run).toMatchObject({ runsStarted: 5, runsAborted: 0, ciMinutes: 50 });
  });

  it('the oracle runs each once', () => {
    const run = lineOracle.simulate(workload, 16);
    expect(describeDecisions(run)).toEqual(['1 failed at 10', '2 merged at 11']);
    expect(run).toMatchObject({ runsStarted: 2, runsAborted: 0, ciMinutes: 20 });
  });
});

describe('one batch at a time', () => {
  it('gathers what arrives during a run and halves it when it fails', () => {
    const workload = sketchWorkload([
      { arrivesAtMin: 0 },
      { arrivesAtMin: 1, isGood: false },
      { arrivesAtMin: 2 },
    ]);
    const run = oneBatch.simulate(workload, 16);
    // {2, 3} runs from 10 and fails at 20; {2} and {2, 3} run to 30; {3} runs to 40.
    expect(describeDecisions(run)).toEqual(['1 merged at 10', '2 failed at 30', '3 merged at 40']);
    expect(run.runsStarted).toBe(5);
  });
});

describe('an optimistic train', () => {
  const slow = [0, 0.1, 0.2, 0.3].map((arrivesAtMin) => ({ arrivesAtMin, durationMin: 30 }));
  const quick = [0.4, 0.5, 0.6, 0.7].map((arrivesAtMin) => ({ arrivesAtMin, durationMin: 10 }));
  const workload = sketchWorkload([...slow, ...quick]);

  it.each([inlineBisection, offlineBisection])(
    '$name merges a batch by the pass of the one behind it',
    (policy) => {
      const run = policy.simulate(workload, 16);
      expect(describeDecisions(run)).toEqual(
        [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `${number} merged at 10.7`),
      );
      expect(run).toMatchObject({ runsStarted: 2, runsAborted: 1 });
    },
  );

  it('all-green waits for each run', () => {
    expect(describeDecisions(allGreen.simulate(workload, 16)).at(-1)).toBe('8 merged at 30.3');
  });
});

describe('every policy for a line', () => {
  const noisy = createLineWorkload({
    seed: 5,
    count: 200,
    arrivalsPerHour: 30,
    passProbability: 0.85,
    flakeProbability: 0.05,
    predictor: { kind: 'prior' },
  });

  it.each(everyone)('$name decides every change once, pushes and cancellations or not', ({ simulate }) => {
    const workload = disturb(noisy, { pushedShare: 0.2, cancelledShare: 0.1, delayMin: 15 });
    const result = computeResult('policy', workload, simulate(workload, 16));
    expect(result.badMerges).toBe(0);
    expect(result.cancelled).toBeGreaterThan(0);
    expect(simulate(workload, 16)).toEqual(simulate(workload, 16));
  });

  it.each(everyone)(
    '$name ends also where halves that pass alone conflict with each other',
    ({ simulate }) => {
      const workload = createGraphWorkload({
        ...submitQueueOptions,
        seed: 2,
        count: 60,
        sharingProbability: 0.5,
      });
      const result = computeResult('policy', workload, simulate(workload, 16));
      expect(result).toMatchObject({ badMerges: 0, falseRemovals: 0 });
    },
  );

  it.each([1, 2, 3])('is no faster than the oracle at any percentile, seed %i', (seed) => {
    const workload = { ...noisy, seed };
    const oracle = computeResult('oracle', workload, lineOracle.simulate(workload, 16));
    for (const { name, simulate } of linePolicies) {
      const result = computeResult(name, workload, simulate(workload, 16));
      for (const share of [0.05, 0.5, 0.95])
        expect(percentile(result.turnaroundsMin, share)).toBeGreaterThanOrEqual(
          percentile(oracle.turnaroundsMin, share),
        );
    }
  });

  it.each(linePolicies)('$name fails good changes only where runs flake', ({ simulate }) => {
    const sound = { ...noisy, flakeProbability: 0 };
    expect(computeResult('policy', sound, simulate(sound, 16)).falseRemovals).toBe(0);
    const hopeless = sketchWorkload([{ arrivesAtMin: 0 }, { arrivesAtMin: 1 }], { flakeProbability: 1 });
    expect(computeResult('policy', hopeless, simulate(hopeless, 16)).falseRemovals).toBe(2);
  });

  it.each(everyone)('$name starts a change again when it is pushed to', ({ simulate }) => {
    const push = { kind: 'push', number: 1, atMin: 8 } as const;
    const workload = sketchWorkload([{ arrivesAtMin: 0 }], { disturbances: [push] });
    const run = simulate(workload, 16);
    expect(describeDecisions(run)).toEqual(['1 merged at 18']);
    expect(run).toMatchObject({ runsStarted: 2, runsAborted: 1 });
  });

  it('restarts only what stands behind a cancelled change', () => {
    const cancel = { kind: 'cancel', number: 2, atMin: 4 } as const;
    const changes = [{ arrivesAtMin: 0 }, { arrivesAtMin: 1 }, { arrivesAtMin: 2 }];
    const run = allGreen.simulate(sketchWorkload(changes, { disturbances: [cancel] }), 16);
    expect(describeDecisions(run)).toEqual(['2 cancelled at 4', '1 merged at 10', '3 merged at 14']);
    expect(run).toMatchObject({ runsStarted: 4, runsAborted: 2 });
  });
});

// The calibration that is asked for: at most 0.02 off after 1,500 verdicts, in worlds of which a known share can be foreseen.
import { describe, expect, it } from 'vitest';
import { computeCalibration } from '#core/queue/risk/calibration.ts';
import { type PredictedOutcome, replayAttempts } from '#core/queue/risk/risk.ts';
import { playSeed } from './experiment.ts';
import { createExperiment } from './experiments.ts';
import { parseOptions } from './options.ts';
import { createRiskWorld, type RiskyAttempt } from './risk-world.ts';

const heldOutSeeds = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20];
const verdictsBefore = 1_500;

const createWorld = (seed: number, visibleShare: number, failureShare: number, count = 4_500) =>
  createRiskWorld({
    seed,
    submittedAtMin: Array.from({ length: count }, (_, at) => at),
    visibleShare,
    failureShare,
  });

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What was predicted of the attempts that came after `verdictsBefore`. */
function predictLater(world: readonly RiskyAttempt[]): readonly PredictedOutcome[] {
  const { outcomes } = replayAttempts(world);
  return outcomes.slice(-Math.min(outcomes.length, world.length - verdictsBefore));
}

describe('the prediction of failures', () => {
  it.each([
    [0.25, 0.05],
    [0.5, 0.05],
    [0.75, 0.05],
    [0.5, 0.15],
    [0, 0.1],
  ])(
    'is calibrated to 0.02 after 1,500 verdicts, if %f of a failure can be foreseen and %f fail',
    (visibleShare, failureShare) => {
      const calibrations = heldOutSeeds.map((seed) =>
        computeCalibration(predictLater(createWorld(seed, visibleShare, failureShare)))!,
      );
      expect(mean(calibrations.map(({ error }) => error))).toBeLessThanOrEqual(0.02);
      const skill = mean(calibrations.map(({ skill: own }) => own!));
      // Where something can be foreseen, some of it is; where nothing can, next to nothing is made up.
      expect(skill).toBeGreaterThan(visibleShare >= 0.5 ? 0.02 : -0.01);
    },
  );

  it('is seen to be wrong if the world is not as it was: failures that are predicted and do not come', () => {
    const world = createWorld(11, 0.5, 0.15);
    const outcomes = predictLater(world).map(({ probability }) => ({ probability, hasFailed: false }));
    expect(computeCalibration(outcomes)!.error).toBeGreaterThan(0.1);
  });

  it('takes less than 10 µs for each attempt, prediction and learning together', () => {
    const world = createWorld(11, 0.5, 0.05, 5_000);
    replayAttempts(world);
    const times = Array.from({ length: 3 }, () => {
      const from = performance.now();
      replayAttempts(world);
      return performance.now() - from;
    });
    expect((Math.min(...times) * 1_000) / world.length).toBeLessThan(10);
  });
});

describe('the experiment about it', () => {
  it('plays the same changes with and without predictions, and merges nothing bad', () => {
    const { scenarios } = createExperiment(parseOptions(['risk', '--only', 'L1', '--n', '60']));
    expect(scenarios.map(({ name }) => name)).toContain('L1 60/h, learned 0.5');
    const [none, learned] = ['L1 60/h, none 0.5', 'L1 60/h, learned 0.5'].map((name) =>
      scenarios.find((scenario) => scenario.name === name)!.createWorkload(11),
    );
    expect(learned!.changes.map(({ isGood }) => isGood)).toEqual(none!.changes.map(({ isGood }) => isGood));
    expect([none!.isPredicted, learned!.isPredicted]).toEqual([false, true]);
    expect(new Set(learned!.changes.map(({ predictedPass }) => predictedPass)).size).toBeGreaterThan(30);
    for (const scenario of scenarios) expect(playSeed(scenario, 11)[0]!.badMerges).toBe(0);
  });

  it('names its rows if one is asked for that it does not have', () => {
    expect(() => createExperiment(parseOptions(['risk', '--only', 'L7']))).toThrow(
      'No row L7; there are L1,',
    );
  });
});

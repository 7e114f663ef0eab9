import { describe, expect, it } from 'vitest';
import type { QueueSettings } from '#core/queue/settings.ts';
import { calibrate } from './calibration.ts';
import { createGraphWorkload, createLineWorkload } from '#tool/simulate/kernel/workload.ts';

const seeds = [1, 2, 3, 4];
/** Nothing was tuned on these. */
const otherSeeds = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

/** Of changes that landed, how many did so within the 10th and the 90th percentile of their estimates, over all seeds. */
function insideShare(calibrations: readonly ReturnType<typeof calibrate>[]): number {
  const count = calibrations.reduce((sum, each) => sum + each.count, 0);
  expect(count).toBeGreaterThan(2_000);
  return calibrations.reduce((sum, each) => sum + each.count * (1 - each.early - each.late), 0) / count;
}

type Line = {
  readonly arrivalsPerHour: number;
  readonly passProbability: number;
  readonly flakeProbability?: number;
};
const lineShare = (line: Line, settings: Partial<QueueSettings>, asked = seeds): number =>
  insideShare(
    asked.map((seed) =>
      calibrate(
        createLineWorkload({ flakeProbability: 0, ...line, seed, count: 400, predictor: { kind: 'prior' } }),
        { strategy: 'manual', ...settings },
      ),
    ),
  );

/** Eight of ten is what the interval promises: more would be too wide, less too narrow. */
const missOf = (share: number): number => Math.abs(share - 0.8);
const missMax = 0.03;

describe('the interval of an estimate holds its landing', () => {
  const flaky = { passProbability: 0.95, flakeProbability: 0.02 };
  const sixes = { batch: true, bisectionConcurrency: 8, batchingMinSize: 6 };
  it.each<[string, Line, Partial<QueueSettings>]>([
    ['with one bad in twenty', { arrivalsPerHour: 8, passProbability: 0.95 }, { concurrency: 5 }],
    [
      'that merges optimistically',
      { arrivalsPerHour: 16, ...flaky },
      { concurrency: 16, canOptimisticallyMerge: true, pendingFailureDepth: 1 },
    ],
    ['of batches of six', { arrivalsPerHour: 25, ...flaky }, { concurrency: 8, ...sixes }],
    [
      'of batches of four',
      { arrivalsPerHour: 25, passProbability: 0.95 },
      { concurrency: 8, ...sixes, batchingMinSize: 4 },
    ],
  ])('in a line %s', (_name, line, settings) => {
    expect(missOf(lineShare(line, settings, otherSeeds))).toBeLessThan(missMax);
  });

  it.each<[string, Line, Partial<QueueSettings>]>([
    ['of good changes', { arrivalsPerHour: 8, passProbability: 1 }, { concurrency: 5 }],
    ['with one bad in ten', { arrivalsPerHour: 8, passProbability: 0.9 }, { concurrency: 8 }],
    ['with one slot', { arrivalsPerHour: 1.8, passProbability: 0.95 }, { concurrency: 1 }],
    ['that grows and is flaky', { arrivalsPerHour: 60, ...flaky }, { concurrency: 16 }],
  ])('about as often in a line %s', (_name, line, settings) => {
    const share = lineShare(line, settings);
    expect(share).toBeGreaterThan(0.75);
    expect(share).toBeLessThan(0.85);
  });

  const adaptive = { strategy: 'adaptive' } as const;
  it.each<[string, Line, Partial<QueueSettings>]>([
    ['is quiet', { arrivalsPerHour: 8, ...flaky }, { concurrency: 16 }],
    ['is half used', { arrivalsPerHour: 30, ...flaky }, { concurrency: 16 }],
    ['is busy', { arrivalsPerHour: 60, ...flaky }, { concurrency: 16 }],
    ['has few slots', { arrivalsPerHour: 16, ...flaky }, { concurrency: 5 }],
    ['has half of few slots free', { arrivalsPerHour: 8, ...flaky }, { concurrency: 8 }],
    ['is rough', { arrivalsPerHour: 30, passProbability: 0.85, flakeProbability: 0.05 }, { concurrency: 16 }],
  ])('in a line with the strategy adaptive that %s', (_name, line, settings) => {
    expect(missOf(lineShare(line, { ...adaptive, ...settings }, otherSeeds))).toBeLessThan(missMax);
  });

  it.each([
    [0.01, 'adaptive'],
    [0.05, 'adaptive'],
    [0.05, 'manual'],
  ] as const)(
    'in lanes where a pair shares a target with probability %d, with the strategy %s',
    (sharingProbability, strategy) => {
      const calibrations = otherSeeds.map((seed) => {
        const workload = createGraphWorkload({
          seed,
          count: 400,
          arrivalsPerHour: 30,
          passProbability: 0.95,
          sharingProbability,
          conflictProbability: 0.04,
          predictor: { kind: 'prior' },
          horizonMin: 60,
          flakeProbability: 0,
        });
        return calibrate(workload, { mode: 'parallel', concurrency: 20, strategy });
      });
      expect(missOf(insideShare(calibrations))).toBeLessThan(missMax);
    },
  );
});

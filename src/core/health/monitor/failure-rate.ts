// A test is flaky, or broken, if its failure rate is high, even at the low end of what the runs can mean.

import { countText } from '#base/number-text.ts';
import { fraction } from '../../setting.ts';
import { branches, countMin, isOn, monitor, windowDays } from './monitor-type.ts';
import { branchesText, daysText, percentText, thresholdText } from './monitor-text.ts';
import { wilsonLower } from './statistics.ts';
import { countRunsInWindow } from './window.ts';

type FailureRateDefaults = {
  readonly isOn: boolean;
  readonly rateMin: number;
  readonly resolveBelow: number;
  readonly windowDays: number;
  readonly runsMin: number;
};

const failureRate = (says: 'flaky' | 'broken', intro: string, defaults: FailureRateDefaults) =>
  monitor({
    says,
    title: `Failure rate, ${says}`,
    heading: `${says === 'flaky' ? 'Flaky' : 'Broken'}: failure rate`,
    intro,
    settings: {
      isOn: isOn(defaults.isOn),
      rateMin: fraction({
        min: 0,
        max: 1,
        initial: defaults.rateMin,
        label: 'Activate at failure rate',
        description:
          'The monitor fires if the failure rate is at least this with statistical confidence, 0 to 1.',
      }),
      resolveBelow: fraction({
        min: 0,
        max: 1,
        initial: defaults.resolveBelow,
        label: 'Resolve below failure rate',
        description: 'The monitor resolves if the failure rate is below this, at most rate_min.',
      }),
      windowDays: windowDays(defaults.windowDays),
      runsMin: countMin(
        defaults.runsMin,
        'Minimum number of runs',
        'With fewer runs than this the monitor neither fires nor resolves.',
      ),
      branches: branches(['default']),
    },
    classify: (history, settings, wasActive, now) => {
      const { runs, failed } = countRunsInWindow(history, settings, now);
      const rate = runs === 0 ? 0 : failed / runs;
      const isEnough = runs >= settings.runsMin;
      const isActive = wasActive
        ? runs > 0 && (!isEnough || rate >= settings.resolveBelow)
        : isEnough && wilsonLower(failed, runs) >= settings.rateMin;
      if (!isActive) return null;
      return {
        evidence: `failed in ${failed} of ${runs} runs (${percentText(rate)}) on ${branchesText(settings.branches)} in ${daysText(settings.windowDays)}`,
        isCertain: true,
        culprit: null,
      };
    },
    describe: (history, settings, now) => {
      const { runs, failed } = countRunsInWindow(history, settings, now);
      const rate = runs === 0 ? '' : ` (${thresholdText(failed / runs)})`;
      return `Failed in ${failed} of ${countText(runs, 'run')}${rate} on ${branchesText(settings.branches)} in ${daysText(settings.windowDays)}; fires at ${thresholdText(settings.rateMin)} or more, with at least ${countText(settings.runsMin, 'run')}.`;
    },
  });

export const failureRateFlaky = failureRate(
  'flaky',
  'A test that fails in a given share of its runs is flaky.',
  {
    isOn: false,
    rateMin: 0.1,
    resolveBelow: 0.05,
    windowDays: 7,
    runsMin: 20,
  },
);

export const failureRateBroken = failureRate('broken', 'A test that fails in most of its runs is broken.', {
  isOn: true,
  rateMin: 0.8,
  resolveBelow: 0.4,
  windowDays: 1,
  runsMin: 5,
});

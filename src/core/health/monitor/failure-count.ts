// A test is flaky, or broken, if it failed so many times.

import { dayMs } from '#base/duration.ts';
import { countText } from '#base/number-text.ts';
import { branches, countMin, isOn, monitor, quietDays, windowDays } from './monitor-type.ts';
import { branchesText, daysText, timesText } from './monitor-text.ts';
import { countRunsInWindow } from './window.ts';

type FailureCountDefaults = {
  readonly failuresMin: number;
  readonly windowDays: number;
  readonly quietDays: number;
};

const failureCount = (says: 'flaky' | 'broken', defaults: FailureCountDefaults) =>
  monitor({
    says,
    title: `Failure count, ${says}`,
    heading: `${says === 'flaky' ? 'Flaky' : 'Broken'}: number of failures`,
    intro: `A test with a given number of failures is ${says}.`,
    settings: {
      isOn: isOn(false),
      failuresMin: countMin(
        defaults.failuresMin,
        'Minimum number of failures',
        'The monitor fires after this many failures.',
      ),
      windowDays: windowDays(defaults.windowDays),
      quietDays: quietDays(defaults.quietDays),
      branches: branches(['default']),
    },
    classify: (history, settings, wasActive, now) => {
      const { failed } = countRunsInWindow(history, settings, now);
      const isQuiet = now - history.lastFailureAt >= settings.quietDays * dayMs;
      const isActive = failed >= settings.failuresMin || (wasActive && !isQuiet);
      if (!isActive) return null;
      return {
        evidence: `failed ${timesText(failed)} on ${branchesText(settings.branches)} in ${daysText(settings.windowDays)}`,
        isCertain: true,
        culprit: null,
      };
    },
    describe: (history, settings, now) => {
      const { failed } = countRunsInWindow(history, settings, now);
      return `Failed in ${countText(failed, 'run')} on ${branchesText(settings.branches)} in ${daysText(settings.windowDays)}; fires at ${countText(settings.failuresMin, 'failure')} or more.`;
    },
  });

export const failureCountFlaky = failureCount('flaky', { failuresMin: 3, windowDays: 7, quietDays: 7 });

export const failureCountBroken = failureCount('broken', { failuresMin: 5, windowDays: 1, quietDays: 1 });

// What each monitor counts just now, in words: also of those that are silent or off, so that one sees how far they are
// from speaking.

import { viewDefaultBranch } from './broken.ts';
import type { History } from './history.ts';
import { daysText, isBroken, placesText, windowOf } from './monitor.ts';
import { viewPassOnRetry } from './pass-on-retry.ts';
import type { FailureCountSettings, FailureRateSettings, HealthSettings, MonitorId } from './settings.ts';

export const saysOf = (monitor: MonitorId): 'flaky' | 'broken' => (isBroken(monitor) ? 'broken' : 'flaky');

const percentOf = (share: number): string => `${Math.round(share * 1_000) / 10} %`;
const countOf = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;

export function seenBy(
  monitor: MonitorId,
  history: History,
  { monitors }: HealthSettings,
  now: number,
): string {
  switch (monitor) {
    case 'pass_on_retry': {
      const { windowDays, sourcesMin } = monitors.pass_on_retry;
      const { contradicted, verdicts } = viewPassOnRetry(history, monitors.pass_on_retry, now);
      return `Passed and failed on ${contradicted} of ${countOf(verdicts, 'commit')} in ${daysText(windowDays)}; fires from ${sourcesMin} on that chance does not explain.`;
    }
    case 'failure_rate_flaky':
    case 'failure_rate_broken':
      return rateSeen(history, monitors[monitor], now);
    case 'failure_count_flaky':
    case 'failure_count_broken':
      return countSeen(history, monitors[monitor], now);
    case 'changepoint': {
      const { failingInARow } = viewDefaultBranch(history, monitors.changepoint);
      if (history.onDefault.length === 0) return 'No run on the default branch is known.';
      return failingInARow === 0
        ? 'Passed in the newest run on the default branch.'
        : `Failed in the newest ${countOf(failingInARow, 'run')} on the default branch.`;
    }
  }
}

function rateSeen(history: History, settings: FailureRateSettings, now: number): string {
  const { runs, failed } = windowOf(history, settings, now);
  const rate = runs === 0 ? '' : ` (${percentOf(failed / runs)})`;
  return `Failed in ${failed} of ${countOf(runs, 'run')}${rate} on ${placesText(settings.branches)} in ${daysText(settings.windowDays)}; fires from ${percentOf(settings.rateMin)} on, with ${countOf(settings.runsMin, 'run')} or more.`;
}

function countSeen(history: History, settings: FailureCountSettings, now: number): string {
  const { failed } = windowOf(history, settings, now);
  return `Failed in ${countOf(failed, 'run')} on ${placesText(settings.branches)} in ${daysText(settings.windowDays)}; fires from ${settings.failuresMin} on.`;
}

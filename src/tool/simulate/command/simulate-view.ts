// What `signalbox simulate` prints.

import { countText, percentText } from '#base/number-text.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { changesBetween } from '../fit/candidate.ts';
import type { Figures } from '../fit/figures.ts';
import type { Fit } from '../fit/fit.ts';
import type { Goal, Recommendation, Tried, RecommendationOptions } from '../fit/recommend.ts';
import { quantile, sum } from '../kernel/statistics.ts';
import { type QueueReference, repositoryText } from '#cli/client/place.ts';
import { type Pen, tableLines } from '#cli/terminal/output.ts';

/** 0.4 s, 34 s, 5.2 min, 41 min, 3 h 5 min. */
function minutesText(minutes: number): string {
  if (!Number.isFinite(minutes)) return '-';
  if (minutes < 1) return `${(minutes * 60).toFixed(minutes < 1 / 6 ? 1 : 0)} s`;
  if (minutes < 10) return `${minutes.toFixed(1)} min`;
  if (minutes < 120) return `${Math.round(minutes)} min`;
  return `${Math.floor(minutes / 60)} h ${Math.round(minutes % 60)} min`;
}

const numberText = (value: number): string =>
  !Number.isFinite(value) ? '-' : value < 10 ? value.toFixed(2) : value.toFixed(1);

export function settingsText(from: QueueSettings, to: QueueSettings): string {
  const changes = Object.entries(changesBetween(from, to));
  return changes.map(([name, value]) => `${name}=${String(value)}`).join(' ');
}

/** A summary of the history in two sentences. */
export function historyLines({ evidence, blame, poolMin, timing }: Fit, days: number): readonly string[] {
  const { attempts, runs } = evidence;
  const merged = attempts.filter(({ outcome }) => outcome === 'merged').length;
  const bad = sum(blame.badAlone) / attempts.length;
  const together = sum(blame.badWith.map((partner) => partner?.chance ?? 0)) / attempts.length;
  return [
    `History of ${countText(days, 'day')}: ${countText(attempts.length, 'submission')}, ${merged} merged, ${countText(runs.length, 'test run')} that finished.`,
    `About ${percentText(bad)} of the changes were broken alone, ${percentText(together)} only together with another change, and ${percentText(blame.flakeProbability)} of test runs fail by chance.`,
    `A run takes ${minutesText(quantile(poolMin, 0.5))} (P95 ${minutesText(quantile(poolMin, 0.95))}) and starts after ${minutesText(quantile(timing.startMin, 0.5))}; a landing takes ${minutesText(quantile(timing.landMin, 0.5))}.`,
  ];
}

const checked = [
  ['time in queue, P50', 'p50Min', minutesText],
  ['time in queue, P95', 'p95Min', minutesText],
  ['CI minutes per merge', 'ciMinutesPerMerged', numberText],
  ['restarts per merge', 'restartsPerMerged', numberText],
] as const;

/** With a larger error, a prediction is worth little. */
const errorMax = 0.2;
/** Fewer merges predict little about the next ones. */
const mergedMin = 100;

export type FitCheck = {
  readonly figure: keyof Figures;
  readonly was: number;
  readonly says: number;
  readonly error: number;
};

export function compareFitToHistory(was: Figures, says: Figures): readonly FitCheck[] {
  return checked.map(([, figure]) => ({
    figure,
    was: was[figure],
    says: says[figure],
    error: says[figure] / was[figure] - 1,
  }));
}

/** Restarts are shown, but do not count: few restarts become many or none by chance. */
export const isGoodFit = (checks: readonly FitCheck[]): boolean =>
  checks.every(({ figure, error }) => figure === 'restartsPerMerged' || Math.abs(error) <= errorMax);

export function checkLines(was: Figures, says: Figures, pen: Pen): readonly string[] {
  const checks = compareFitToHistory(was, says);
  const rows = checked.map(([name, , text], at) => {
    const { was, says, error } = checks[at]!;
    const off = Number.isFinite(error)
      ? `${error < 0 ? '-' : '+'}${Math.abs(100 * error).toFixed(0)} %`
      : '-';
    const isOff = Math.abs(error) > errorMax;
    return [name, text(was), text(says), isOff ? { text: off, tone: 'warning' as const } : off];
  });
  const verdict = isGoodFit(checks)
    ? 'The simulation of the current settings is close to reality, so its predictions are reliable.'
    : pen(
        'warning',
        'The simulation of the current settings is far from reality, so its predictions are not reliable. The queue may have been paused, or its settings changed, in this period. Try fewer --days.',
      );
  return [
    'Current settings, simulated, compared with reality:',
    ...tableLines(['', 'actual', 'simulated', 'error'], rows, pen),
    verdict,
    ...(was.merged < mergedMin
      ? [
          pen(
            'warning',
            `The history has only ${countText(was.merged, 'merge')}, so chance has a large effect. Try more --days.`,
          ),
        ]
      : []),
  ];
}

export function renderSettingsTable(
  present: QueueSettings,
  now: Tried,
  others: readonly Tried[],
  pen: Pen,
): readonly string[] {
  const row = ({ settings, prediction: { mean } }: Tried, name?: string) => [
    minutesText(mean.p50Min),
    minutesText(mean.p95Min),
    minutesText(mean.p99Min),
    numberText(mean.ciMinutesPerMerged),
    numberText(mean.mergedPerHour),
    `${mean.falseRemovalPercent.toFixed(1)} %`,
    name ?? settingsText(present, settings),
  ];
  return tableLines(
    ['P50', 'P95', 'P99', 'CI min/merge', 'merged/h', 'removed by chance', 'settings'],
    [row(now, 'current settings'), ...others.map((one) => row(one))],
    pen,
  );
}

const goals: Readonly<Record<Goal, (options: RecommendationOptions) => string>> = {
  latency: ({ ciBudget }) => `the lowest P95 with at most ${ciBudget} times the current CI minutes per merge`,
  cost: () => 'the fewest CI minutes per merge with a P95 at most 10 % above the current one',
};

export function recommendationLines(
  place: QueueReference,
  present: QueueSettings,
  { now, best, triedCount }: Recommendation,
  options: RecommendationOptions,
  pen: Pen,
): readonly string[] {
  if (best === null)
    return [
      `Recommended: keep the current settings. None of ${triedCount} alternatives is 10 % better. The goal is ${goals[options.goal](options)}.`,
    ];
  const { mean, low, high } = best.prediction;
  const was = now.prediction.mean;
  const settings = settingsText(present, best.settings);
  return [
    pen('strong', `Recommended: ${settings}`),
    `  time in queue, P50: ${minutesText(was.p50Min)} → ${minutesText(mean.p50Min)} (${minutesText(low.p50Min)} to ${minutesText(high.p50Min)} in 8 of 10 simulations)`,
    `  time in queue, P95: ${minutesText(was.p95Min)} → ${minutesText(mean.p95Min)} (${minutesText(low.p95Min)} to ${minutesText(high.p95Min)})`,
    `  CI minutes per merge: ${numberText(was.ciMinutesPerMerged)} → ${numberText(mean.ciMinutesPerMerged)} (${numberText(low.ciMinutesPerMerged)} to ${numberText(high.ciMinutesPerMerged)})`,
    `Of ${triedCount} simulated settings, these give ${goals[options.goal](options)}.`,
    best.settings.concurrency > present.concurrency
      ? `This assumes that ${best.settings.concurrency} concurrent runs are as fast as ${present.concurrency}. If your CI does not have the capacity, use --max-concurrency.`
      : 'The prediction describes the recorded period under other settings; it is not a forecast.',
    'Apply these settings with:',
    `  signalbox queue set --repo ${repositoryText(place.repo)} --branch ${place.targetBranch} ${settings}`,
  ];
}

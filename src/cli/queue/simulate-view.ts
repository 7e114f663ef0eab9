// What `signalbox simulate` prints.

import type { QueueSettings } from '#core/queue/settings.ts';
import { changesBetween } from '#sim/candidate.ts';
import type { Figures } from '#sim/figures.ts';
import type { Fit } from '#sim/fit.ts';
import type { Goal, Recommendation, Tried, Wishes } from '#sim/recommend.ts';
import { quantile, sum } from '#sim/statistics.ts';
import { type QueuePlace, repositoryText } from '../client/place.ts';
import { countText, type Pen, tableLines } from '../terminal/output.ts';

/** 0.4 s, 34 s, 5.2 min, 41 min, 3 h 5 min. */
function minutesText(minutes: number): string {
  if (!Number.isFinite(minutes)) return '-';
  if (minutes < 1) return `${(minutes * 60).toFixed(minutes < 1 / 6 ? 1 : 0)} s`;
  if (minutes < 10) return `${minutes.toFixed(1)} min`;
  if (minutes < 120) return `${Math.round(minutes)} min`;
  return `${Math.floor(minutes / 60)} h ${Math.round(minutes % 60)} min`;
}

const percentText = (share: number): string => `${(100 * share).toFixed(1)} %`;
const numberText = (value: number): string =>
  !Number.isFinite(value) ? '-' : value < 10 ? value.toFixed(2) : value.toFixed(1);

export function settingsText(from: QueueSettings, to: QueueSettings): string {
  const changes = Object.entries(changesBetween(from, to));
  return changes.map(([name, value]) => `${name}=${String(value)}`).join(' ');
}

/** What the history says, in two sentences. */
export function historyLines({ evidence, blame, poolMin, timing }: Fit, days: number): readonly string[] {
  const { trips, runs } = evidence;
  const merged = trips.filter(({ outcome }) => outcome === 'merged').length;
  const bad = sum(blame.badAlone) / trips.length;
  const together = sum(blame.badWith.map((partner) => partner?.chance ?? 0)) / trips.length;
  return [
    `History of ${countText(days, 'day')}: ${countText(trips.length, 'submission')}, ${merged} merged, ${countText(runs.length, 'test run')} that ended.`,
    `About ${percentText(bad)} of what came was bad alone, ${percentText(together)} bad only together with another, and ${percentText(blame.flakeProbability)} of test runs fail by chance.`,
    `A run takes ${minutesText(quantile(poolMin, 0.5))} (P95 ${minutesText(quantile(poolMin, 0.95))}) after ${minutesText(quantile(timing.startMin, 0.5))} to begin; a landing ${minutesText(quantile(timing.landMin, 0.5))}.`,
  ];
}

const checked = [
  ['time in queue, P50', 'p50Min', minutesText],
  ['time in queue, P95', 'p95Min', minutesText],
  ['CI minutes per merged', 'ciMinutesPerMerged', numberText],
  ['restarts per merged', 'restartsPerMerged', numberText],
] as const;

/** More than this, and a promise is worth little. */
const errorMax = 0.2;
/** Fewer merges say little about the next. */
const mergedMin = 100;

export type Check = {
  readonly figure: keyof Figures;
  readonly was: number;
  readonly says: number;
  readonly error: number;
};

export function checksOf(was: Figures, says: Figures): readonly Check[] {
  return checked.map(([, figure]) => ({
    figure,
    was: was[figure],
    says: says[figure],
    error: says[figure] / was[figure] - 1,
  }));
}

/** Restarts are told, and not judged: few of them are many or none by chance. */
export const isGoodFit = (checks: readonly Check[]): boolean =>
  checks.every(({ figure, error }) => figure === 'restartsPerMerged' || Math.abs(error) <= errorMax);

export function checkLines(was: Figures, says: Figures, pen: Pen): readonly string[] {
  const checks = checksOf(was, says);
  const rows = checked.map(([name, , text], at) => {
    const { was, says, error } = checks[at]!;
    const off = Number.isFinite(error)
      ? `${error < 0 ? '-' : '+'}${Math.abs(100 * error).toFixed(0)} %`
      : '-';
    const isOff = Math.abs(error) > errorMax;
    return [name, text(was), text(says), isOff ? { text: off, tone: 'warning' as const } : off];
  });
  const verdict = isGoodFit(checks)
    ? 'The simulation tells nearly what was: its promises can be believed.'
    : pen(
        'warning',
        'The simulation is far from what was, so take its promises with care. Was the queue paused, or were its settings changed in this time? Try fewer --days.',
      );
  return [
    'The present settings, simulated, against what really was:',
    ...tableLines(['', 'was', 'simulated', 'off by'], rows, pen),
    verdict,
    ...(was.merged < mergedMin
      ? [
          pen(
            'warning',
            `Only ${countText(was.merged, 'merge')}: chance is large in so few. Try more --days.`,
          ),
        ]
      : []),
  ];
}

export function tableOf(
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
    `${mean.falseEvictionPercent.toFixed(1)} %`,
    name ?? settingsText(present, settings),
  ];
  return tableLines(
    ['P50', 'P95', 'P99', 'CI min/merged', 'merged/h', 'evicted by chance', 'settings'],
    [row(now, 'as they are now'), ...others.map((one) => row(one))],
    pen,
  );
}

const goals: Readonly<Record<Goal, (wishes: Wishes) => string>> = {
  latency: ({ ciBudget }) =>
    `the lowest P95 whose CI minutes per merged are at most ${ciBudget} times those of now`,
  cost: () => 'the fewest CI minutes per merged whose P95 is at most a tenth above that of now',
};

export function recommendationLines(
  place: QueuePlace,
  present: QueueSettings,
  { now, best, triedCount }: Recommendation,
  wishes: Wishes,
  pen: Pen,
): readonly string[] {
  if (best === null)
    return [
      `Recommended: stay with the settings as they are. Of ${triedCount} others none is a tenth better at being ${goals[wishes.goal](wishes)}.`,
    ];
  const { mean, low, high } = best.prediction;
  const was = now.prediction.mean;
  const settings = settingsText(present, best.settings);
  return [
    pen('strong', `Recommended: ${settings}`),
    `  time in queue, P50: ${minutesText(was.p50Min)} → ${minutesText(mean.p50Min)} (${minutesText(low.p50Min)} to ${minutesText(high.p50Min)} in 8 of 10 simulations)`,
    `  time in queue, P95: ${minutesText(was.p95Min)} → ${minutesText(mean.p95Min)} (${minutesText(low.p95Min)} to ${minutesText(high.p95Min)})`,
    `  CI minutes per merged: ${numberText(was.ciMinutesPerMerged)} → ${numberText(mean.ciMinutesPerMerged)} (${numberText(low.ciMinutesPerMerged)} to ${numberText(high.ciMinutesPerMerged)})`,
    `Why these: of ${triedCount} settings they are ${goals[wishes.goal](wishes)}.`,
    best.settings.concurrency > present.concurrency
      ? `This assumes that ${best.settings.concurrency} runs at once are as fast as ${present.concurrency}: give --max-concurrency if your CI has no room for them.`
      : 'This assumes that pull requests go on coming as they did.',
    'Apply them with:',
    `  signalbox queue set --repo ${repositoryText(place.repo)} --branch ${place.targetBranch} ${settings}`,
  ];
}

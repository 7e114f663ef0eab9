// Finds the settings that would have served this history best. Many are tried on its last part with few
// seeds, the best of them with more, and the last few on all of it: the recommendation states the result of
// those.

import type { QueueSettings } from '#core/queue/settings.ts';
import { changesBetween, coarseCandidates, distinct, fineCandidates, buildSettingsKey } from './candidate.ts';
import type { Figures, Prediction } from './figures.ts';
import type { Fit } from './fit.ts';
import { createReplay, type Replay } from './replay.ts';
import { quantile } from '../kernel/statistics.ts';

export type Goal = 'latency' | 'cost';

export type RecommendationOptions = {
  /** `latency`: the lowest P95 within the budget. `cost`: the fewest CI minutes at no more than a tenth more P95. */
  readonly goal: Goal;
  /** CI minutes for each merge, at most this multiple of the present. */
  readonly ciBudget: number;
  readonly concurrencyMax: number;
};

export type Tried = { readonly settings: QueueSettings; readonly prediction: Prediction };

export type Recommendation = {
  readonly now: Tried;
  /** The best first, `now` left out. */
  readonly others: readonly Tried[];
  /** Null: no settings are enough better than now to be worth a change. */
  readonly best: Tried | null;
  /** How many settings were tried in all. */
  readonly triedCount: number;
};

/** Seeds of each stage, and how many candidates continue to the next one. */
const coarse = { seeds: 2, kept: 5 };
const fine = { seeds: 4, kept: 5 };
/** Enough pull requests to distinguish good settings from bad ones. */
export const sampleSize = 400;

/** Long histories vary less by chance, and take longer: a minute is the longest acceptable wait. */
const countFinalSeeds = ({ evidence }: Fit): number =>
  Math.min(60, Math.max(4, Math.floor(15_000 / evidence.attempts.length)));

/** Worth a change: a tenth. */
const gainMin = 0.1;
/** Removals of innocent changes may grow by this many percent of all submissions. */
const falseRemovalsMore = 0.5;
const p95More = 1.1;

export function predictWhatIf(fit: Fit, list: readonly QueueSettings[]): readonly Tried[] {
  const replay = createReplay(fit);
  return list.map((settings) => ({ settings, prediction: replay.predict(settings, countFinalSeeds(fit)) }));
}

export function recommend(
  fit: Fit,
  part: Fit,
  present: QueueSettings,
  options: RecommendationOptions,
  onTry: (done: number, of: number) => void = () => {},
): Recommendation {
  const bounds = { concurrencyMax: options.concurrencyMax, runMinutes: quantile(fit.poolMin, 0.5) };
  const sample = createReplay(part);
  const first = stage(sample, coarseCandidates(present, bounds), coarse.seeds, onTry);
  const kept = rankTried(first, present, options).slice(0, coarse.kept);
  const around = distinct([present, ...kept.flatMap(({ settings }) => fineCandidates(settings))]);
  const second = stage(sample, around, fine.seeds, onTry);
  const last = rankTried(second, present, options).slice(0, fine.kept);
  const finalists = distinct([present, ...last.map(({ settings }) => settings)]);
  const tried = stage(createReplay(fit), finalists, countFinalSeeds(fit), onTry);
  const now = tried.find(({ settings }) => buildSettingsKey(settings) === buildSettingsKey(present))!;
  const others = rankTried(tried, present, options).filter((one) => one !== now);
  const [best] = others;
  return {
    now,
    others,
    best: best !== undefined && isWorth(best, now, options) ? best : null,
    triedCount: first.length + second.length,
  };
}

function stage(
  replay: Replay,
  list: readonly QueueSettings[],
  seeds: number,
  onTry: (done: number, of: number) => void,
): readonly Tried[] {
  return list.map((settings, at) => {
    onTry(at, list.length);
    return { settings, prediction: replay.predict(settings, seeds) };
  });
}

const measureCost = (figures: Figures, goal: Goal): number =>
  goal === 'latency' ? figures.p95Min : figures.ciMinutesPerMerged;

/** The candidates within the given limits, best first. Nearly equal ones are ordered by their other cost. */
function rankTried(
  tried: readonly Tried[],
  present: QueueSettings,
  options: RecommendationOptions,
): readonly Tried[] {
  const now = tried.find(({ settings }) => buildSettingsKey(settings) === buildSettingsKey(present))!;
  const score = ({ settings, prediction: { mean } }: Tried): number => {
    const other = measureCost(mean, options.goal === 'latency' ? 'cost' : 'latency');
    const changes = Object.keys(changesBetween(present, settings)).length;
    // A tenth more of the other cost weighs as much as one in a hundred of the goal; each change of a setting as half of that.
    const otherNow = measureCost(now.prediction.mean, options.goal === 'latency' ? 'cost' : 'latency');
    return measureCost(mean, options.goal) * (1 + 0.1 * Math.max(-1, other / otherNow - 1) + 0.005 * changes);
  };
  return tried
    .filter((one) => one === now || keeps(one.prediction.mean, now.prediction.mean, options))
    .toSorted((one, other) => score(one) - score(other));
}

function keeps(figures: Figures, now: Figures, { goal, ciBudget }: RecommendationOptions): boolean {
  const isFair = figures.falseRemovalPercent <= now.falseRemovalPercent + falseRemovalsMore;
  const isWithin =
    goal === 'latency'
      ? figures.ciMinutesPerMerged <= now.ciMinutesPerMerged * ciBudget
      : figures.p95Min <= now.p95Min * p95More;
  return isFair && isWithin;
}

const isWorth = (best: Tried, now: Tried, { goal }: RecommendationOptions): boolean =>
  measureCost(best.prediction.mean, goal) <= (1 - gainMin) * measureCost(now.prediction.mean, goal);

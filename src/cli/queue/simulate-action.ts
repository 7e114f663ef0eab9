// What `signalbox simulate` does.

import { queueSettings, type QueueSetting } from '#contract/queue-settings.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { type Figures, figuresOfHistory } from '#sim/figures.ts';
import { type Fit, fitHistory } from '#sim/fit.ts';
import { type History, lastPart } from '#sim/history.ts';
import {
  predictWhatIf,
  recommend,
  type Recommendation,
  sampleSize,
  type Tried,
  type Wishes,
} from '#sim/recommend.ts';
import type { Api } from '../client/api.ts';
import { openApi } from '../client/connection.ts';
import { findQueue, type QueuePlace } from '../client/place.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { countText, penFor, printJson, printLines } from '../terminal/output.ts';
import { createProgress } from '../terminal/progress.ts';
import { settingsIn } from './queue-setting.ts';
import { readHistory } from './simulate-history.ts';
import {
  checkLines,
  checksOf,
  historyLines,
  isGoodFit,
  recommendationLines,
  settingsText,
  tableOf,
} from './simulate-view.ts';
import type { SimulateOptions } from './simulate.ts';

/** Fewer merges say nothing at all. */
const mergedMin = 10;
const dayMs = 86_400_000;

export async function simulateQueue(
  context: CliContext,
  options: SimulateOptions & Given['options'],
): Promise<number> {
  const wished = settingsIn(options.set);
  const api = await openApi(context, options);
  const place = await findQueue(context, api, options);
  const present = settingsOf(await api.call('getQueue', place));
  const progress = createProgress(process.stderr);
  try {
    const history = await enoughHistory(api, place, options.days, (trips, runs) =>
      progress.step(`read ${countText(trips, 'submission')} and ${countText(runs, 'test run')}`),
    );
    const was = figuresOfHistory(history);
    const fit = fitHistory(history, present.mode);
    const told: Told = { place, present, was, fit, days: options.days, isJson: options.json === true };
    progress.step('simulating the present settings');
    if (options.set.length > 0) showWhatIf(told, { ...present, ...wished }, progress.end);
    else {
      const wishes = wishesOf(options, present);
      const part = fitHistory(lastPart(history, sampleSize), present.mode);
      const answer = recommend(fit, part, present, wishes, (done, of) =>
        progress.step(`trying settings, ${done + 1} of ${of}`),
      );
      progress.end();
      showRecommendation(told, answer, wishes);
    }
    return 0;
  } finally {
    progress.end();
  }
}

/** Of the last days; with too few merges to say anything, it is refused. */
export async function enoughHistory(
  api: Api,
  place: QueuePlace,
  days: number,
  onPage: (trips: number, runs: number) => void,
): Promise<History> {
  const until = new Date();
  const since = new Date(until.getTime() - days * dayMs);
  const history = await readHistory(api, place, { since, until, onPage });
  const merged = history.trips.filter(({ outcome }) => outcome === 'merged').length;
  if (merged < mergedMin)
    throw new CliError(
      `The history has ${countText(merged, 'merge')} in ${countText(days, 'day')}: it takes at least ${mergedMin} to simulate anything. Try more --days.`,
    );
  return history;
}

type Told = {
  readonly place: QueuePlace;
  readonly present: QueueSettings;
  readonly was: Figures;
  readonly fit: Fit;
  readonly days: number;
  readonly isJson: boolean;
};

export const settingsOf = (queue: Readonly<Record<string, unknown>>): QueueSettings =>
  Object.fromEntries(
    (Object.keys(queueSettings) as readonly QueueSetting[]).map((name) => [name, queue[name]]),
  ) as QueueSettings;

const wishesOf = (
  { goal, ciBudget, maxConcurrency }: SimulateOptions,
  { concurrency }: QueueSettings,
): Wishes => ({ goal, ciBudget, concurrencyMax: maxConcurrency ?? Math.min(1000, 2 * concurrency) });

const pen = penFor(process.stdout);

function showWhatIf(told: Told, asked: QueueSettings, onDone: () => void): void {
  const [now, other] = predictWhatIf(told.fit, [told.present, asked]) as [Tried, Tried];
  onDone();
  if (told.isJson) printJson({ ...reportOf(told, now), asked: triedOf(told, other) });
  else printLines([...headLines(told, now), ...tableOf(told.present, now, [other], pen)]);
}

function showRecommendation(told: Told, answer: Recommendation, wishes: Wishes): void {
  const { now, others, best } = answer;
  if (told.isJson)
    printJson({
      ...reportOf(told, now),
      others: others.map((one) => triedOf(told, one)),
      recommended: best === null ? null : triedOf(told, best),
    });
  else
    printLines([
      ...headLines(told, now),
      ...tableOf(told.present, now, others, pen),
      '',
      ...recommendationLines(told.place, told.present, answer, wishes, pen),
    ]);
}

const headLines = ({ fit, days, was }: Told, now: Tried): readonly string[] => [
  ...historyLines(fit, days),
  '',
  ...checkLines(was, now.prediction.mean, pen),
  '',
];

function reportOf({ place, fit, was }: Told, now: Tried) {
  const checks = checksOf(was, now.prediction.mean);
  return {
    queue: place,
    history: {
      submissions: fit.evidence.trips.length,
      testRuns: fit.evidence.runs.length,
      flakeProbability: fit.blame.flakeProbability,
      figures: was,
    },
    check: { isGoodFit: isGoodFit(checks), figures: checks },
    now: now.prediction,
  };
}

const triedOf = ({ present }: Told, { settings, prediction }: Tried) => ({
  set: settingsText(present, settings),
  ...prediction,
});

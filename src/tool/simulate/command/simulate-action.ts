// What `signalbox simulate` does.

import { dayMs } from '#base/duration.ts';
import { countText } from '#base/number-text.ts';
import { queueSettings, type QueueSetting } from '#contract/queue-settings.ts';
import { changeSettings, type QueueSettings } from '#core/queue/settings.ts';
import { type Figures, figuresOfHistory } from '../fit/figures.ts';
import { type Fit, fitHistory } from '../fit/fit.ts';
import { type RecordedHistory, lastPart } from '../fit/history.ts';
import {
  predictWhatIf,
  recommend,
  type Recommendation,
  sampleSize,
  type Tried,
  type RecommendationOptions,
} from '../fit/recommend.ts';
import type { Api } from '#cli/client/api.ts';
import { openApi } from '#cli/client/connection.ts';
import { findQueue, type QueueReference } from '#cli/client/place.ts';
import type { CliContext, Given } from '#cli/command.ts';
import { CliError } from '#cli/exit-codes.ts';
import { penFor, printJson, printLines } from '#cli/terminal/output.ts';
import { createProgress } from '#cli/terminal/progress.ts';
import { settingsIn } from '#cli/queue/queue-setting.ts';
import { readHistory } from './simulate-history.ts';
import {
  checkLines,
  compareFitToHistory,
  historyLines,
  isGoodFit,
  recommendationLines,
  settingsText,
  renderSettingsTable,
} from './simulate-view.ts';
import type { SimulateOptions } from './simulate.ts';

/** Fewer merges show nothing at all. */
const mergedMin = 10;

export async function simulateQueue(
  context: CliContext,
  options: SimulateOptions & Given['options'],
): Promise<number> {
  const wished = settingsIn(options.set);
  const api = await openApi(context, options);
  const place = await findQueue(context, api, options);
  const present = pickQueueSettings(await api.call('getQueue', place));
  const progress = createProgress(process.stderr);
  try {
    const history = await enoughHistory(api, place, options.days, (attemptCount, runs) =>
      progress.step(`read ${countText(attemptCount, 'submission')} and ${countText(runs, 'test run')}`),
    );
    const was = figuresOfHistory(history);
    const fit = fitHistory(history, present.mode);
    const simulation: SimulationContext = {
      place,
      present,
      was,
      fit,
      days: options.days,
      isJson: options.json === true,
    };
    progress.step('simulating the current settings');
    if (options.set.length > 0) showWhatIf(simulation, changeSettings(present, wished), progress.end);
    else {
      const recommendationOptions = buildRecommendationOptions(options, present);
      const part = fitHistory(lastPart(history, sampleSize), present.mode);
      const answer = recommend(fit, part, present, recommendationOptions, (done, of) =>
        progress.step(`trying settings, ${done + 1} of ${of}`),
      );
      progress.end();
      showRecommendation(simulation, answer, recommendationOptions);
    }
    return 0;
  } finally {
    progress.end();
  }
}

/** The history of the last days; refused if it has too few merges. */
export async function enoughHistory(
  api: Api,
  place: QueueReference,
  days: number,
  onPage: (attemptCount: number, runs: number) => void,
): Promise<RecordedHistory> {
  const until = new Date();
  const since = new Date(until.getTime() - days * dayMs);
  const history = await readHistory(api, place, { since, until, onPage });
  const merged = history.attempts.filter(({ outcome }) => outcome === 'merged').length;
  if (merged < mergedMin)
    throw new CliError(
      `The history has ${countText(merged, 'merge')} in ${countText(days, 'day')}, and a simulation needs at least ${mergedMin}. Try more --days.`,
    );
  return history;
}

type SimulationContext = {
  readonly place: QueueReference;
  readonly present: QueueSettings;
  readonly was: Figures;
  readonly fit: Fit;
  readonly days: number;
  readonly isJson: boolean;
};

export const pickQueueSettings = (queue: Readonly<Record<string, unknown>>): QueueSettings =>
  Object.fromEntries(
    (Object.keys(queueSettings) as readonly QueueSetting[]).map((name) => [name, queue[name]]),
  ) as QueueSettings;

const buildRecommendationOptions = (
  { goal, ciBudget, maxConcurrency }: SimulateOptions,
  { concurrency }: QueueSettings,
): RecommendationOptions => ({
  goal,
  ciBudget,
  concurrencyMax: maxConcurrency ?? Math.min(1000, 2 * concurrency),
});

const pen = penFor(process.stdout);

function showWhatIf(simulation: SimulationContext, asked: QueueSettings, onDone: () => void): void {
  const [now, other] = predictWhatIf(simulation.fit, [simulation.present, asked]) as [Tried, Tried];
  onDone();
  if (simulation.isJson)
    printJson({ ...buildJsonReport(simulation, now), asked: formatTriedSettings(simulation, other) });
  else
    printLines([
      ...headLines(simulation, now),
      ...renderSettingsTable(simulation.present, now, [other], pen),
    ]);
}

function showRecommendation(
  simulation: SimulationContext,
  answer: Recommendation,
  recommendationOptions: RecommendationOptions,
): void {
  const { now, others, best } = answer;
  if (simulation.isJson)
    printJson({
      ...buildJsonReport(simulation, now),
      others: others.map((one) => formatTriedSettings(simulation, one)),
      recommended: best === null ? null : formatTriedSettings(simulation, best),
    });
  else
    printLines([
      ...headLines(simulation, now),
      ...renderSettingsTable(simulation.present, now, others, pen),
      '',
      ...recommendationLines(simulation.place, simulation.present, answer, recommendationOptions, pen),
    ]);
}

const headLines = ({ fit, days, was }: SimulationContext, now: Tried): readonly string[] => [
  ...historyLines(fit, days),
  '',
  ...checkLines(was, now.prediction.mean, pen),
  '',
];

function buildJsonReport({ place, fit, was }: SimulationContext, now: Tried) {
  const checks = compareFitToHistory(was, now.prediction.mean);
  return {
    queue: place,
    history: {
      submissions: fit.evidence.attempts.length,
      testRuns: fit.evidence.runs.length,
      flakeProbability: fit.blame.flakeProbability,
      figures: was,
    },
    check: { isGoodFit: isGoodFit(checks), figures: checks },
    now: now.prediction,
  };
}

const formatTriedSettings = ({ present }: SimulationContext, { settings, prediction }: Tried) => ({
  set: settingsText(present, settings),
  ...prediction,
});

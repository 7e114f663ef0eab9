// The tool that shows an agent what other settings would have done with the history of a queue: the same
// simulation as `signalbox simulate`, with its check against what really happened.

import { z } from 'zod';
import { type Figures, figuresOfHistory } from '#tool/simulate/fit/figures.ts';
import { fitHistory } from '#tool/simulate/fit/fit.ts';
import { predictWhatIf } from '#tool/simulate/fit/recommend.ts';
import { settingsIn } from '#cli/queue/queue-setting.ts';
import { changeSettings } from '#core/queue/settings.ts';
import { enoughHistory, pickQueueSettings } from '#tool/simulate/command/simulate-action.ts';
import { compareFitToHistory, isGoodFit } from '#tool/simulate/command/simulate-view.ts';
import { defineTool, lines, queueInput, type Tool } from './tool.ts';

const figure = z.number().nullable().describe('Null: not known.');
const figuresOutput = z.object({
  merged: figure,
  minutesInQueueP50: figure,
  minutesInQueueP95: figure,
  ciMinutesPerMerged: figure,
  mergedPerHour: figure,
});

const roundToTenth = (value: number): number | null =>
  Number.isFinite(value) ? Math.round(value * 10) / 10 : null;

const figuresData = (figures: Figures): z.infer<typeof figuresOutput> => ({
  merged: roundToTenth(figures.merged),
  minutesInQueueP50: roundToTenth(figures.p50Min),
  minutesInQueueP95: roundToTenth(figures.p95Min),
  ciMinutesPerMerged: roundToTenth(figures.ciMinutesPerMerged),
  mergedPerHour: roundToTenth(figures.mergedPerHour),
});

const sayFigures = (name: string, figures: z.infer<typeof figuresOutput>): string =>
  `- ${name}: ${figures.minutesInQueueP50 ?? '?'} min in the queue (P50), ${figures.minutesInQueueP95 ?? '?'} min (P95), ` +
  `${figures.ciMinutesPerMerged ?? '?'} CI minutes and ${figures.mergedPerHour ?? '?'} an hour merged`;

const simulate = defineTool({
  name: 'simulate_queue',
  title: 'Simulate other settings',
  description:
    'Replays the history of a queue with other settings and returns the metrics that would have resulted. It changes nothing, and takes some seconds. Trust the result only if isGoodFit is true.',
  effect: 'reads',
  input: {
    ...queueInput,
    settings: z
      .array(z.string().min(3).max(200))
      .min(1)
      .max(20)
      .describe('As name=value, for example concurrency=8, batch=on or batchingMinSize=6.'),
    days: z.number().min(0.01).max(90).default(14).describe('Days of history to replay.'),
  },
  output: {
    repo: z.string(),
    branch: z.string(),
    was: figuresOutput.describe('The metrics as they really were.'),
    now: figuresOutput.describe('The simulation of the current settings.'),
    asked: figuresOutput.describe('The simulation of the requested settings.'),
    isGoodFit: z.boolean().describe('Whether the simulation of the current settings is close to reality.'),
  },
  act: async ({ api, queue }, { settings, days, ...queueSelector }) => {
    const change = settingsIn(settings);
    const place = await queue(queueSelector);
    const client = await api();
    const present = pickQueueSettings(await client.call('getQueue', place));
    const history = await enoughHistory(client, place, days, () => undefined);
    const real = figuresOfHistory(history);
    const [first, second] = predictWhatIf(fitHistory(history, present.mode), [
      present,
      changeSettings(present, change),
    ]);
    if (first === undefined || second === undefined)
      throw new Error('The simulation returned no result. Try other days.');
    const [was, now, asked] = [real, first.prediction.mean, second.prediction.mean].map(figuresData) as [
      z.infer<typeof figuresOutput>,
      z.infer<typeof figuresOutput>,
      z.infer<typeof figuresOutput>,
    ];
    const isGood = isGoodFit(compareFitToHistory(real, first.prediction.mean));
    return {
      text: lines(
        `${was.merged} merges of ${days} days, replayed with other settings:`,
        sayFigures('reality', was),
        sayFigures('current settings, simulated', now),
        sayFigures('requested settings, simulated', asked),
        isGood
          ? 'The simulation of the current settings is close to reality.'
          : 'The simulation of the current settings is far from reality: do not rely on the result, or try other days.',
      ),
      data: {
        repo: `${place.repo.host}/${place.repo.owner}/${place.repo.name}`,
        branch: place.targetBranch,
        was,
        now,
        asked,
        isGoodFit: isGood,
      },
    };
  },
});

export const simulateTools: readonly Tool[] = [simulate];

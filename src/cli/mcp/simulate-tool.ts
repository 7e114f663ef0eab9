// The tool that tells an agent what other settings would have done with the history of a queue: the same simulation as
// `signalbox simulate`, with its check against what really was.

import { z } from 'zod';
import { type Figures, figuresOfHistory } from '#sim/figures.ts';
import { fitHistory } from '#sim/fit.ts';
import { predictWhatIf } from '#sim/recommend.ts';
import { settingsIn } from '../queue/queue-setting.ts';
import { enoughHistory, settingsOf } from '../queue/simulate-action.ts';
import { checksOf, isGoodFit } from '../queue/simulate-view.ts';
import { defineTool, lines, queueInput, type Tool } from './tool.ts';

const figure = z.number().nullable().describe('Null: it cannot be told.');
const figuresOutput = z.object({
  merged: figure,
  minutesInQueueP50: figure,
  minutesInQueueP95: figure,
  ciMinutesPerMerged: figure,
  mergedPerHour: figure,
});

const told = (value: number): number | null => (Number.isFinite(value) ? Math.round(value * 10) / 10 : null);

const figuresData = (figures: Figures): z.infer<typeof figuresOutput> => ({
  merged: told(figures.merged),
  minutesInQueueP50: told(figures.p50Min),
  minutesInQueueP95: told(figures.p95Min),
  ciMinutesPerMerged: told(figures.ciMinutesPerMerged),
  mergedPerHour: told(figures.mergedPerHour),
});

const sayFigures = (name: string, figures: z.infer<typeof figuresOutput>): string =>
  `- ${name}: ${figures.minutesInQueueP50 ?? '?'} min in the queue (P50), ${figures.minutesInQueueP95 ?? '?'} min (P95), ` +
  `${figures.ciMinutesPerMerged ?? '?'} CI minutes and ${figures.mergedPerHour ?? '?'} an hour merged`;

const simulate = defineTool({
  name: 'simulate_queue',
  title: 'Simulate other settings',
  description:
    'Plays the history of a queue through its planner with other settings and says what would have been. It changes nothing, and takes some seconds. Believe it only where isGoodFit is true.',
  effect: 'reads',
  input: {
    ...queueInput,
    settings: z
      .array(z.string().min(3).max(200))
      .min(1)
      .max(20)
      .describe('As name=value, for example concurrency=8, batch=on or batchingMinSize=6.'),
    days: z.number().min(0.01).max(90).default(14).describe('How much of the history to play.'),
  },
  output: {
    repo: z.string(),
    branch: z.string(),
    was: figuresOutput.describe('What really was.'),
    now: figuresOutput.describe('The present settings, simulated.'),
    asked: figuresOutput.describe('The asked settings, simulated.'),
    isGoodFit: z.boolean().describe('The simulation of the present settings is near what was.'),
  },
  act: async ({ api, queue }, { settings, days, ...wish }) => {
    const change = settingsIn(settings);
    const place = await queue(wish);
    const client = await api();
    const present = settingsOf(await client.call('getQueue', place));
    const history = await enoughHistory(client, place, days, () => undefined);
    const real = figuresOfHistory(history);
    const [first, second] = predictWhatIf(fitHistory(history, present.mode), [
      present,
      { ...present, ...change },
    ]);
    if (first === undefined || second === undefined) throw new Error('The simulation gave no answer.');
    const [was, now, asked] = [real, first.prediction.mean, second.prediction.mean].map(figuresData) as [
      z.infer<typeof figuresOutput>,
      z.infer<typeof figuresOutput>,
      z.infer<typeof figuresOutput>,
    ];
    const isGood = isGoodFit(checksOf(real, first.prediction.mean));
    return {
      text: lines(
        `${was.merged} merges of ${days} days, played with other settings:`,
        sayFigures('what really was', was),
        sayFigures('as they are now, simulated', now),
        sayFigures('as asked, simulated', asked),
        isGood
          ? 'The simulation tells nearly what was.'
          : 'The simulation is far from what was: take it with care, or try other days.',
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

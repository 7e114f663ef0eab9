// `npm run docs:pictures`: the pictures of docs/guide/concepts.md, drawn by playing the planner itself.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueueSettings } from '#core/queue/settings.ts';
import { sketchWorkload } from '#sim/fixture.ts';
import { figuresOfPlay } from '#sim/figures.ts';
import { playPlanner } from '#sim/play.ts';
import { recordHistory } from '#sim/recording.ts';
import { mean } from '#sim/statistics.ts';
import { createGraphWorkload, type Workload } from '#sim/workload.ts';
import { plotCurves } from './curve-plot.ts';
import { plotStory, type StoryPanel, type StoryRow } from './story-plot.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'guide', 'image');
const minuteMs = 60_000;

/** The runs of a workload as rows, each with what it tests. */
function rowsOf(workload: Workload, settings: Partial<QueueSettings>): readonly StoryRow[] {
  const { history, played } = recordHistory(workload, settings);
  const endOf = new Map(played.decisions.map(({ number, outcome, atMin }) => [number, { outcome, atMin }]));
  return history.runs
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .map(({ ahead, tested, outcome, createdAt, concludedAt }) => {
      const toMin = concludedAt / minuteMs;
      const ended = (wanted: string) =>
        [...ahead, ...tested].filter((number) => {
          const end = endOf.get(number);
          return end?.outcome === wanted && Math.abs(end.atMin - toMin) < 0.01;
        });
      const words = [
        outcome === 'failed' && ended('failed').length > 0 ? `${list(ended('failed'))} is to blame` : '',
        outcome !== 'cancelled' && ended('merged').length > 0 ? `${list(ended('merged'))} on the branch` : '',
      ];
      return {
        name: nameOf([...ahead, ...tested]),
        fromMin: createdAt / minuteMs,
        toMin,
        outcome,
        note: words.filter((word) => word !== '').join(', '),
      };
    });
}

/** Many in a row are named by the first and the last. */
function nameOf(members: readonly number[]): string {
  const names = members.length < 5 ? members.map(String) : [`${members[0]} … ${members.at(-1)}`];
  return ['branch', ...names].join(' + ');
}

function list(numbers: readonly number[]): string {
  const names = numbers.map((number) => `#${number}`);
  return names.length < 3 ? names.join(' and ') : `${names[0]} to ${names.at(-1)}`;
}

const panel = (title: string, workload: Workload, settings: Partial<QueueSettings>): StoryPanel => ({
  title,
  rows: rowsOf(workload, settings),
});

const four = sketchWorkload([0, 1, 2, 3].map((arrivesAtMin) => ({ arrivesAtMin })));
const thirdIsBad = sketchWorkload(
  [0, 1, 2, 3].map((arrivesAtMin) => ({ arrivesAtMin, isGood: arrivesAtMin !== 2 })),
);

const onTop = plotStory('Four pull requests, ten minutes of CI each', [
  panel('One after the other', four, { concurrency: 1 }),
  panel('Each on top of what is ahead', four, { concurrency: 4 }),
  panel('The same, and #3 is bad', thirdIsBad, { concurrency: 4 }),
]);

const eight = sketchWorkload(
  [0, 1, 2, 3, 4, 5, 6, 7].map((at) => ({ arrivesAtMin: 0, isGood: at !== 4, durationMin: 10 })),
);
const batches = { batch: true, batchingMinSize: 8, batchingMaxWaitTimeMinutes: 0 };
const search = plotStory('A batch of eight fails: who was it?', [
  panel('The batch, then up to three searches at once', eight, {
    ...batches,
    batchingMaxWaitTimeMinutes: 5,
    concurrency: 4,
    bisectionConcurrency: 3,
  }),
]);

const arrivals = [2, 4, 6, 8, 10, 12, 15, 18, 21, 24];
const seeds = [1, 2, 3, 4];
const slots = 8;
const policies: readonly { readonly name: string; readonly settings: Partial<QueueSettings> }[] = [
  { name: 'one line', settings: { concurrency: slots } },
  {
    name: 'batches of 4',
    settings: {
      ...batches,
      batchingMinSize: 4,
      canOptimisticallyMerge: true,
      concurrency: slots / 2,
      bisectionConcurrency: slots / 2,
    },
  },
  { name: 'lanes', settings: { mode: 'parallel', concurrency: slots } },
];

/** Changes that share a target with one in five of the others; five in a hundred bad, two in a hundred runs flaky. */
const workloadAt = (arrivalsPerHour: number, seed: number): Workload =>
  createGraphWorkload({
    seed,
    count: 240,
    arrivalsPerHour,
    passProbability: 0.95,
    sharingProbability: 0.2,
    conflictProbability: 0.005,
    predictor: { kind: 'prior' },
    horizonMin: 180,
    flakeProbability: 0.02,
  });

const played = policies.map(({ name, settings }) => ({
  name,
  at: arrivals.map((rate) => {
    const figures = seeds.map((seed) => figuresOfPlay(playPlanner(workloadAt(rate, seed), settings)));
    return {
      rate,
      p95Min: mean(figures.map(({ p95Min }) => p95Min)),
      ciMinutes: mean(figures.map(({ ciMinutesPerMerged }) => ciMinutesPerMerged)),
    };
  }),
}));
const setting = `30 minutes of CI, ${slots} runs at once`;
const latency = plotCurves(
  `How long nineteen of twenty wait at most: ${setting}`,
  { x: 'pull requests an hour', y: 'minutes in the queue (P95)', highest: 400 },
  played.map(({ name, at }) => ({ name, points: at.map(({ rate, p95Min }) => [rate, p95Min] as const) })),
);
const cost = plotCurves(
  `What a merge costs: ${setting}`,
  { x: 'pull requests an hour', y: 'CI minutes for each merge', highest: 80 },
  played.map(({ name, at }) => ({
    name,
    points: at.map(({ rate, ciMinutes }) => [rate, ciMinutes] as const),
  })),
);

mkdirSync(folder, { recursive: true });
const pictures = { 'on-top': onTop, search, latency, cost };
for (const [name, picture] of Object.entries(pictures)) {
  writeFileSync(join(folder, `${name}.svg`), picture);
  console.log(`docs/guide/image/${name}.svg: ${(picture.length / 1024).toFixed(1)} KB (goal <= 50)`);
}

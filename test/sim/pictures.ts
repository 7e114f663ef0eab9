// The pictures of docs/explanation/concepts.md, drawn from simulations with the planner itself.

import type { QueueSettings } from '#core/queue/settings.ts';
import { sketchWorkload } from '#tool/simulate/kernel/fixture.ts';
import { figuresOfPlay } from '#tool/simulate/fit/figures.ts';
import { playPlanner } from '#tool/simulate/kernel/play.ts';
import { recordHistory } from '#tool/simulate/fit/recording.ts';
import { mean } from '#tool/simulate/kernel/statistics.ts';
import { createGraphWorkload, type Workload } from '#tool/simulate/kernel/workload.ts';
import { plotCurves } from './curve-plot.ts';
import { plotStory, type StoryPanel, type StoryRow } from './story-plot.ts';

const minuteMs = 60_000;

/** The runs of a workload as rows, each with what it tests. */
function rowsOf(workload: Workload, settings: Partial<QueueSettings>): readonly StoryRow[] {
  const { history, played } = recordHistory(workload, { strategy: 'manual', ...settings });
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
        outcome === 'failed' && ended('failed').length > 0 ? `${list(ended('failed'))} fails` : '',
        outcome !== 'cancelled' && ended('merged').length > 0 ? `${list(ended('merged'))} merged` : '',
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

function drawOnTop(): string {
  const arrivals = [0, 1, 2, 3];
  const good = sketchWorkload(arrivals.map((arrivesAtMin) => ({ arrivesAtMin })));
  const thirdFails = sketchWorkload(
    arrivals.map((arrivesAtMin) => ({ arrivesAtMin, isGood: arrivesAtMin !== 2 })),
  );
  return plotStory('Four pull requests, ten minutes of CI each', [
    panel('One after the other', good, { concurrency: 1 }),
    panel('Each on top of those ahead', good, { concurrency: 4 }),
    panel('The same, and #3 fails', thirdFails, { concurrency: 4 }),
  ]);
}

const batches = { batch: true, batchingMinSize: 8, batchingMaxWaitTimeMinutes: 0 };

function drawBisection(): string {
  const eight = sketchWorkload(
    [0, 1, 2, 3, 4, 5, 6, 7].map((at) => ({ arrivesAtMin: 0, isGood: at !== 4, durationMin: 10 })),
  );
  return plotStory('A batch of eight fails: which pull request is the culprit?', [
    panel('The batch, then up to three bisection runs at once', eight, {
      ...batches,
      batchingMaxWaitTimeMinutes: 5,
      concurrency: 4,
      bisectionConcurrency: 3,
    }),
  ]);
}

const arrivals = [2, 4, 6, 8, 10, 12, 15, 18, 21, 24];
const seeds = [1, 2, 3, 4];
const slots = 8;
const policies: readonly { readonly name: string; readonly settings: Partial<QueueSettings> }[] = [
  { name: 'default settings', settings: { concurrency: slots } },
  { name: 'one per run', settings: { strategy: 'manual', concurrency: slots } },
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
  { name: 'parallel lanes', settings: { mode: 'parallel', concurrency: slots } },
  { name: 'lanes, manual', settings: { mode: 'parallel', strategy: 'manual', concurrency: slots } },
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

function drawCurves(): { readonly latency: string; readonly cost: string } {
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
    `Time in the queue, 95th percentile: ${setting}`,
    { x: 'pull requests an hour', y: 'minutes in the queue (P95)', highest: 400 },
    played.map(({ name, at }) => ({ name, points: at.map(({ rate, p95Min }) => [rate, p95Min] as const) })),
  );
  const cost = plotCurves(
    `CI minutes for each merge: ${setting}`,
    { x: 'pull requests an hour', y: 'CI minutes for each merge', highest: 80 },
    played.map(({ name, at }) => ({
      name,
      points: at.map(({ rate, ciMinutes }) => [rate, ciMinutes] as const),
    })),
  );
  return { latency, cost };
}

export function drawConcepts(): readonly { readonly name: string; readonly content: string }[] {
  const drawings = { 'on-top': drawOnTop(), bisection: drawBisection(), ...drawCurves() };
  return Object.entries(drawings).map(([name, content]) => ({ name: `${name}.svg`, content }));
}

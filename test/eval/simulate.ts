// `npm run eval:simulate [-- --seeds N] [--pull-requests N] [--flakes SHARE] [--from TEXT] [--set TEXT] [--json]`: how good
// are the promises of `signalbox simulate`, over many seeds? The story of a demo (`src/demo`) is played on a virtual clock
// with one set of settings; from that history, and not from the truth, others are foretold, and held against what they
// really give.
// test/e2e/simulate.ts does so with the real service, which takes minutes for each seed.
//
//   --from 'batch=true concurrency=3'    the settings whose history is read
//   --set 'concurrency=6'                those that are foretold, on top of it

import { parseArgs } from 'node:util';
import { settingsIn } from '#cli/queue/queue-setting.ts';
import { priorities } from '#core/queue/priority.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import { demoRepositories } from '#tool/demo/repository.ts';
import { drawFlakes } from '#tool/demo/suite.ts';
import { changesOf, type PlannedChange } from '#tool/demo/workload.ts';
import { type Figures, figuresOfPlay } from '#tool/simulate/fit/figures.ts';
import { fitHistory } from '#tool/simulate/fit/fit.ts';
import type { RecordedHistory, PastRun } from '#tool/simulate/fit/history.ts';
import { playPlanner } from '#tool/simulate/kernel/play.ts';
import { recordHistory } from '#tool/simulate/fit/recording.ts';
import { createReplay } from '#tool/simulate/fit/replay.ts';
import { mean, quantile } from '#tool/simulate/kernel/statistics.ts';
import type { Workload } from '#tool/simulate/kernel/workload.ts';
import { positiveWhole } from '../bench/option.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '40' },
    'pull-requests': { type: 'string', default: '100' },
    flakes: { type: 'string', default: '0.02' },
    from: { type: 'string', default: 'batch=false canOptimisticallyMerge=false concurrency=4' },
    set: { type: 'string', default: 'concurrency=8 canOptimisticallyMerge=true' },
    json: { type: 'boolean', default: false },
  },
});

const [shop] = demoRepositories;
const flakeRate = Number(values.flakes);
const attemptsMax = 50;
/** What the demo's service takes on a machine with nothing else to do. */
const timing = {
  startMin: [0.002],
  cancelMin: [],
  landMin: [0.0015],
  runMin: null,
  again: { share: 1, afterMin: 0.005 },
};
const replays = 60;
const biasMax = 5;
const errorMax = 10;

const minuteMs = 60_000;

/** The whole truth of a demo, its luck included. */
function demoOf(seed: number, count: number): readonly [readonly PlannedChange[], Workload] {
  const plan = changesOf(shop!, seed).take(count).toArray();
  const luckOf = (number: number) =>
    Array.from(
      { length: attemptsMax },
      (_, attempt) => drawFlakes(shop!, flakeRate, seed, shop!.repo.name, number, attempt + 1).length > 0,
    );
  const changes = plan.map(({ number, arrivesAtMs, ciMs, breaksAlone, breaksWith, priority }) => ({
    number,
    arrivesAtMin: arrivesAtMs / minuteMs,
    durationMin: ciMs / minuteMs,
    isGood: !breaksAlone,
    conflictsWith: breaksWith,
    shares: breaksWith,
    predictedPass: 1,
    priority: priorities[priority],
    luck: luckOf(number),
  }));
  const disturbances = plan.flatMap(({ number, arrivesAtMs, cancelledAfterMs }) =>
    cancelledAfterMs === null
      ? []
      : [{ kind: 'cancel' as const, number, atMin: (arrivesAtMs + cancelledAfterMs) / minuteMs }],
  );
  const rest = { name: 'demo', seed, flakeProbability: flakeRate, conflictProbability: 0, timing };
  return [plan, { ...rest, changes, disturbances: disturbances.toSorted((a, b) => a.atMin - b.atMin) }];
}

/** What the names of failed tests would tell of each failed run, were all flaky tests known. */
function withReports({ attempts, runs }: RecordedHistory, plan: readonly PlannedChange[]): RecordedHistory {
  const landedAt = new Map(
    attempts.flatMap(({ pr, outcome, concludedAt }) =>
      outcome === 'merged' ? [[pr, concludedAt] as const] : [],
    ),
  );
  const isBroken = ({ ahead, tested, createdAt }: PastRun): boolean => {
    const members = new Set([...ahead, ...tested]);
    const isThere = (pr: number) => members.has(pr) || (landedAt.get(pr) ?? Infinity) <= createdAt;
    return plan.some(
      ({ number, breaksAlone, breaksWith }) =>
        (members.has(number) && breaksAlone) ||
        (isThere(number) &&
          breaksWith.some((other) => isThere(other) && (members.has(number) || members.has(other)))),
    );
  };
  return {
    attempts,
    runs: runs.map((run) => (run.outcome === 'failed' ? { ...run, byChance: !isBroken(run) } : run)),
  };
}

const compared = [
  ['time in queue P50', 'p50Min'],
  ['time in queue P95', 'p95Min'],
  ['CI minutes per merge', 'ciMinutesPerMerged'],
] as const satisfies readonly (readonly [string, keyof Figures])[];

const from: QueueSettings = { ...defaultSettings, ...settingsIn(values.from.split(' ')) };
const to: QueueSettings = { ...from, ...settingsIn(values.set.split(' ')) };
const errors = compared.map((): number[] => []);
for (let seed = 1; seed <= positiveWhole(values, 'seeds'); seed++) {
  const [plan, workload] = demoOf(seed, positiveWhole(values, 'pull-requests'));
  const history = withReports(recordHistory(workload, from).history, plan);
  const promised = createReplay(fitHistory(history)).predict(to, replays).mean;
  const real = figuresOfPlay(playPlanner(workload, to));
  const own = compared.map(([, figure]) => 100 * (promised[figure] / real[figure] - 1));
  for (const [at, error] of own.entries()) errors[at]!.push(error);
  if (!values.json)
    console.log(
      `seed ${seed}: ${compared.map(([name], at) => `${name} ${own[at]!.toFixed(1)} %`).join(', ')}`,
    );
}
const figures = compared.flatMap(([name], at): Figure[] => {
  const list = errors[at]!;
  const bias = mean(list);
  const usual = quantile(list.map(Math.abs), 0.5);
  const within = (100 * list.filter((error) => Math.abs(error) <= errorMax).length) / list.length;
  return [
    { name: `${name}: seeds within ${errorMax} %, in percent`, value: within },
    {
      name: `${name}: mean error %`,
      value: bias,
      goal: `within ${biasMax}`,
      isMet: Math.abs(bias) <= biasMax,
    },
    { name: `${name}: median of errors %`, value: usual, goal: `<= ${errorMax}`, isMet: usual <= errorMax },
  ];
});
console.log(values.json ? JSON.stringify(figures) : figures.map(lineOf).join('\n'));
process.exitCode = figures.some(isMissed) ? 1 : 0;

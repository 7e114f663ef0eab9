// `npm run eval:health`: how right our classification of tests is, beside the rules of others, on replays of real flake rates;
// how soon a breakage is found, and where; and what a quarantine hides. Exits with 1 if a goal is missed.
//
//   --seeds 1,2,3      other seeds; what is quoted are 1 to 5
//   --generator hard   one of easy, hard, held-out and real; without it all of them, and the trials
//
// Of the generator that is closer to reality (test/eval/real) seeds 11 and up are quoted, and `node test/eval/real.ts` runs it
// with more options.
//   --json             one JSON document instead of tables

import { parseArgs } from 'node:util';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { tryChangepoint, type Trial } from './changepoint-trial.ts';
import {
  addTallies,
  detectorNames,
  type Generator,
  generators,
  type Outcome,
  ours,
  oursQuarantined,
} from './experiment.ts';
import { quotedSeeds } from './generate.ts';
import { collisions, maskRegressions, type Masked, quotedCollision } from './masked.ts';
import { type Scores, scoresOf } from './metric.ts';
import { runAll } from './pool.ts';
import { readProjects } from './project.ts';
import type { RealOutcome } from './real/experiment.ts';
import { runReals } from './real/pool.ts';
import { profileNames } from './real/profile.ts';
import { figuresOfReal, outcomesOf, quotedRealTasks, tableOfReal } from './real/report.ts';

const trials = 1_000;
const lossesShown = 10;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    generator: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const seeds = values.seeds === undefined ? quotedSeeds : values.seeds.split(',').map(Number);
const chosen = generators.filter((name) => values.generator === undefined || values.generator === name);
const isReal = values.generator === undefined || values.generator === 'real';
if ((chosen.length === 0 && !isReal) || seeds.some((seed) => !Number.isInteger(seed))) {
  console.error(
    `--generator is one of ${[...generators, 'real'].join(', ')}; --seeds are whole numbers, with commas.`,
  );
  process.exit(2);
}

const say = (text: string): void => {
  if (!values.json) console.log(text);
};

const atLeast = (name: string, value: number, bound: number): Figure => ({
  name,
  value,
  goal: `>= ${bound}`,
  isMet: value >= bound,
});
const atMost = (name: string, value: number, bound: number): Figure => ({
  name,
  value,
  goal: `<= ${bound}`,
  isMet: value <= bound,
});

function showScores(generator: Generator, outcomes: readonly Outcome[]): Map<string, Scores> {
  const byName = new Map<string, Scores>();
  say(`\n${generator}: seeds ${outcomes.map(({ seed }) => seed).join(', ')}`);
  say(
    `${'detector'.padEnd(32)}${'precision'.padStart(18)}${'tests'.padStart(16)}${'mass'.padStart(18)} covered  false  days p50/p90  runs p50/p90  flaps`,
  );
  for (const name of detectorNames) {
    const each = outcomes.map(({ tallies }) => scoresOf(tallies[name]!));
    const all = scoresOf(addTallies(outcomes.map(({ tallies }) => tallies[name]!)));
    byName.set(name, all);
    const range = (pick: (scores: Scores) => number, digits: number): string => {
      const found = each.map(pick);
      return `${Math.min(...found).toFixed(digits)}–${Math.max(...found).toFixed(digits)}`;
    };
    const pair = ({ median, p90 }: Scores['daysToDetect'], digits: number): string =>
      `${median.toFixed(digits)} / ${p90.toFixed(digits)}`.padStart(14);
    say(
      [
        name.padEnd(32),
        range(({ precision }) => precision, 4).padStart(18),
        range(({ testRecall }) => testRecall, 3).padStart(16),
        range(({ massRecall }) => massRecall, 4).padStart(18),
        all.massCovered.toFixed(3).padStart(8),
        String(all.falseVerdicts).padStart(7),
        pair(all.daysToDetect, 1),
        pair(all.runsToDetect, 0),
        all.flaps.toFixed(1).padStart(7),
      ].join(''),
    );
  }
  return byName;
}

function showLosses(outcomes: readonly Outcome[]): void {
  const losses = outcomes.flatMap((outcome) =>
    outcome.losses.map((loss) => ({ ...loss, seed: outcome.seed })),
  );
  const wrong = losses.filter(({ rate }) => rate === 0);
  const missed = losses.filter(({ rate }) => rate > 0).sort((a, b) => b.failures - a.failures);
  say(`losing cases: ${wrong.length} called flaky that are not, ${missed.length} flaky ones never called so`);
  for (const { seed, project, test, rate, failures } of [
    ...wrong.slice(0, lossesShown),
    ...missed.slice(0, lossesShown),
  ])
    say(
      rate === 0
        ? `  seed ${seed} ${project} test ${test}: not flaky, and was called so`
        : `  seed ${seed} ${project} test ${test}: fails in ${(rate * 100).toFixed(2)} % of its runs, ${failures} times in two weeks, not found`,
    );
}

/** The worst seed counts, not the mean. */
function accuracyFigures(generator: Generator, outcomes: readonly Outcome[]): Figure[] {
  const each = outcomes.map(({ tallies }) => scoresOf(tallies[ours]!));
  const worst = (pick: (scores: Scores) => number): number => Math.min(...each.map(pick));
  const all = scoresOf(addTallies(outcomes.map(({ tallies }) => tallies[ours]!)));
  const isGoal = generator === 'hard';
  const figure = (name: string, value: number, bound: number): Figure =>
    isGoal ? atLeast(`${generator}: ${name}`, value, bound) : { name: `${generator}: ${name}`, value };
  const quarantined = scoresOf(addTallies(outcomes.map(({ tallies }) => tallies[oursQuarantined]!)));
  return [
    figure(
      'precision, worst seed',
      worst(({ precision }) => precision),
      0.99,
    ),
    figure(
      'failure-mass recall, worst seed',
      worst(({ massRecall }) => massRecall),
      0.995,
    ),
    figure(
      'test recall, worst seed',
      worst(({ testRecall }) => testRecall),
      0.6,
    ),
    { name: `${generator}: median days to detect`, value: all.daysToDetect.median },
    { name: `${generator}: flaps per 100 test-days`, value: all.flaps },
    { name: `${generator}: false quarantines, all seeds`, value: quarantined.falseVerdicts },
  ];
}

function changepointFigures(found: readonly Trial[]): Figure[] {
  const clean = found.filter(({ isFlaky, isWhole }) => !isFlaky && isWhole);
  const widths = found.flatMap(({ width }) => (width === null ? [] : [width])).sort((a, b) => a - b);
  say(`\nchangepoint: ${found.length} trials, seed ${seeds[0]}`);
  for (const isFlaky of [false, true]) {
    const group = found.filter((trial) => trial.isFlaky === isFlaky);
    const within = (runs: number): string =>
      `${((group.filter((trial) => trial.runs <= runs).length / group.length) * 100).toFixed(1)} %`;
    say(
      `  ${isFlaky ? 'flaky before' : 'sound before'}: broken after 2 runs ${within(2)}, 3 ${within(3)}, 4 ${within(4)}, 6 ${within(6)}`,
    );
  }
  say(`  commits in the range, median: ${widths[widths.length >> 1]}`);
  for (const { runs, isInside, isFlaky, isWhole } of found
    .filter((trial) => !trial.isInside)
    .slice(0, lossesShown))
    say(`  losing case: ${JSON.stringify({ runs, isInside, isFlaky, isWhole })}`);
  return [
    atMost(
      'changepoint: most runs until broken, after 100 passes',
      Math.max(...clean.map(({ runs }) => runs)),
      3,
    ),
    atLeast(
      'changepoint: culprit in the range, %',
      (found.filter(({ isInside }) => isInside).length / found.length) * 100,
      98,
    ),
  ];
}

function maskedFigures(found: readonly Masked[]): Figure[] {
  const share = (isHidden: (masked: Masked) => boolean): number =>
    (found.filter(isHidden).length / found.length) * 100;
  const upTo = (excused: readonly boolean[], runs: number): boolean => excused.slice(0, runs).every(Boolean);
  say(`\nmasked regressions: ${found.length} breakages of quarantined tests, seeds ${seeds.join(', ')}`);
  say('  % excused in every run, by the chance that a breakage says what the flake says');
  say(`  runs  no rule${collisions.map((chance) => `${chance * 100} %`.padStart(8)).join('')}`);
  for (const runs of [1, 2, 3, 4, 6, 10])
    say(
      `  ${String(runs).padStart(4)}${share(({ without }) => upTo(without, runs))
        .toFixed(1)
        .padStart(9)}${collisions
        .map((_, at) =>
          share(({ withRule }) => upTo(withRule[at]!, runs))
            .toFixed(1)
            .padStart(8),
        )
        .join('')}`,
    );
  const at = collisions.indexOf(quotedCollision);
  const hidden = found.filter(({ withRule }) => upTo(withRule[at]!, 3)).sort((a, b) => a.rate - b.rate);
  for (const { project, test, rate } of hidden.slice(0, lossesShown))
    say(`  losing case: ${project} test ${test}, which flakes in ${(rate * 100).toFixed(1)} % of its runs`);
  return [
    {
      name: 'masked at first, without the fingerprint rule, %',
      value: share(({ without }) => upTo(without, 1)),
    },
    { name: 'masked at first, %', value: share(({ withRule }) => upTo(withRule[at]!, 1)) },
    {
      name: 'masked after 3 runs, without the fingerprint rule, %',
      value: share(({ without }) => upTo(without, 3)),
    },
    atMost(
      'masked after 3 runs, %',
      share(({ withRule }) => upTo(withRule[at]!, 3)),
      2,
    ),
  ];
}

const outcomes: Outcome[] = [];
await runAll(
  chosen.flatMap((generator) => seeds.map((seed) => ({ generator, seed }))),
  (outcome) => {
    outcomes.push(outcome);
    if (process.stderr.isTTY) process.stderr.write(`${outcome.generator}, seed ${outcome.seed}: done\n`);
  },
);
const figures: Figure[] = [];
for (const generator of chosen) {
  const own = outcomes.filter((outcome) => outcome.generator === generator).sort((a, b) => a.seed - b.seed);
  showScores(generator, own);
  showLosses(own);
  figures.push(...accuracyFigures(generator, own));
}
if (values.generator === undefined) {
  const found = Array.from({ length: trials }, (_, trial) => tryChangepoint(seeds[0]!, trial));
  figures.push(...changepointFigures(found));
  figures.push(
    ...maskedFigures(
      seeds.flatMap((seed) => readProjects().flatMap((project) => maskRegressions(project, seed))),
    ),
  );
}
const realOutcomes: RealOutcome[] = [];
if (isReal) {
  const tasks = quotedRealTasks(values.seeds === undefined ? null : seeds);
  await runReals(tasks, (outcome) => realOutcomes.push(outcome));
  for (const profile of profileNames) {
    const own = outcomesOf(profile, realOutcomes);
    for (const line of tableOfReal(profile, own, 0)) say(line);
    figures.push(...figuresOfReal(profile, own));
  }
}
if (values.json) {
  const scores = outcomes.map(({ generator, seed, tallies, losses }) => ({
    generator,
    seed,
    detectors: Object.fromEntries(detectorNames.map((name) => [name, scoresOf(tallies[name]!)])),
    losses: losses.length,
  }));
  console.log(
    JSON.stringify(
      { figures, scores, real: realOutcomes.map(({ task, tally }) => ({ task, tally })) },
      null,
      2,
    ),
  );
} else {
  say('');
  // Shares of one that differ in the third digit.
  const exact = (figure: Figure): string =>
    figure.value > 0 && figure.value < 1
      ? lineOf(figure).replace(/: [\d.]+/u, `: ${figure.value.toFixed(4)}`)
      : lineOf(figure);
  for (const figure of figures) say(exact(figure));
}
if (figures.some(isMissed)) process.exitCode = 1;

// Two weeks of CI for a project, made of its real flake rates and of a model of everything else.
//
// Every day 24 runs of the default branch and 60 of pull requests. A fifth of the pull request runs are broken by their
// change; now and then the default branch breaks, for one to ten runs. One run in 200 is hit by an outage. What is red is
// run again whole, as another upload of the same commit: every pull request, and half of the runs of the default branch.
// The rerun is hit by the same outage one time in five.
//
//   easy       flaky tests fail independently; an outage takes 2 to 100 % of the tests, evenly
//   hard       three quarters of the flaky tests fail in herds of 13, the frailest first; most outages are narrow: their
//              breadth is log-uniform from 0.1 to 100 %
//   held-out   in generate-held-out.ts: written before any rule was tuned, and never tuned on
//
// The figures that are quoted are of seeds 1 to 5. Rules are tuned on other seeds.

import type { Project } from './project.ts';
import {
  createRandom,
  drawGeometric,
  drawIndices,
  drawLogUniform,
  drawWhole,
  type Random,
  shuffle,
} from './random.ts';

export const quotedSeeds: readonly number[] = [1, 2, 3, 4, 5];

/** One upload: every test was executed, and those that are not named passed. */
export type Upload = {
  /** Days since the beginning. */
  readonly at: number;
  /** Counted from 0; a rerun has the source of its first run. */
  readonly source: number;
  readonly branchClass: 'default' | 'pull_request';
  readonly pullRequest: number | null;
  /** Failed in every attempt, ascending. */
  readonly failed: Int32Array;
  /** Failed, and passed when it was tried again inside of the upload. */
  readonly flaky: Int32Array;
};

export type Replay = {
  readonly project: Project;
  /** In the order in which they arrive. */
  readonly uploads: readonly Upload[];
  /** By test: how often it failed by itself, and for nothing else. */
  readonly flakyFailures: Float64Array;
  /** The instants of those failures, by test, in days. */
  readonly flakyFailuresAt: readonly (readonly number[])[];
};

export const days = 14;
const defaultRunsDaily = 24;
const pullRequestRunsDaily = 60;
const brokenPullRequests = 0.2;
const breakagesDaily = 0.15;
const outages = 0.005;
const defaultReruns = 0.5;
const outageLasts = 0.2;
/** A pull request is based on a default branch that is broken just now. */
const basedOnBroken = 0.7;
const herdShare = 0.75;
const herdSize = 13;
/** Between a run and its rerun, in days. */
const rerunDelay = 20 / (24 * 60);

/** Groups of flaky tests: the tests of one fail together, the frailest first. */
export function drawHerds(random: Random, flaky: readonly number[]): Int32Array {
  const herds = new Int32Array(flaky.length);
  const order = shuffle(random, [...flaky.keys()]);
  const inHerds = Math.floor(herdShare * flaky.length);
  let next = 0;
  for (const [place, at] of order.entries()) {
    if (place > 0 && (place >= inHerds || place % herdSize === 0)) next++;
    herds[at] = next;
  }
  return herds;
}

type Run = { readonly at: number; readonly isDefault: boolean };

function drawRuns(random: Random): Run[] {
  const runs: Run[] = [];
  for (let day = 0; day < days; day++) {
    for (let run = 0; run < defaultRunsDaily; run++)
      runs.push({ at: day + run / defaultRunsDaily, isDefault: true });
    for (let run = 0; run < pullRequestRunsDaily; run++) runs.push({ at: day + random(), isDefault: false });
  }
  return runs.sort((a, b) => a.at - b.at);
}

const drawTests = (random: Random, tests: number, count: number): number[] =>
  Array.from({ length: count }, () => drawWhole(random, tests));

/** What a change or the default branch breaks: fails in every attempt of a run. */
function createBreakages(random: Random, tests: number): (isDefault: boolean) => Set<number> {
  const remaining = new Map<number, number>();
  return (isDefault) => {
    if (isDefault && random() < breakagesDaily / defaultRunsDaily)
      for (const test of drawTests(random, tests, 1 + drawGeometric(random, 0.4)))
        remaining.set(test, 1 + drawWhole(random, 10));
    const broken = new Set<number>();
    if (isDefault || random() < basedOnBroken) for (const test of remaining.keys()) broken.add(test);
    if (isDefault)
      for (const [test, left] of remaining)
        if (left === 1) remaining.delete(test);
        else remaining.set(test, left - 1);
    if (!isDefault && random() < brokenPullRequests)
      for (const test of drawTests(random, tests, 1 + drawGeometric(random, 0.3))) broken.add(test);
    return broken;
  };
}

export function generate(kind: 'easy' | 'hard', project: Project, seed: number): Replay {
  const random = createRandom(seed, `${kind}/${project.name}`);
  const { rates } = project;
  const flaky = [...rates.keys()].filter((test) => rates[test]! > 0);
  const herds = kind === 'hard' ? drawHerds(random, flaky) : Int32Array.from(flaky.keys());
  const shared = new Float64Array(flaky.length + 1);
  const breakagesOf = createBreakages(random, rates.length);
  const uploads: Upload[] = [];
  const flakyFailuresAt: number[][] = Array.from({ length: rates.length }, () => []);

  const attempt = (at: number, broken: ReadonlySet<number>, breadth: number): Int32Array => {
    const failed = new Set(broken);
    for (let herd = 0; herd < shared.length; herd++) shared[herd] = random();
    for (const [place, test] of flaky.entries())
      if (shared[herds[place]!]! < rates[test]!) {
        if (!broken.has(test)) flakyFailuresAt[test]!.push(at);
        failed.add(test);
      }
    if (breadth > 0) for (const test of drawIndices(random, rates.length, breadth)) failed.add(test);
    return Int32Array.from(failed).sort();
  };

  for (const [source, { at, isDefault }] of drawRuns(random).entries()) {
    const broken = breakagesOf(isDefault);
    const isHit = random() < outages;
    const drawn = kind === 'hard' ? drawLogUniform(random, 0.001, 1) : 0.02 + 0.98 * random();
    const breadth = isHit ? drawn : 0;
    const common = {
      source,
      branchClass: isDefault ? ('default' as const) : ('pull_request' as const),
      pullRequest: isDefault ? null : source,
      flaky: new Int32Array(0),
    };
    const first = attempt(at, broken, breadth);
    uploads.push({ ...common, at, failed: first });
    if (first.length === 0 || (isDefault && random() >= defaultReruns)) continue;
    const again = at + rerunDelay;
    uploads.push({
      ...common,
      at: again,
      failed: attempt(again, broken, random() < outageLasts ? breadth : 0),
    });
  }
  uploads.sort((a, b) => a.at - b.at);
  const flakyFailures = Float64Array.from(flakyFailuresAt, (instants) => instants.length);
  return { project, uploads, flakyFailures, flakyFailuresAt };
}

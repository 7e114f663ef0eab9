// The held-out generator: other assumptions than the easy and the hard one, so that a rule that only fits those shows.
//
// - Tests lie in directories of 5 to 100. Outages hit directories, not single tests at random: one directory mostly,
//   at times many. An outage lasts from minutes to hours and hits more than half of the attempts in that time, so the
//   same tests fail on several commits in a row, and pass when they are run again.
// - Flaky tests fail together with others of their directory, half of the time.
// - Pull requests are pushed to several times. One in 50 brings a race of its own: one to five tests that are sound
//   fail half of the time, on that pull request alone.
// - Half of the projects try a failed test again inside of the run, so a flake shows as both outcomes in one upload.

import { days, type Replay, type Upload } from './generate.ts';
import type { Project } from './project.ts';
import { createRandom, drawGeometric, drawLogUniform, drawWhole, type Random } from './random.ts';

const defaultRunsDaily = 24;
const pullRequestsDaily = 24;
const pushesChance = 0.4;
const brokenPullRequests = 0.2;
const racyPullRequests = 0.02;
const breakagesDaily = 0.15;
const outagesDaily = 0.4;
const outageHits = 0.6;
const outageTakes = 0.9;
const togetherShare = 0.5;
const defaultReruns = 0.5;

type Outage = { readonly from: number; readonly to: number; readonly directories: ReadonlySet<number> };
type Run = {
  readonly at: number;
  readonly pullRequest: number | null;
  /** Fail in every attempt. */
  readonly broken: readonly number[];
  /** Fail in every other attempt. */
  readonly racy: readonly number[];
};

/** The directory of each test. */
function drawDirectories(random: Random, tests: number): Int32Array {
  const directories = new Int32Array(tests);
  let directory = 0;
  for (let at = 0; at < tests; directory++)
    for (let left = Math.floor(drawLogUniform(random, 5, 100)); left > 0 && at < tests; left--)
      directories[at++] = directory;
  return directories;
}

function drawOutages(random: Random, directories: number): Outage[] {
  const found: Outage[] = [];
  for (let from = 0; ;) {
    from -= Math.log(1 - random()) / outagesDaily;
    if (from >= days) return found;
    const count = Math.min(directories, Math.floor(drawLogUniform(random, 1, directories + 1)));
    const hit = Array.from({ length: count }, () => drawWhole(random, directories));
    found.push({ from, to: from + drawLogUniform(random, 0.1, 6) / 24, directories: new Set(hit) });
  }
}

function drawRuns(random: Random, tests: number): Run[] {
  const draw = (count: number): number[] => Array.from({ length: count }, () => drawWhole(random, tests));
  const runs: Run[] = [];
  let broken: number[] = [];
  let brokenRuns = 0;
  for (let run = 0; run < days * defaultRunsDaily; run++) {
    if (brokenRuns === 0) broken = [];
    else brokenRuns--;
    if (random() < breakagesDaily / defaultRunsDaily) {
      broken = draw(1 + drawGeometric(random, 0.4));
      brokenRuns = 1 + drawWhole(random, 10);
    }
    runs.push({ at: run / defaultRunsDaily, pullRequest: null, broken, racy: [] });
  }
  for (let number = 0; number < days * pullRequestsDaily; number++) {
    const racy = random() < racyPullRequests ? draw(1 + drawWhole(random, 5)) : [];
    let at = random() * days;
    for (let push = drawGeometric(random, pushesChance); push > 0 && at < days; push--) {
      const isBroken = random() < brokenPullRequests;
      const own = isBroken ? draw(1 + drawGeometric(random, 0.3)) : [];
      runs.push({ at, pullRequest: number, broken: own, racy });
      at += drawLogUniform(random, 0.02, 1);
    }
  }
  return runs.sort((a, b) => a.at - b.at);
}

/** Failures of the flaky tests in one attempt. */
function createFlakes(random: Random, { rates }: Project, directories: Int32Array): () => number[] {
  const flaky = [...rates.keys()].filter((test) => rates[test]! > 0);
  const shared = new Map<number, number>();
  return () => {
    shared.clear();
    return flaky.filter((test) => {
      const directory = directories[test]!;
      const together = shared.get(directory) ?? random();
      shared.set(directory, together);
      return (random() < togetherShare ? together : random()) < rates[test]!;
    });
  };
}

export function generateHeldOut(project: Project, seed: number): Replay {
  const random = createRandom(seed, `held-out/${project.name}`);
  const { rates } = project;
  const directories = drawDirectories(random, rates.length);
  const outages = drawOutages(random, directories.at(-1)! + 1);
  const flakesOf = createFlakes(random, project, directories);
  const retriesInside = random() < 0.5;
  const flakyFailuresAt: number[][] = Array.from({ length: rates.length }, () => []);

  const attempt = (at: number, { broken, racy }: Run, only: ReadonlySet<number> | null): Set<number> => {
    const failed = new Set(broken);
    for (const test of racy) if (random() < 0.5) failed.add(test);
    for (const test of flakesOf()) {
      if (only !== null && !only.has(test)) continue;
      if (!failed.has(test)) flakyFailuresAt[test]!.push(at);
      failed.add(test);
    }
    const outage = outages.find(({ from, to }) => from <= at && at < to);
    if (outage !== undefined && random() < outageHits)
      for (const [test, directory] of directories.entries())
        if (outage.directories.has(directory) && random() < outageTakes) failed.add(test);
    return only === null ? failed : new Set([...only].filter((test) => failed.has(test)));
  };

  const uploads: Upload[] = [];
  const upload = (at: number, source: number, run: Run): number => {
    const first = attempt(at, run, null);
    const last = retriesInside ? attempt(at, run, first) : first;
    uploads.push({
      at,
      source,
      branchClass: run.pullRequest === null ? 'default' : 'pull_request',
      pullRequest: run.pullRequest,
      failed: Int32Array.from(last).sort(),
      flaky: Int32Array.from([...first].filter((test) => !last.has(test))).sort(),
    });
    return last.size;
  };
  for (const [source, run] of drawRuns(random, rates.length).entries()) {
    const red = upload(run.at, source, run);
    if (red === 0 || (run.pullRequest === null && random() >= defaultReruns)) continue;
    upload(run.at + drawLogUniform(random, 10, 120) / (24 * 60), source, run);
  }
  uploads.sort((a, b) => a.at - b.at);
  const flakyFailures = Float64Array.from(flakyFailuresAt, (instants) => instants.length);
  return { project, uploads, flakyFailures, flakyFailuresAt };
}

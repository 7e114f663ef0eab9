// One generator and seed: every project is replayed, and every detector is counted.

import { references } from './detector.ts';
import { generate, type Replay } from './generate.ts';
import { generateHeldOut } from './generate-held-out.ts';
import { emptyTally, type Tally, tallyReplay } from './metric.ts';
import { classifyReplay } from './ours.ts';
import { readProjects } from './project.ts';

export const generators = ['easy', 'hard', 'held-out'] as const;
export type Generator = (typeof generators)[number];

export const ours = 'Signalbox';
export const oursQuarantined = 'Signalbox, quarantined';
export const detectorNames: readonly string[] = [
  ...references.map(({ name }) => name),
  ours,
  oursQuarantined,
];

export type Outcome = {
  readonly generator: Generator;
  readonly seed: number;
  readonly tallies: { readonly [detector: string]: Tally };
  /** Tests that our rules got wrong, the worst first. */
  readonly losses: readonly Loss[];
};

export type Loss = {
  readonly project: string;
  readonly test: number;
  /** 0: it is not flaky, and was called so. */
  readonly rate: number;
  readonly failures: number;
};

const generateFor = (generator: Generator, project: Replay['project'], seed: number): Replay =>
  generator === 'held-out' ? generateHeldOut(project, seed) : generate(generator, project, seed);

export function runExperiment(generator: Generator, seed: number, only?: readonly string[]): Outcome {
  const tallies: Record<string, Tally> = {};
  const tallyOf = (name: string): Tally => (tallies[name] ??= emptyTally());
  const losses: Loss[] = [];
  for (const project of readProjects()) {
    if (only !== undefined && !only.includes(project.name)) continue;
    const replay = generateFor(generator, project, seed);
    for (const { name, detect } of references) tallyReplay(tallyOf(name), replay, detect(replay));
    const { flaky, quarantined } = classifyReplay(replay);
    tallyReplay(tallyOf(ours), replay, flaky);
    tallyReplay(tallyOf(oursQuarantined), replay, quarantined);
    for (const [test, rate] of project.rates.entries())
      if (rate > 0 !== flaky.has(test))
        losses.push({ project: project.name, test, rate, failures: replay.flakyFailures[test]! });
  }
  losses.sort((a, b) => Number(a.rate > 0) - Number(b.rate > 0) || b.failures - a.failures);
  return { generator, seed, tallies, losses };
}

/** The sum of what several seeds counted. */
export function addTallies(tallies: readonly Tally[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies) {
    sum.flagged += tally.flagged;
    sum.rightlyFlagged += tally.rightlyFlagged;
    sum.flaky += tally.flaky;
    sum.mass += tally.mass;
    sum.flaggedMass += tally.flaggedMass;
    sum.coveredMass += tally.coveredMass;
    sum.withdrawn += tally.withdrawn;
    sum.daysToDetect.push(...tally.daysToDetect);
    sum.runsToDetect.push(...tally.runsToDetect);
  }
  return sum;
}

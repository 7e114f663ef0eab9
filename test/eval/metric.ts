// What is said of a detector after a replay.
//
//   precision      of the tests that it ever called flaky, the share that are
//   test recall    of the flaky tests, the share that it ever called flaky
//   mass recall    of the failures of flaky tests, the share that belong to a test that it ever called flaky
//   mass covered   of the same failures, the share that came while it called the test flaky: what detection time costs
//   days to detect from a test's first failure of its own to the verdict, for those that were called flaky
//   runs to detect the uploads in that time
//   flaps          how often a verdict was withdrawn from a test that is flaky, per 100 days of such tests

import { median, percentile } from '../bench/figure.ts';
import { days, type Replay } from './generate.ts';

/** The intervals in which a detector called a test flaky, by test, in days; the last may be open: Infinity. */
export type Verdicts = ReadonlyMap<number, readonly (readonly [from: number, to: number])[]>;

export type Tally = {
  flagged: number;
  rightlyFlagged: number;
  flaky: number;
  mass: number;
  flaggedMass: number;
  coveredMass: number;
  withdrawn: number;
  daysToDetect: number[];
  runsToDetect: number[];
};

export type Scores = {
  readonly precision: number;
  readonly testRecall: number;
  readonly massRecall: number;
  readonly massCovered: number;
  readonly falseVerdicts: number;
  readonly daysToDetect: { readonly median: number; readonly p90: number };
  readonly runsToDetect: { readonly median: number; readonly p90: number };
  readonly flaps: number;
};

export const emptyTally = (): Tally => ({
  flagged: 0,
  rightlyFlagged: 0,
  flaky: 0,
  mass: 0,
  flaggedMass: 0,
  coveredMass: 0,
  withdrawn: 0,
  daysToDetect: [],
  runsToDetect: [],
});

export function tallyReplay(tally: Tally, replay: Replay, verdicts: Verdicts): void {
  const { rates } = replay.project;
  const instants = replay.uploads.map(({ at }) => at);
  for (const [test, rate] of rates.entries()) {
    const intervals = verdicts.get(test) ?? [];
    if (intervals.length > 0) tally.flagged++;
    if (rate === 0) continue;
    const failures = replay.flakyFailuresAt[test]!;
    tally.flaky++;
    tally.mass += failures.length;
    if (intervals.length === 0) continue;
    tally.rightlyFlagged++;
    tally.flaggedMass += failures.length;
    tally.coveredMass += failures.filter((at) =>
      intervals.some(([from, to]) => from < at && at <= to),
    ).length;
    tally.withdrawn += intervals.filter(([, to]) => to < days).length;
    const begun = failures[0] ?? intervals[0]![0];
    const found = intervals[0]![0];
    tally.daysToDetect.push(Math.max(0, found - begun));
    tally.runsToDetect.push(instants.filter((at) => begun < at && at <= found).length);
  }
}

export function scoresOf(tally: Tally): Scores {
  const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
  const spread = (values: readonly number[]) => ({ median: median(values), p90: percentile(values, 0.9) });
  return {
    precision: share(tally.rightlyFlagged, tally.flagged),
    testRecall: share(tally.rightlyFlagged, tally.flaky),
    massRecall: share(tally.flaggedMass, tally.mass),
    massCovered: share(tally.coveredMass, tally.mass),
    falseVerdicts: tally.flagged - tally.rightlyFlagged,
    daysToDetect: spread(tally.daysToDetect),
    runsToDetect: spread(tally.runsToDetect),
    flaps: (tally.withdrawn / (tally.flaky * days)) * 100,
  };
}

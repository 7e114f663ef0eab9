// Judges what a policy did against the truth of the workload, by one rule for every policy.

import { assert } from '#base/assert.ts';
import type { Decision, PolicyRun } from './policy.ts';
import { mean, percentile } from './statistics.ts';
import { createTruth } from './truth.ts';
import type { Workload } from './workload.ts';

export type Result = {
  readonly policy: string;
  /** In the order in which they were decided. */
  readonly decisions: readonly Decision[];
  /** Minutes from arrival to merge or failure. A cancelled change has none: the policy did not decide it. */
  readonly turnaroundsMin: readonly number[];
  readonly merged: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly runsStarted: number;
  readonly runsAborted: number;
  readonly ciMinutes: number;
  /** Merges that left the branch truly broken: of a bad change, or of one that conflicts with an earlier merge. */
  readonly badMerges: number;
  /** Failures of a good change that conflicts with nothing merged before it. */
  readonly falseEvictions: number;
  readonly lastDecisionAtMin: number;
};

/** Also asserts conservation: every change is decided once, and not before it arrived. */
export function judge(policy: string, workload: Workload, run: PolicyRun): Result {
  const { changes } = workload;
  const truth = createTruth(workload);
  const isDecided = new Uint8Array(changes.length);
  const hasLanded = new Uint8Array(changes.length);
  const counts = { merged: 0, failed: 0, cancelled: 0 };
  const turnaroundsMin: number[] = [];
  let badMerges = 0;
  let falseEvictions = 0;
  let lastDecisionAtMin = 0;
  for (const { number, outcome, atMin } of run.decisions) {
    const place = truth.placeOf.get(number);
    assert(place !== undefined, `${policy} decided change ${number}, which does not exist`);
    assert(isDecided[place] === 0, `${policy} decided change ${number} twice`);
    assert(atMin >= changes[place]!.arrivesAtMin, `${policy} decided change ${number} before it arrived`);
    assert(atMin >= lastDecisionAtMin, `${policy} reported change ${number} out of order`);
    isDecided[place] = 1;
    lastDecisionAtMin = atMin;
    counts[outcome]++;
    if (outcome !== 'cancelled') turnaroundsMin.push(atMin - changes[place]!.arrivesAtMin);
    const isSound = truth.isSound((other) => hasLanded[other] === 1, [place]);
    if (outcome === 'merged') {
      hasLanded[place] = 1;
      if (!isSound) badMerges++;
    }
    if (outcome === 'failed' && isSound) falseEvictions++;
  }
  const undecided = isDecided.indexOf(0);
  assert(undecided === -1, `${policy} never decided change ${changes[undecided]?.number}`);
  const { decisions, runsStarted, runsAborted, ciMinutes } = run;
  const spent = { runsStarted, runsAborted, ciMinutes };
  return {
    policy,
    decisions,
    turnaroundsMin,
    ...counts,
    ...spent,
    badMerges,
    falseEvictions,
    lastDecisionAtMin,
  };
}

/** The figures of one policy on one workload, or their means over several. */
export type Summary = {
  readonly p50Min: number;
  readonly p95Min: number;
  readonly p99Min: number;
  readonly p50OverOracle: number;
  readonly p95OverOracle: number;
  readonly p99OverOracle: number;
  readonly mergedPerHour: number;
  /** Counts failures too, as the published evaluations do: per change, not per merged change. */
  readonly decidedPerHour: number;
  readonly throughputOverOracle: number;
  readonly runsPerMerged: number;
  readonly runsPerChange: number;
  readonly ciMinutesPerMerged: number;
  readonly ciMinutesPerChange: number;
  readonly ciMinutesOverOracle: number;
  /** 0 to 1. */
  readonly abortedShare: number;
  /** Of all changes. */
  readonly falseEvictionPercent: number;
  readonly badMerges: number;
};

export function summarize(result: Result, oracle: Result): Summary {
  const at = (of: Result, share: number) => percentile(of.turnaroundsMin, share);
  const over = (share: number) => at(result, share) / at(oracle, share);
  const changes = result.decisions.length;
  const decidedPerHour = decidedPerHourOf(result);
  return {
    p50Min: at(result, 0.5),
    p95Min: at(result, 0.95),
    p99Min: at(result, 0.99),
    p50OverOracle: over(0.5),
    p95OverOracle: over(0.95),
    p99OverOracle: over(0.99),
    mergedPerHour: (result.merged / result.lastDecisionAtMin) * 60,
    decidedPerHour,
    throughputOverOracle: decidedPerHour / decidedPerHourOf(oracle),
    runsPerMerged: result.runsStarted / result.merged,
    runsPerChange: result.runsStarted / changes,
    ciMinutesPerMerged: result.ciMinutes / result.merged,
    ciMinutesPerChange: result.ciMinutes / changes,
    ciMinutesOverOracle: result.ciMinutes / oracle.ciMinutes,
    abortedShare: result.runsStarted === 0 ? 0 : result.runsAborted / result.runsStarted,
    falseEvictionPercent: (result.falseEvictions / changes) * 100,
    badMerges: result.badMerges,
  };
}

function decidedPerHourOf(result: Result): number {
  return (result.turnaroundsMin.length / result.lastDecisionAtMin) * 60;
}

/** Ratios are averaged as ratios: each seed is compared with the oracle on its own workload. */
export function meanOfSummaries(summaries: readonly Summary[]): Summary {
  const names = Object.keys(summaries[0]!) as (keyof Summary)[];
  return Object.fromEntries(
    names.map((name) => [name, mean(summaries.map((summary) => summary[name]))]),
  ) as Summary;
}

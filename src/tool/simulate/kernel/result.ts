// Measures the decisions of a policy against the truth of the workload, by one rule for every policy.

import { assert } from '#base/assert.ts';
import type { SimulatedDecision, PolicyRun } from './policy.ts';
import { mean, meanInterval, percentile } from './statistics.ts';
import { createTruth } from './truth.ts';
import type { Workload } from './workload.ts';

export type Result = {
  readonly policy: string;
  /** In the order in which they were decided. */
  readonly decisions: readonly SimulatedDecision[];
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
  readonly falseRemovals: number;
  readonly lastDecisionAtMin: number;
  /** From the first arrival to the last; later submissions of a removed change are not counted as arrivals. */
  readonly arrivalsMin: number;
  /** What was decided by the time of the last arrival, and what of it merged. */
  readonly whileArriving: { readonly decided: number; readonly merged: number };
};

/**
 * Also asserts conservation: every change that arrived is decided once, and not before it arrived. A change that follows
 * another arrives only if that one did not merge.
 */
export function computeResult(policy: string, workload: Workload, run: PolicyRun): Result {
  const { changes } = workload;
  const truth = createTruth(workload);
  const isDecided = new Uint8Array(changes.length);
  const hasLanded = new Uint8Array(changes.length);
  const counts = { merged: 0, failed: 0, cancelled: 0 };
  const turnaroundsMin: number[] = [];
  const arrivesAt = changes.map(({ follows, arrivesAtMin }) => (follows ? Infinity : arrivesAtMin));
  const followerOf = new Map(
    changes.flatMap(({ follows }, place) => (follows ? [[follows.number, place]] : [])),
  );
  const arrivals = arrivesAt.filter((atMin) => atMin < Infinity);
  const lastArrivalAtMin = arrivals.at(-1) ?? 0;
  const whileArriving = { decided: 0, merged: 0 };
  let badMerges = 0;
  let falseRemovals = 0;
  let lastDecisionAtMin = 0;
  for (const { number, outcome, atMin } of run.decisions) {
    const place = truth.placeOf.get(number);
    assert(place !== undefined, `${policy} decided change ${number}, which does not exist`);
    assert(isDecided[place] === 0, `${policy} decided change ${number} twice`);
    assert(atMin >= arrivesAt[place]!, `${policy} decided change ${number} before it arrived`);
    assert(atMin >= lastDecisionAtMin, `${policy} reported change ${number} out of order`);
    isDecided[place] = 1;
    lastDecisionAtMin = atMin;
    counts[outcome]++;
    const isCounted = outcome !== 'cancelled';
    if (isCounted) turnaroundsMin.push(atMin - arrivesAt[place]!);
    if (isCounted && atMin <= lastArrivalAtMin) {
      whileArriving.decided++;
      if (outcome === 'merged') whileArriving.merged++;
    }
    const follower = followerOf.get(number);
    if (follower !== undefined && outcome !== 'merged')
      arrivesAt[follower] = atMin + changes[follower]!.follows!.afterMin;
    const isSound = truth.isSound((other) => hasLanded[other] === 1, [place]);
    if (outcome === 'merged') {
      hasLanded[place] = 1;
      if (!isSound) badMerges++;
    }
    if (outcome === 'failed' && isSound) falseRemovals++;
  }
  const undecided = arrivesAt.findIndex((atMin, place) => atMin < Infinity && isDecided[place] === 0);
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
    falseRemovals,
    lastDecisionAtMin,
    arrivalsMin: lastArrivalAtMin - (arrivals[0] ?? 0),
    whileArriving,
  };
}

/** The metrics of one policy on one workload, or their means over several. */
export type Summary = {
  readonly p50Min: number;
  readonly p95Min: number;
  readonly p99Min: number;
  readonly p50OverOracle: number;
  readonly p95OverOracle: number;
  readonly p99OverOracle: number;
  /** As `decidedPerHour`, of merges alone. */
  readonly mergedPerHour: number;
  /**
   * Throughput: the changes decided between the first arrival and the last, by the hours between these. It counts
   * failures too, as the published evaluations do. A workload ends only because the simulation must: what is decided
   * after the last arrival, while the slots run empty, would measure how long the simulation was. If more arrive than
   * the queue can decide, it is never empty in this time, and the figure is its capacity.
   */
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
  readonly falseRemovalPercent: number;
  readonly badMerges: number;
};

export function summarize(result: Result, oracle: Result): Summary {
  const at = (of: Result, share: number) => percentile(of.turnaroundsMin, share);
  const over = (share: number) => at(result, share) / at(oracle, share);
  const changes = result.decisions.length;
  const decidedPerHour = computeDecidedPerHour(result);
  return {
    p50Min: at(result, 0.5),
    p95Min: at(result, 0.95),
    p99Min: at(result, 0.99),
    p50OverOracle: over(0.5),
    p95OverOracle: over(0.95),
    p99OverOracle: over(0.99),
    mergedPerHour: (result.whileArriving.merged / result.arrivalsMin) * 60,
    decidedPerHour,
    throughputOverOracle: decidedPerHour / computeDecidedPerHour(oracle),
    runsPerMerged: result.runsStarted / result.merged,
    runsPerChange: result.runsStarted / changes,
    ciMinutesPerMerged: result.ciMinutes / result.merged,
    ciMinutesPerChange: result.ciMinutes / changes,
    ciMinutesOverOracle: result.ciMinutes / oracle.ciMinutes,
    abortedShare: result.runsStarted === 0 ? 0 : result.runsAborted / result.runsStarted,
    falseRemovalPercent: (result.falseRemovals / changes) * 100,
    badMerges: result.badMerges,
  };
}

function computeDecidedPerHour(result: Result): number {
  return (result.whileArriving.decided / result.arrivalsMin) * 60;
}

/** Ratios are averaged as ratios: each seed is compared with the oracle on its own workload. */
export const meanOfSummaries = (summaries: readonly Summary[]): Summary => figureByFigure(summaries, mean);

/** By how much each mean may be off: half of its 95 % interval over the seeds. */
export const intervalOfSummaries = (summaries: readonly Summary[]): Summary =>
  figureByFigure(summaries, meanInterval);

function figureByFigure(
  summaries: readonly Summary[],
  combine: (values: readonly number[]) => number,
): Summary {
  const names = Object.keys(summaries[0]!) as (keyof Summary)[];
  return Object.fromEntries(
    names.map((name) => [name, combine(summaries.map((summary) => summary[name]))]),
  ) as Summary;
}

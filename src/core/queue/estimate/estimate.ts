// When will an entry land? The queue is simulated forward many times from its own history: how long test runs
// took, and what share of the tested entries left the queue without landing. The median of these futures is
// the estimate, the 10th and the 90th percentile are its interval. The random numbers are seeded, so the same
// queue and history give the same estimate.
//
// Example. Two slots; runs took from 8 to 12 minutes. #1 has been tested for 9 minutes, #2 for 2, #3 is
// pending.
//   #1 can only be like one of the runs that took more than 9: it lands in 1 to 3 minutes.
//   #2 lands in 6 to 10, and not before #1.
//   #3 takes the slot of #1, so it lands some 12 minutes from now. If one in ten leaves after it was tested,
//   then in one future of five #1 or #2 leaves, and the tests of #3 restart once that is known.
//
// It estimates the landing on the condition that there is one: each entry is assumed to be good. It does not
// foresee entries that arrive or leave ahead, pushes to the branch, or CI that is slower today than it was.

import { beginFuture, createDraws, drawLanes, drawLine, type Odds } from './estimate-draw.ts';
import { drawScreens, groupScreens } from './estimate-screen.ts';
import { groupLine, type LineEntry, type LineGroup, placesMax } from './estimate-group.ts';
import type { EntryStatus } from '../text/entry-status.ts';
import { isInQueue, type Queue } from '../model.ts';
import { speculates, strategyFor } from '../planner/strategies.ts';
import type { QueueSettings } from '../settings.ts';

/** With fewer passed runs than this there is no estimate. */
const passedRunsMin = 5;

/** The recent history of a queue. */
export type TestHistory = {
  /** How long each run that passed took, in milliseconds, from its request to its verdict. */
  readonly durationsMs: readonly number[];
  /** Attempts that landed, and attempts that were tested and then failed or were cancelled. */
  readonly mergedCount: number;
  readonly leftCount: number;
  /** Milliseconds between two attempts, on average. */
  readonly arrivalGapMs: number;
};

export const isEnoughHistory = ({ durationsMs }: TestHistory): boolean => durationsMs.length >= passedRunsMin;

export type MergeEstimate = { readonly at: Date; readonly interval: readonly [p10: Date, p90: Date] };

/** Milliseconds since the epoch. */
type Percentiles = { readonly p10: number; readonly p50: number; readonly p90: number };

/** When each entry of a queue is expected to land. */
export type Forecast = {
  /** By pull request. */
  readonly landings: ReadonlyMap<number, Percentiles>;
  /** For entries behind the simulated part of the queue; null if the whole queue was simulated. */
  readonly beyond: Beyond | null;
};

type Beyond = {
  /** How many entries were simulated, and when the last of them lands. */
  readonly places: number;
  readonly last: Percentiles;
  /** What each further position adds to the landing time, and to its variance, which was `variance`. */
  readonly gapMs: number;
  readonly variance: number;
  readonly gapVariance: number;
};

/** Work is bounded: a long queue is simulated fewer times. */
const landingsMax = 20_000;
const futuresMax = 200;
const futuresMin = 40;

/** Null if the queue has too little history. */
export function forecastLine(
  given: QueueSettings,
  history: TestHistory,
  line: readonly LineEntry[],
  now: Date,
): Forecast | null {
  if (!isEnoughHistory(history)) return null;
  const settings = speculates(given) ? { ...given, ...withoutEffect } : given;
  const at = now.getTime();
  const odds = estimateOdds(settings, history);
  const { screens } = strategyFor(settings);
  const groups = screens
    ? groupScreens(line, odds.leaveShare, at)
    : groupLine(line, settings, history.arrivalGapMs, at);
  const futures = Math.max(futuresMin, Math.min(futuresMax, Math.floor(landingsMax / groups.length)));
  const draws = createDraws(groups, odds, at);
  const draw = screens ? drawScreens : settings.mode === 'single' ? drawLine : drawLanes;
  const samples = groups.map(() => new Float64Array(futures));
  for (let future = 0; future < futures; future++) {
    beginFuture(draws);
    draw(draws, (group, landsAt) => (samples[group]![future] = landsAt));
  }
  const beyond = line.length > placesMax ? estimateLandingRate(groups, samples) : null;
  const percentiles = samples.map(computePercentiles);
  const expected = inOrder(
    groups,
    percentiles.map((each, index) => widen(each, chooseWidening(settings, groups[index]!), at)),
  );
  const landings = new Map(
    groups.flatMap(({ members }, index) => members.map((prNumber) => [prNumber, expected[index]!] as const)),
  );
  return { landings, beyond: beyond && { ...beyond, last: expected.at(-1)! } };
}

/** In parallel lanes with the strategy adaptive a change has so many runs: some are bets, some repeat a failure. */
const runsPerChange = 1.35;

function estimateOdds(settings: QueueSettings, { durationsMs, mergedCount, leftCount }: TestHistory): Odds {
  const { concurrency, bisectionConcurrency, canOptimisticallyMerge, pendingFailureDepth } = settings;
  const count = mergedCount + leftCount;
  // Half an entry on each side: a history without removals does not mean that there will be none.
  const leaveShare = (leftCount + 0.5) / (count + 1);
  return {
    durationsMs: Float64Array.from(durationsMs).sort(),
    leaveShare,
    leaveDoubt: Math.sqrt((leaveShare * (1 - leaveShare)) / (count + 2)),
    slots: speculates(settings) ? Math.max(1, Math.round(concurrency / runsPerChange)) : concurrency,
    searchSlots: bisectionConcurrency === 0 ? concurrency : bisectionConcurrency,
    isOptimistic: canOptimisticallyMerge,
    failureDepth: pendingFailureDepth,
  };
}

function computePercentiles(samples: Float64Array): Percentiles {
  const rising = samples.sort();
  const share = (part: number) => rising[Math.round(part * (rising.length - 1))]!;
  return { p10: share(0.1), p50: share(0.5), p90: share(0.9) };
}

/** By how much an interval is wider than that of the simulated futures. */
type Widening = { readonly earlier: number; readonly later: number };

/**
 * How entries are grouped, which runs are bets, and how a bisection continues is only roughly foreseen. With these shares an
 * interval holds eight of ten landings (test/sim/calibration.test.ts).
 */
const grouped: Widening = { earlier: 1.25, later: 1.45 };
const betting: Widening = { earlier: 1.07, later: 1.45 };
const inLanes: Widening = { earlier: 1.12, later: 1.15 };
const optimistic: Widening = { earlier: 1, later: 1.2 };
/** The larger a batch, the less is known about its bisection; it was measured with up to six entries. */
const batched = ({ batchingMinSize }: QueueSettings): Widening => ({
  earlier: 1.16,
  later: 1.1 + 0.07 * Math.min(8, batchingMinSize),
});
const unchanged: Widening = { earlier: 1, later: 1 };

function chooseWidening(settings: QueueSettings, group: LineGroup): Widening {
  if (speculates(settings)) return betting;
  if (strategyFor(settings).screens) return isGroupedLater(group) ? grouped : unchanged;
  if (settings.batch) return batched(settings);
  if (settings.mode === 'parallel') return inLanes;
  return settings.canOptimisticallyMerge ? optimistic : unchanged;
}

/** What these settings mean to a queue that speculates in parallel lanes. */
const withoutEffect = { batch: false, canOptimisticallyMerge: false, pendingFailureDepth: 0 } as const;

const widen = ({ p10, p50, p90 }: Percentiles, { earlier, later }: Widening, now: number): Percentiles => ({
  p10: Math.max(now, p50 - earlier * (p50 - p10)),
  p50,
  p90: p50 + later * (p90 - p50),
});

const isGroupedLater = ({ kind, isScreened = false }: LineGroup): boolean =>
  isScreened || kind === 'screening' || kind === 'waiting' || kind === 'searched';

/** No entry is expected before one that it waits for. No entry waits for a group under bisection. */
function inOrder(groups: readonly LineGroup[], expected: readonly Percentiles[]): readonly Percentiles[] {
  const ordered: Percentiles[] = [];
  for (const [index, { kind, behind }] of groups.entries()) {
    let own = expected[index]!;
    for (const distance of kind === 'searched' ? [] : (behind ?? []))
      if (groups[index - distance]!.kind !== 'searched')
        own = maxPercentiles(own, ordered[index - distance]!);
    ordered.push(own);
  }
  return ordered;
}

const maxPercentiles = (one: Percentiles, other: Percentiles): Percentiles => ({
  p10: Math.max(one.p10, other.p10),
  p50: Math.max(one.p50, other.p50),
  p90: Math.max(one.p90, other.p90),
});

/** How fast the second half of the simulated entries lands: entries behind are assumed to land as fast. */
function estimateLandingRate(
  groups: readonly LineGroup[],
  samples: readonly Float64Array[],
): Omit<Beyond, 'last'> {
  const middle = groups.length >> 1;
  const [from, to] = [samples[middle]!, samples.at(-1)!];
  const countMembers = (some: readonly LineGroup[]) =>
    some.reduce((sum, { members }) => sum + members.length, 0);
  const between = countMembers(groups.slice(middle + 1));
  const stretches = meanAndVariance(to.map((landsAt, future) => landsAt - from[future]!));
  return {
    places: countMembers(groups),
    gapMs: Math.max(0, stretches.mean / between),
    gapVariance: stretches.variance / between,
    variance: meanAndVariance(to).variance,
  };
}

function meanAndVariance(values: Float64Array): { readonly mean: number; readonly variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length };
}

/** The 90th percentile of a normal distribution, in standard deviations. */
const p90Deviations = 1.2816;

function landingBeyond(
  { places, last, gapMs, variance, gapVariance }: Beyond,
  position: number,
): Percentiles {
  const further = position - places + 1;
  const wider = p90Deviations * (Math.sqrt(variance + further * gapVariance) - Math.sqrt(variance));
  const added = further * gapMs;
  return { p10: last.p10 + Math.max(0, added - wider), p50: last.p50 + added, p90: last.p90 + added + wider };
}

type EstimatedEntry = Pick<EntryStatus, 'entry' | 'position' | 'isHostAway'>;

/** Whether a landing can be estimated at all: the entry is in the queue, and the queue can land it. */
export function isForeseeable(
  queue: Queue,
  { entry, isHostAway }: Omit<EstimatedEntry, 'position'>,
): boolean {
  if (isHostAway || queue.state === 'PAUSED' || !isInQueue(entry.stage)) return false;
  // No new test starts before the mode has changed, and how long tests take in the new mode is not known.
  return queue.state !== 'SWITCHING_MODES' || entry.stage.kind !== 'pending';
}

const foreseen = ({ landings, beyond }: Forecast, { entry, position }: EstimatedEntry): Percentiles | null =>
  landings.get(entry.pullRequest.number) ??
  (beyond !== null && position !== null && position >= beyond.places
    ? landingBeyond(beyond, position)
    : null);

/** Whether a forecast includes this entry: an entry submitted after the forecast is not in it. */
export const isForeseen = (forecast: Forecast, estimated: EstimatedEntry): boolean =>
  foreseen(forecast, estimated) !== null;

/** When an entry lands, never in the past; null if that cannot be estimated. */
export function estimateMerge(
  queue: Queue,
  estimated: EstimatedEntry,
  forecast: Forecast | null,
  now: Date,
): MergeEstimate | null {
  const landing = forecast !== null && isForeseeable(queue, estimated) ? foreseen(forecast, estimated) : null;
  if (landing === null) return null;
  const fromNow = (at: number) => new Date(Math.max(now.getTime(), Math.round(at)));
  return { at: fromNow(landing.p50), interval: [fromNow(landing.p10), fromNow(landing.p90)] };
}

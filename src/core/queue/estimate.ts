// When will it land? The line is imagined forward many times with what the queue has seen: how long test runs took, and
// what share of those it tested left. The median of those futures is the estimate, the 10th and the 90th percentile are
// its interval. The same line and history give the same estimate: the dice are seeded.
//
// Example. Two slots; runs took from 8 to 12 minutes. #1 has been tested for 9 minutes, #2 for 2, #3 is pending.
//   #1 can only be like one of those that took more than 9: it lands in 1 to 3 minutes.
//   #2 lands in 6 to 10, and not before #1.
//   #3 takes the slot of #1, so it lands some 12 minutes from now. If one in ten leaves after it was tested, then in one
//   future of five #1 or #2 leaves, and #3 begins anew once that is known.
//
// It is an estimate of the landing, if there is one: each entry is taken to be good. What is not foreseen: who comes and
// goes ahead, pushes to the branch, and CI that is slower today than it was.

import { beginFuture, createDraws, drawLanes, drawLine, type Odds } from './estimate-draw.ts';
import { groupLine, type LineEntry, type LineGroup, placesMax } from './estimate-group.ts';
import { type Entry, isInQueue, type Queue } from './model.ts';
import type { QueueSettings } from './settings.ts';

/** Fewer runs than this say nothing about the next. */
const passedRunsMin = 5;

/** What a queue has seen lately. */
export type TestHistory = {
  /** How long each run that passed took, in milliseconds, from being asked for to its verdict. */
  readonly durationsMs: readonly number[];
  /** Trips that landed, and trips that were tested and then failed or were cancelled. */
  readonly mergedCount: number;
  readonly leftCount: number;
  /** Milliseconds between two trips, on average. */
  readonly arrivalGapMs: number;
};

export const isEnoughHistory = ({ durationsMs }: TestHistory): boolean => durationsMs.length >= passedRunsMin;

export type MergeEstimate = { readonly at: Date; readonly interval: readonly [p10: Date, p90: Date] };

/** Milliseconds since the epoch. */
type Percentiles = { readonly p10: number; readonly p50: number; readonly p90: number };

/** When everybody in a line is expected to land. */
export type Forecast = {
  /** By pull request. */
  readonly landings: ReadonlyMap<number, Percentiles>;
  /** For those behind what was looked at; null where the whole line was. */
  readonly beyond: Beyond | null;
};

type Beyond = {
  /** How many places were looked at, and when the last of them lands. */
  readonly places: number;
  readonly last: Percentiles;
  /** What each further place adds, in milliseconds, and to the variance of the landing, which was `variance`. */
  readonly gapMs: number;
  readonly variance: number;
  readonly gapVariance: number;
};

/** Work is bounded: a long line is imagined less often. */
const landingsMax = 20_000;
const futuresMax = 200;
const futuresMin = 40;

/** Null where the queue has too little history. */
export function forecastLine(
  settings: QueueSettings,
  history: TestHistory,
  line: readonly LineEntry[],
  now: Date,
): Forecast | null {
  if (!isEnoughHistory(history)) return null;
  const at = now.getTime();
  const groups = groupLine(line, settings, history.arrivalGapMs, at);
  const futures = Math.max(futuresMin, Math.min(futuresMax, Math.floor(landingsMax / groups.length)));
  const draws = createDraws(groups, oddsOf(settings, history), at);
  const draw = settings.mode === 'single' ? drawLine : drawLanes;
  const samples = groups.map(() => new Float64Array(futures));
  for (let future = 0; future < futures; future++) {
    beginFuture(draws);
    draw(draws, (group, landsAt) => (samples[group]![future] = landsAt));
  }
  const beyond = line.length > placesMax ? rateOf(groups, samples) : null;
  const expected = inOrder(groups, samples.map(percentilesOf));
  const landings = new Map(
    groups.flatMap(({ members }, index) => members.map((prNumber) => [prNumber, expected[index]!] as const)),
  );
  return { landings, beyond: beyond && { ...beyond, last: expected.at(-1)! } };
}

function oddsOf(settings: QueueSettings, { durationsMs, mergedCount, leftCount }: TestHistory): Odds {
  const { concurrency, bisectionConcurrency, canOptimisticallyMerge, pendingFailureDepth } = settings;
  const count = mergedCount + leftCount;
  // Half of one each way: that nobody has left yet does not say that nobody will.
  const leaveShare = (leftCount + 0.5) / (count + 1);
  return {
    durationsMs: Float64Array.from(durationsMs).sort(),
    leaveShare,
    leaveDoubt: Math.sqrt((leaveShare * (1 - leaveShare)) / (count + 2)),
    slots: concurrency,
    searchSlots: bisectionConcurrency === 0 ? concurrency : bisectionConcurrency,
    isOptimistic: canOptimisticallyMerge,
    failureDepth: pendingFailureDepth,
  };
}

function percentilesOf(samples: Float64Array): Percentiles {
  const rising = samples.sort();
  const share = (part: number) => rising[Math.round(part * (rising.length - 1))]!;
  return { p10: share(0.1), p50: share(0.5), p90: share(0.9) };
}

/** Nobody is expected before somebody they wait for. What is searched is beside the line: nobody waits for it. */
function inOrder(groups: readonly LineGroup[], expected: readonly Percentiles[]): readonly Percentiles[] {
  const ordered: Percentiles[] = [];
  for (const [index, { kind, behind }] of groups.entries()) {
    let own = expected[index]!;
    for (const distance of kind === 'searched' ? [] : (behind ?? []))
      if (groups[index - distance]!.kind !== 'searched') own = laterOf(own, ordered[index - distance]!);
    ordered.push(own);
  }
  return ordered;
}

const laterOf = (one: Percentiles, other: Percentiles): Percentiles => ({
  p10: Math.max(one.p10, other.p10),
  p50: Math.max(one.p50, other.p50),
  p90: Math.max(one.p90, other.p90),
});

/** How fast the second half of what was looked at lands: those behind go on like that. */
function rateOf(groups: readonly LineGroup[], samples: readonly Float64Array[]): Omit<Beyond, 'last'> {
  const middle = groups.length >> 1;
  const [from, to] = [samples[middle]!, samples.at(-1)!];
  const placesOf = (some: readonly LineGroup[]) => some.reduce((sum, { members }) => sum + members.length, 0);
  const between = placesOf(groups.slice(middle + 1));
  const stretches = momentsOf(to.map((landsAt, future) => landsAt - from[future]!));
  return {
    places: placesOf(groups),
    gapMs: Math.max(0, stretches.mean / between),
    gapVariance: stretches.variance / between,
    variance: momentsOf(to).variance,
  };
}

function momentsOf(values: Float64Array): { readonly mean: number; readonly variance: number } {
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

/** Where an entry stands now. */
type Standing = {
  readonly entry: Entry;
  /** How many are ahead in the line; null when it is not in it. */
  readonly position: number | null;
  readonly isHostAway: boolean;
};

/** Whether its landing can be told at all: it is in the queue, and the queue lands what is where it is. */
export function isForeseeable(queue: Queue, { entry, isHostAway }: Omit<Standing, 'position'>): boolean {
  if (isHostAway || queue.state === 'PAUSED' || !isInQueue(entry.stage)) return false;
  // Nothing new is tested before the mode has changed, and what its tests take then is not known.
  return queue.state !== 'SWITCHING_MODES' || entry.stage.kind !== 'pending';
}

const foreseen = ({ landings, beyond }: Forecast, { entry, position }: Standing): Percentiles | null =>
  landings.get(entry.pullRequest.number) ??
  (beyond !== null && position !== null && position >= beyond.places
    ? landingBeyond(beyond, position)
    : null);

/** Whether a forecast is about this entry too: one that came since is not in it. */
export const isForeseen = (forecast: Forecast, standing: Standing): boolean =>
  foreseen(forecast, standing) !== null;

/** When an entry lands, never in the past; null where nobody can tell. */
export function estimateMerge(
  queue: Queue,
  standing: Standing,
  forecast: Forecast | null,
  now: Date,
): MergeEstimate | null {
  const landing = forecast !== null && isForeseeable(queue, standing) ? foreseen(forecast, standing) : null;
  if (landing === null) return null;
  const fromNow = (at: number) => new Date(Math.max(now.getTime(), Math.round(at)));
  return { at: fromNow(landing.p50), interval: [fromNow(landing.p10), fromNow(landing.p90)] };
}

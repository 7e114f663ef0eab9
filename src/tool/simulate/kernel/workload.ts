// The changes that arrive at a queue. A workload holds the whole truth (which changes are good, which break
// each other, how long CI takes); a policy may use only what a real queue would know, except the oracle,
// which uses everything.

import type { Random } from '#base/random.ts';
import { type Predictor, predictPass } from './predictor.ts';
import { createRandom, drawExponential, drawLognormal } from './random.ts';

export type WorkloadChange = {
  /** The pull request. Unique; a later arrival has a higher place in `changes`, not necessarily a higher number. */
  readonly number: number;
  readonly arrivesAtMin: number;
  /** CI duration of a run whose last change this is. */
  readonly durationMin: number;
  /** Passes CI alone. */
  readonly isGood: boolean;
  /** It is bad in a way that ends a run before any test: no other fault is seen in a run that contains it. */
  readonly breaksBuild?: boolean;
  /** Earlier changes with which it really breaks, though each passes alone. A subset of `shares`. */
  readonly conflictsWith: readonly number[];
  /** Earlier changes that touch a target it touches, so that order matters between them. */
  readonly shares: readonly number[];
  /** The predictor's probability that it passes alone, 0 to 1. */
  readonly predictedPass: number;
  /** The predicted CI duration; absent: nothing predicts it. */
  readonly predictedMin?: number;
  /** 0..255, lower first; absent: medium. */
  readonly priority?: number;
  /** Tested alone. */
  readonly noBatch?: boolean;
  /** The previous submission of the change: this one comes `afterMin` after its end, unless it merged. */
  readonly follows?: { readonly number: number; readonly afterMin: number };
  /**
   * For the runs whose last change this is, in order: whether chance fails them. If undefined or absent, it
   * is drawn.
   */
  readonly luck?: readonly (boolean | undefined)[];
};

/** Something a user does to a change that waits. It counts only between the change's arrival and its decision. */
export type Disturbance = {
  /** A push makes every run that contains the change worthless; a cancel takes the change out. */
  readonly kind: 'push' | 'cancel';
  readonly number: number;
  readonly atMin: number;
};

/** What takes time besides the tests, and how long tests take. All are drawn again for each run. */
export type Timing = {
  /** Minutes from the request of a run to its push: no CI yet. */
  readonly startMin: readonly number[];
  /** Minutes that CI continues a run after the request to cancel it. */
  readonly cancelMin: readonly number[];
  /** Minutes from deciding to land to having landed. */
  readonly landMin: readonly number[];
  /** CI minutes of runs that passed and that failed; null: the last change of a run says. */
  readonly runMin: { readonly passed: readonly number[]; readonly failed: readonly number[] } | null;
  /** Good changes that were removed are submitted again: the share of them, and after how many minutes. */
  readonly again: { readonly share: number; readonly afterMin: number };
};

export type Workload = {
  readonly name: string;
  /** Also seeds the flakes, which each policy draws for itself. */
  readonly seed: number;
  /** Probability that a run of sound changes fails. */
  readonly flakeProbability: number;
  /** Probability that a composition which failed by chance does so in its next run too. Absent: as any run. */
  readonly flakeRepeatProbability?: number;
  /**
   * Reports show which tests failed, unless the build broke, and CI can run them alone, in this share of the time of a
   * whole run. Absent: a queue only sees whether a run passed.
   */
  readonly targetedRunShare?: number;
  /**
   * The share of the runs that chance failed whose failed tests are known to be flaky when they fail. Only with `targetedRunShare`,
   * which is also the share of the time that the failed jobs take when they run again. Absent: none is known.
   */
  readonly knownFlakeShare?: number;
  /** What a policy may assume of a pair that shares: the probability that it really conflicts. */
  readonly conflictProbability: number;
  /** In order of arrival. */
  readonly changes: readonly WorkloadChange[];
  /** Something predicts which changes pass, and a queue may read that. Absent: false. */
  readonly isPredicted?: boolean;
  /** In order of time. */
  readonly disturbances: readonly Disturbance[];
  /** Absent: nothing but CI takes time, and a run takes as long as its last change says. */
  readonly timing?: Timing;
};

/** How CI behaves, whatever the changes are. */
type CiBehaviour = Pick<
  Workload,
  'flakeProbability' | 'flakeRepeatProbability' | 'targetedRunShare' | 'knownFlakeShare'
>;

export type GraphOptions = CiBehaviour & {
  readonly seed: number;
  /** Changes in all. */
  readonly count: number;
  readonly arrivalsPerHour: number;
  readonly passProbability: number;
  /** c: probability that a pair of changes shares a target. */
  readonly sharingProbability: number;
  /** q: probability that a pair that shares really conflicts. */
  readonly conflictProbability: number;
  readonly predictor: Predictor;
  /** How far the predicted durations are off: the standard deviation of their logarithm. Absent: none are predicted. */
  readonly durationError?: number;
  /** Only changes that arrive within this time of each other can share: older ones have long been decided. */
  readonly horizonMin: number;
};

/** The fit to the SubmitQueue evaluation (EuroSys 2019, section 8) at 500 changes an hour. */
export const submitQueueOptions = {
  arrivalsPerHour: 500,
  passProbability: 0.9,
  conflictProbability: 0.04,
  predictor: { kind: 'accuracy', accuracy: 0.97 },
  durationError: 0.05,
  horizonMin: 60,
  flakeProbability: 0,
} as const satisfies Partial<GraphOptions>;

/** Lognormal with a mean of about 30 minutes, cut to the range of the published distribution. */
const graphDuration = { medianMin: 27, sigma: 0.6, lowestMin: 2, highestMin: 120 };

export type LineOptions = CiBehaviour & {
  readonly seed: number;
  readonly count: number;
  /** The mean over a day. */
  readonly arrivalsPerHour: number;
  /** How far the rate of arrivals swings around its mean within a day: 0 not at all, 1 down to none at night. */
  readonly dailySwing?: number;
  readonly passProbability: number;
  /** Share of the bad changes that break the build, so that their runs show no other fault. */
  readonly buildBreakShare?: number;
  /** Probability that two changes which arrive within `pairHorizonMin` break each other, though each passes alone. */
  readonly pairConflictProbability?: number;
  readonly predictor: Predictor;
};

/** Changes of a line that arrive further apart do not conflict: the later author has seen the earlier change. */
const pairHorizonMin = 180;

const lineDuration = { medianMin: 30, sigma: 0.2 };

/**
 * Changes that share targets at random: queues can be worked on side by side. All draws come from one stream in a fixed
 * order (arrival, duration, outcome, prediction, then each pair), which makes a seed the workload that the reference
 * figures were measured on: over three seeds these figures differ by up to a quarter from one set of seeds to another.
 */
export function createGraphWorkload(options: GraphOptions): Workload {
  const random = createRandom(options.seed);
  const predictDuration = createDurationPredictor(options);
  const changes: WorkloadChange[] = [];
  let nowMin = 0;
  let horizonStart = 0;
  for (let place = 0; place < options.count; place++) {
    nowMin += drawExponential(random, 60 / options.arrivalsPerHour);
    while (horizonStart < place && nowMin - changes[horizonStart]!.arrivesAtMin > options.horizonMin)
      horizonStart++;
    const durationMin = drawGraphDuration(random);
    const outcome = drawOutcome(random, options);
    const shares: number[] = [];
    const conflictsWith: number[] = [];
    for (let earlier = horizonStart; earlier < place; earlier++) {
      if (random() >= options.sharingProbability) continue;
      shares.push(earlier + 1);
      if (random() < options.conflictProbability) conflictsWith.push(earlier + 1);
    }
    const predicted = { ...outcome, ...predictDuration(durationMin) };
    changes.push({
      number: place + 1,
      arrivesAtMin: nowMin,
      durationMin,
      ...predicted,
      conflictsWith,
      shares,
    });
  }
  const { seed, conflictProbability } = options;
  const name = `c=${options.sharingProbability}`;
  const isPredicted = options.predictor.kind !== 'prior';
  return { name, seed, ...ciBehaviour(options), conflictProbability, changes, isPredicted, disturbances: [] };
}

function ciBehaviour({
  flakeProbability,
  flakeRepeatProbability,
  targetedRunShare,
  knownFlakeShare,
}: CiBehaviour): CiBehaviour {
  return {
    flakeProbability,
    ...(flakeRepeatProbability === undefined ? {} : { flakeRepeatProbability }),
    ...(targetedRunShare === undefined ? {} : { targetedRunShare }),
    ...(knownFlakeShare === undefined ? {} : { knownFlakeShare }),
  };
}

/** Draws from its own stream: the workload of a seed is the same with and without it. */
function createDurationPredictor({ seed, durationError }: GraphOptions) {
  const random = createRandom(seed, 'predicted duration');
  return (durationMin: number): Pick<WorkloadChange, 'predictedMin'> =>
    durationError === undefined ? {} : { predictedMin: drawLognormal(random, durationMin, durationError) };
}

/**
 * Changes of one line, each of which touches everything. Bad changes, pairs that conflict and flakes fail. Each property
 * has its own stream of draws, so that one that is added leaves the others of the seed as they are.
 */
export function createLineWorkload(options: LineOptions): Workload {
  const { seed, passProbability, flakeProbability, pairConflictProbability = 0 } = options;
  const nextArrival = createArrivals(options);
  const durations = createRandom(seed, 'duration');
  const outcomes = createRandom(seed, 'outcome');
  const builds = createRandom(seed, 'build');
  const pairs = createRandom(seed, 'pair');
  const changes: WorkloadChange[] = [];
  for (let number = 1; number <= options.count; number++) {
    const arrivesAtMin = nextArrival();
    const durationMin = drawLognormal(durations, lineDuration.medianMin, lineDuration.sigma);
    const outcome = drawOutcome(outcomes, options);
    const breaksBuild = builds() < (options.buildBreakShare ?? 0) && !outcome.isGood;
    const near = (at: number) => arrivesAtMin - changes[at]!.arrivesAtMin <= pairHorizonMin;
    const conflictsWith: number[] = [];
    if (pairConflictProbability > 0)
      for (let at = changes.length - 1; at >= 0 && near(at); at--)
        if (pairs() < pairConflictProbability) conflictsWith.push(changes[at]!.number);
    // A line has one lane by definition: sharing with every earlier change would say the same in quadratic space.
    const shares = conflictsWith;
    changes.push({ number, arrivesAtMin, durationMin, ...outcome, breaksBuild, conflictsWith, shares });
  }
  const name = `${options.arrivalsPerHour}/h, pass ${passProbability}, flake ${flakeProbability}`;
  const conflictProbability = pairConflictProbability;
  return { name, seed, ...ciBehaviour(options), conflictProbability, changes, disturbances: [] };
}

const dayMin = 24 * 60;

/** The times of arrival, one after the other: a Poisson process whose rate is lowest at the start of each day. */
function createArrivals({ seed, arrivalsPerHour, dailySwing = 0 }: LineOptions): () => number {
  const arrivals = createRandom(seed, 'arrival');
  const kept = createRandom(seed, 'swing');
  const highestPerHour = arrivalsPerHour * (1 + dailySwing);
  const rateAt = (min: number) => arrivalsPerHour * (1 - dailySwing * Math.cos((2 * Math.PI * min) / dayMin));
  let nowMin = 0;
  return () => {
    // Drawn at the highest rate of the day; as many are left out as the rate is lower.
    do nowMin += drawExponential(arrivals, 60 / highestPerHour);
    while (kept() * highestPerHour >= rateAt(nowMin));
    return nowMin;
  };
}

export type DisturbanceOptions = {
  /** Share of the changes that are pushed to once while they may wait. */
  readonly pushedShare: number;
  /** Share of the changes that are cancelled. */
  readonly cancelledShare: number;
  /** Mean time from arrival to the push or cancel; exponential. */
  readonly delayMin: number;
};

/** The same workload with pushes and cancellations added. */
export function disturb(workload: Workload, options: DisturbanceOptions): Workload {
  const random = createRandom(workload.seed, 'disturbance');
  const disturbances: Disturbance[] = [];
  for (const { number, arrivesAtMin } of workload.changes) {
    const luck = random();
    const atMin = arrivesAtMin + drawExponential(random, options.delayMin);
    if (luck < options.cancelledShare) disturbances.push({ kind: 'cancel', number, atMin });
    else if (luck < options.cancelledShare + options.pushedShare)
      disturbances.push({ kind: 'push', number, atMin });
  }
  return { ...workload, disturbances: inOrderOfTime([...workload.disturbances, ...disturbances]) };
}

export function inOrderOfTime(disturbances: readonly Disturbance[]): readonly Disturbance[] {
  return disturbances.toSorted((one, other) => one.atMin - other.atMin);
}

type OutcomeOptions = Pick<GraphOptions, 'passProbability' | 'predictor'>;

function drawOutcome(random: Random, { passProbability, predictor }: OutcomeOptions) {
  const isGood = random() < passProbability;
  return { isGood, predictedPass: predictPass(predictor, isGood, passProbability, random()) };
}

function drawGraphDuration(random: Random): number {
  const { medianMin, sigma, lowestMin, highestMin } = graphDuration;
  for (;;) {
    const durationMin = drawLognormal(random, medianMin, sigma);
    if (durationMin >= lowestMin && durationMin <= highestMin) return durationMin;
  }
}

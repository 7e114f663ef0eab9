// What arrives at a queue. A workload holds the whole truth (who is good, who breaks whom, how long CI takes); a policy
// may look only at what a real queue would know, except the oracle, which looks at everything.

import { createRandom, drawExponential, drawLognormal, type Random } from './random.ts';

export type Change = {
  /** The pull request. Unique; a later arrival has a higher place in `changes`, not necessarily a higher number. */
  readonly number: number;
  readonly arrivesAtMin: number;
  /** CI duration of a run whose last change this is. */
  readonly durationMin: number;
  /** Passes CI alone. */
  readonly isGood: boolean;
  /** Earlier changes with which it really breaks, though each passes alone. A subset of `shares`. */
  readonly conflictsWith: readonly number[];
  /** Earlier changes that touch a target it touches, so that order matters between them. */
  readonly shares: readonly number[];
  /** The predictor's probability that it passes alone, 0 to 1. */
  readonly predictedPass: number;
  /** 0..255, lower first; absent: medium. */
  readonly priority?: number;
  /** Tested alone. */
  readonly noBatch?: boolean;
  /** An earlier submission of the same: it comes only if that one does not merge, so many minutes after its end. */
  readonly follows?: { readonly number: number; readonly afterMin: number };
  /**
   * Of runs whose last change this is, in their order: whether chance fails them; undefined, as all that come after
   * them: it is drawn.
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

/** What takes time beside the tests themselves, and how the time of tests varies. All are drawn anew for each run. */
export type Timing = {
  /** Minutes from being asked for to being pushed: no CI yet. */
  readonly startMin: readonly number[];
  /** Minutes from deciding to land to having landed. */
  readonly landMin: readonly number[];
  /** CI minutes of runs that passed and that failed; null: the last change of a run says. */
  readonly runMin: { readonly passed: readonly number[]; readonly failed: readonly number[] } | null;
  /** Who is evicted though good is submitted again: the share of them, and after how many minutes. */
  readonly again: { readonly share: number; readonly afterMin: number };
};

export type Workload = {
  readonly name: string;
  /** Also seeds the flakes, which each policy draws for itself. */
  readonly seed: number;
  /** Probability that a run fails although what it tests is sound. */
  readonly flakeProbability: number;
  /** What a policy may assume of a pair that shares: the probability that it really conflicts. */
  readonly conflictProbability: number;
  /** In order of arrival. */
  readonly changes: readonly Change[];
  /** In order of time. */
  readonly disturbances: readonly Disturbance[];
  /** Absent: nothing but CI takes time, and a run takes as long as its last change says. */
  readonly timing?: Timing;
};

/** How good the predictor is. All but `accuracy` give calibrated probabilities. */
type Predictor =
  | { readonly kind: 'accuracy'; readonly accuracy: number }
  | { readonly kind: 'prior' }
  | { readonly kind: 'screen'; readonly recall: number; readonly falseAlarm: number };

export type GraphOptions = {
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
  /** Only changes that arrive within this time of each other can share: older ones have long been decided. */
  readonly horizonMin: number;
  readonly flakeProbability: number;
};

/** The fit to the SubmitQueue evaluation (EuroSys 2019, section 8) at 500 changes an hour. */
export const submitQueueOptions = {
  arrivalsPerHour: 500,
  passProbability: 0.9,
  conflictProbability: 0.04,
  predictor: { kind: 'accuracy', accuracy: 0.97 },
  horizonMin: 60,
  flakeProbability: 0,
} as const satisfies Partial<GraphOptions>;

/** Lognormal with a mean of about 30 minutes, cut to the range of the published distribution. */
const graphDuration = { medianMin: 27, sigma: 0.6, lowestMin: 2, highestMin: 120 };

export type LineOptions = {
  readonly seed: number;
  readonly count: number;
  readonly arrivalsPerHour: number;
  readonly passProbability: number;
  readonly flakeProbability: number;
  readonly predictor: Predictor;
};

const lineDuration = { medianMin: 30, sigma: 0.2 };

/**
 * Changes that share targets at random: queues can be worked on side by side. All draws come from one stream in a fixed
 * order (arrival, duration, outcome, prediction, then each pair), which makes a seed the workload that the reference
 * figures were measured on: over three seeds these figures differ by up to a quarter from one set of seeds to another.
 */
export function createGraphWorkload(options: GraphOptions): Workload {
  const random = createRandom(options.seed);
  const changes: Change[] = [];
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
    changes.push({ number: place + 1, arrivesAtMin: nowMin, durationMin, ...outcome, conflictsWith, shares });
  }
  const { seed, flakeProbability, conflictProbability } = options;
  const name = `c=${options.sharingProbability}`;
  return { name, seed, flakeProbability, conflictProbability, changes, disturbances: [] };
}

/** Changes of one line, each of which touches everything; none conflicts, so only bad ones and flakes fail. */
export function createLineWorkload(options: LineOptions): Workload {
  const { seed, arrivalsPerHour, passProbability, flakeProbability } = options;
  const arrivals = createRandom(seed, 'arrival');
  const durations = createRandom(seed, 'duration');
  const outcomes = createRandom(seed, 'outcome');
  const changes: Change[] = [];
  let nowMin = 0;
  for (let number = 1; number <= options.count; number++) {
    nowMin += drawExponential(arrivals, 60 / arrivalsPerHour);
    const durationMin = drawLognormal(durations, lineDuration.medianMin, lineDuration.sigma);
    const outcome = drawOutcome(outcomes, options);
    // A line has one lane by definition: listing every earlier change would say the same in quadratic space.
    changes.push({ number, arrivesAtMin: nowMin, durationMin, ...outcome, conflictsWith: [], shares: [] });
  }
  const name = `${arrivalsPerHour}/h, pass ${passProbability}, flake ${flakeProbability}`;
  return { name, seed, flakeProbability, conflictProbability: 0, changes, disturbances: [] };
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
  return { isGood, predictedPass: predict(predictor, isGood, passProbability, random()) };
}

function drawGraphDuration(random: Random): number {
  const { medianMin, sigma, lowestMin, highestMin } = graphDuration;
  for (;;) {
    const durationMin = drawLognormal(random, medianMin, sigma);
    if (durationMin >= lowestMin && durationMin <= highestMin) return durationMin;
  }
}

function predict(predictor: Predictor, isGood: boolean, pass: number, luck: number): number {
  switch (predictor.kind) {
    case 'accuracy': {
      const saysGood = luck < predictor.accuracy ? isGood : !isGood;
      return saysGood ? predictor.accuracy : 1 - predictor.accuracy;
    }
    case 'prior':
      return pass;
    case 'screen': {
      const { recall, falseAlarm } = predictor;
      const isFlagged = luck < (isGood ? falseAlarm : recall);
      const seenIfBad = (1 - pass) * (isFlagged ? recall : 1 - recall);
      const seenIfGood = pass * (isFlagged ? falseAlarm : 1 - falseAlarm);
      return seenIfGood / (seenIfGood + seenIfBad);
    }
  }
}

// Estimates what was wrong with each submission from the results of its runs. Three things make a run fail: a
// change that is bad alone, two changes that are bad together, and chance. A change in a run that passed is
// not bad alone; a change that merged is not bad at all. For the others there are only odds, which depend on
// each other: how often sound changes failed gives the probability of a failure by chance, and that gives how
// many of the removed changes were innocent. The estimate is repeated until it settles.
//
// Example: 100 changes merged, and 4 of their 200 runs failed; 6 changes failed with one run each. If chance
// fails 2 of 100 runs, it removed about 2 of 100 sound changes: about a third of the 6 are innocent. Those
// raise the probability of chance a little, and so on.

import type { FitEvidence } from './evidence.ts';
import { type Suspicion, findSuspicions } from './suspicion.ts';

export type BlameEstimate = {
  /** Probability that a run of sound changes fails. */
  readonly flakeProbability: number;
  /** Probability that a change that was removed by chance is submitted again. */
  readonly againProbability: number;
  /** By place of the attempt: the probability that it is bad alone. */
  readonly badAlone: readonly number[];
  /** By place of the attempt: an earlier one that it may be bad with, and the probability; null: none. */
  readonly badWith: readonly ({ readonly place: number; readonly chance: number } | null)[];
};

/** The prior, which counts as `weight` observations, so that a short history gives no certainty. */
const usual = { flake: 0.02, alone: 0.05, together: 0.01, again: 0.9 };
const weight = 10;
/** Of the runs that fail by chance: the share in which a failed test is not known to be flaky yet. */
const unknownFlaky = 0.1;
const rounds = 50;

type BlameOdds = {
  readonly flake: number;
  readonly alone: number;
  readonly together: number;
  /** The share of innocent removed changes that is submitted again. */
  readonly again: number;
};

/** The probability of guilt. An innocent change would likely have been submitted again, and merged. */
function estimateGuilt(suspicion: Suspicion, { flake, alone, together, again }: BlameOdds): number {
  if (suspicion.kind === 'sound') return 0;
  if (suspicion.kind === 'unknown') return alone;
  const prior = suspicion.kind === 'alone' ? alone : together;
  const { unclassifiedCount, nonFlakyCount } = suspicion.fails;
  const byChance = flake ** unclassifiedCount * (flake * unknownFlaky) ** nonFlakyCount;
  const isGone = suspicion.wasRemoved ? 1 - again : 1;
  return prior / (prior + (1 - prior) * byChance * isGone);
}

export function assignBlame(evidence: FitEvidence): BlameEstimate {
  const suspicions = findSuspicions(evidence);
  const isSound = (place: number) => suspicions[place]!.kind === 'sound';
  const sound = evidence.runs.filter(({ members }) => members.every(isSound));
  const soundFails = sound.filter(({ passed }) => !passed).length;
  const tested = suspicions.filter(({ kind }) => kind !== 'unknown').length;
  const removed = suspicions.flatMap((one) =>
    one.kind === 'sound' && one.again !== null ? [one.again] : [],
  );
  const cameAgain = removed.filter((again) => again).length;
  let odds: BlameOdds = usual;
  for (let round = 0; round < rounds; round++) {
    let flakes = soundFails + weight * usual.flake;
    let runs = sound.length + weight;
    let innocent = removed.length + weight;
    const blamed = { alone: weight * usual.alone, together: weight * usual.together };
    for (const suspicion of suspicions) {
      if (suspicion.kind === 'sound' || suspicion.kind === 'unknown') continue;
      const guilt = estimateGuilt(suspicion, odds);
      blamed[suspicion.kind] += guilt;
      const { unclassifiedCount, nonFlakyCount } = suspicion.fails;
      if (suspicion.wasRemoved) innocent += 1 - guilt;
      flakes += (1 - guilt) * (unclassifiedCount + nonFlakyCount);
      runs += (1 - guilt) * (unclassifiedCount + nonFlakyCount);
    }
    odds = {
      flake: flakes / runs,
      alone: blamed.alone / (tested + weight),
      together: blamed.together / (tested + weight),
      again: (cameAgain + weight * usual.again) / innocent,
    };
  }
  const guilt = suspicions.map((suspicion) => estimateGuilt(suspicion, odds));
  return {
    flakeProbability: odds.flake,
    againProbability: odds.again,
    badAlone: suspicions.map(({ kind }, place) => (kind === 'together' ? 0 : guilt[place]!)),
    badWith: suspicions.map((one, place) =>
      one.kind === 'together' ? { place: one.place, chance: guilt[place]! } : null,
    ),
  };
}

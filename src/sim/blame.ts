// What was wrong with each submission, as far as its runs can tell. Three things make a run fail: a change that is bad
// alone, two that are bad together, and chance. A change in a run that passed is not bad alone; one that merged is not
// bad at all. Of the others it is a matter of odds, which follow from all of them together: how often sound things
// failed says how likely chance is, and that says how many of the evicted were innocent. Repeated until it stands.
//
// Example: 100 merged, and of their 200 runs 4 failed; 6 failed with one run each. If chance fails 2 of 100 runs, then
// some 2 of 100 sound changes were evicted by it: of the 6 about a third is innocent. Those raise the share of chance
// a little, and so on.

import type { Evidence } from './evidence.ts';
import { type Suspicion, suspicionsOf } from './suspicion.ts';

export type Blame = {
  /** Probability that a run of something sound fails. */
  readonly flakeProbability: number;
  /** Probability that who is evicted by chance is submitted again. */
  readonly againProbability: number;
  /** By place of trip: the probability that it is bad alone. */
  readonly badAlone: readonly number[];
  /** By place of trip: an earlier one that it may be bad together with, and how likely that is; null: none. */
  readonly badWith: readonly ({ readonly place: number; readonly chance: number } | null)[];
};

/** What is assumed before anything is seen, as if seen so often, so that a short history is not certain of anything. */
const usual = { flake: 0.02, alone: 0.05, together: 0.01, again: 0.9 };
const weight = 10;
/** Of runs that fail by chance: those in which a test failed that nobody knows to be flaky yet. */
const unknownFlaky = 0.1;
const rounds = 50;

type Odds = {
  readonly flake: number;
  readonly alone: number;
  readonly together: number;
  /** The share of the innocent evicted that is submitted again. */
  readonly again: number;
};

/** How likely it is that it is to blame. Whoever is innocent would likely have been submitted again, and merged. */
function guiltOf(suspicion: Suspicion, { flake, alone, together, again }: Odds): number {
  if (suspicion.kind === 'sound') return 0;
  if (suspicion.kind === 'unknown') return alone;
  const prior = suspicion.kind === 'alone' ? alone : together;
  const { untold, told } = suspicion.fails;
  const byChance = flake ** untold * (flake * unknownFlaky) ** told;
  const isGone = suspicion.wasEvicted ? 1 - again : 1;
  return prior / (prior + (1 - prior) * byChance * isGone);
}

export function assignBlame(evidence: Evidence): Blame {
  const suspicions = suspicionsOf(evidence);
  const isSound = (place: number) => suspicions[place]!.kind === 'sound';
  const sound = evidence.runs.filter(({ members }) => members.every(isSound));
  const soundFails = sound.filter(({ passed }) => !passed).length;
  const tested = suspicions.filter(({ kind }) => kind !== 'unknown').length;
  const evicted = suspicions.flatMap((one) =>
    one.kind === 'sound' && one.again !== null ? [one.again] : [],
  );
  const cameAgain = evicted.filter((again) => again).length;
  let odds: Odds = usual;
  for (let round = 0; round < rounds; round++) {
    let flakes = soundFails + weight * usual.flake;
    let runs = sound.length + weight;
    let innocent = evicted.length + weight;
    const blamed = { alone: weight * usual.alone, together: weight * usual.together };
    for (const suspicion of suspicions) {
      if (suspicion.kind === 'sound' || suspicion.kind === 'unknown') continue;
      const guilt = guiltOf(suspicion, odds);
      blamed[suspicion.kind] += guilt;
      const { untold, told } = suspicion.fails;
      if (suspicion.wasEvicted) innocent += 1 - guilt;
      flakes += (1 - guilt) * (untold + told);
      runs += (1 - guilt) * (untold + told);
    }
    odds = {
      flake: flakes / runs,
      alone: blamed.alone / (tested + weight),
      together: blamed.together / (tested + weight),
      again: (cameAgain + weight * usual.again) / innocent,
    };
  }
  const guilt = suspicions.map((suspicion) => guiltOf(suspicion, odds));
  return {
    flakeProbability: odds.flake,
    againProbability: odds.again,
    badAlone: suspicions.map(({ kind }, place) => (kind === 'together' ? 0 : guilt[place]!)),
    badWith: suspicions.map((one, place) =>
      one.kind === 'together' ? { place: one.place, chance: guilt[place]! } : null,
    ),
  };
}

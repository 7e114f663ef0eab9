// What was wrong with each submission, as far as its runs can tell. Three things make a run fail: a change that is bad
// alone, two that are bad together, and chance. A change in a run that passed is not bad alone; one that merged is not
// bad at all. Of the others it is a matter of odds, which follow from all of them together: how often sound things
// failed says how likely chance is, and that says how many of the evicted were innocent. Repeated until it stands.
//
// Example: 100 merged, and of their 200 runs 4 failed; 6 failed with one run each. If chance fails 2 of 100 runs, then
// some 2 of 100 sound changes were evicted by it: of the 6 about a third is innocent. Those raise the share of chance
// a little, and so on.

import type { Evidence, EvidentRun } from './evidence.ts';

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

type Suspicion =
  /** `isAgain`: it was evicted all the same, and merged when it was submitted again. */
  | { readonly kind: 'sound'; readonly isAgain: boolean }
  /** Never in a run that passed; `fails` of runs whose others were sound failed, and so many of them were seen. */
  | { readonly kind: 'alone'; readonly fails: number; readonly seen: number }
  /** It passed before somebody landed ahead of it, and failed after. */
  | { readonly kind: 'together'; readonly fails: number; readonly seen: number; readonly place: number }
  /** Nothing is known: taken out before its tests ended. */
  | { readonly kind: 'unknown' };

/** What is assumed before anything is seen, as if seen so often, so that a short history is not certain of anything. */
const usual = { flake: 0.02, alone: 0.05, together: 0.01 };
const weight = 20;
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
  return prior / (prior + (1 - prior) * flake ** suspicion.fails * (1 - again));
}

export function assignBlame(evidence: Evidence): Blame {
  const suspicions = suspicionsOf(evidence);
  const isSound = (place: number) => suspicions[place]!.kind === 'sound';
  const sound = evidence.runs.filter(({ members }) => members.every(isSound));
  const soundFails = sound.filter(({ passed }) => !passed).length;
  const tested = suspicions.filter(({ kind }) => kind !== 'unknown').length;
  const cameAgain = suspicions.filter((one) => one.kind === 'sound' && one.isAgain).length;
  let odds: Odds = { ...usual, again: 0 };
  for (let round = 0; round < rounds; round++) {
    let flakes = soundFails + weight * usual.flake;
    let runs = sound.length + weight;
    let innocent = cameAgain + 1;
    const blamed = { alone: weight * usual.alone, together: weight * usual.together };
    for (const suspicion of suspicions) {
      if (suspicion.kind === 'sound' || suspicion.kind === 'unknown') continue;
      const guilt = guiltOf(suspicion, odds);
      blamed[suspicion.kind] += guilt;
      innocent += 1 - guilt;
      flakes += (1 - guilt) * suspicion.seen;
      runs += (1 - guilt) * suspicion.seen;
    }
    odds = {
      flake: flakes / runs,
      alone: blamed.alone / (tested + weight),
      together: blamed.together / (tested + weight),
      again: cameAgain / innocent,
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

function suspicionsOf({ trips, runsOf }: Evidence): readonly Suspicion[] {
  const mergedHeads = new Set(
    trips.flatMap(({ pr, headSha, outcome }) => (outcome === 'merged' ? [`${pr} ${headSha}`] : [])),
  );
  const mayBeSound = trips.map(
    ({ pr, headSha, outcome }, place) =>
      outcome === 'merged' ||
      (headSha !== '' && mergedHeads.has(`${pr} ${headSha}`)) ||
      runsOf[place]!.some(({ passed }) => passed),
  );
  return trips.map(({ outcome, isByTests, pr, headSha }, place): Suspicion => {
    const isMerged = outcome === 'merged' || (headSha !== '' && mergedHeads.has(`${pr} ${headSha}`));
    if (isMerged) return { kind: 'sound', isAgain: outcome === 'failed' && isByTests };
    const others = runsOf[place]!.filter(({ members }) =>
      members.every((member) => member === place || mayBeSound[member]),
    );
    const failed = others.filter(({ passed }) => !passed);
    const wasEvicted = outcome === 'failed' && isByTests;
    if (!mayBeSound[place]) {
      const seen = failed.length;
      if (seen > 0) return { kind: 'alone', fails: seen, seen };
      return wasEvicted ? { kind: 'alone', fails: 1, seen } : { kind: 'unknown' };
    }
    const partner = wasEvicted ? partnerOf(trips, runsOf[place]!, place) : null;
    return partner === null
      ? { kind: 'sound', isAgain: false }
      : { kind: 'together', ...partner, seen: partner.fails };
  });
}

/**
 * Who may break together with it: the last ahead of it in its failed runs, or landed before them, that was neither in
 * its passed runs nor on the branch at the time of them.
 */
function partnerOf(
  trips: Evidence['trips'],
  runs: readonly EvidentRun[],
  place: number,
): { readonly place: number; readonly fails: number } | null {
  const isOn = (other: number, { run, members }: EvidentRun) =>
    members.slice(0, members.indexOf(place)).includes(other) ||
    (trips[other]!.outcome === 'merged' && trips[other]!.concludedAt <= run.createdAt);
  const passed = runs.filter((one) => one.passed);
  const failed = runs.filter((one) => !one.passed);
  const last = failed.at(-1);
  if (last === undefined) return null;
  // Only those that were in the queue beside it can be told apart from the branch.
  for (let other = trips.length - 1; other >= 0; other--) {
    if (other === place || trips[other]!.concludedAt < trips[place]!.queuedAt) continue;
    if (trips[other]!.outcome !== 'merged' || !isOn(other, last)) continue;
    if (passed.some((run) => isOn(other, run))) continue;
    return { place: other, fails: failed.filter((run) => isOn(other, run)).length };
  }
  return null;
}

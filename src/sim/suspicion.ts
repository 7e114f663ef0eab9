// What the runs of a history say about each submission of it, before any odds: sound for certain, under suspicion and how
// strongly, or nothing at all.

import type { Evidence, EvidentRun } from './evidence.ts';

export type Suspicion =
  /** `again`: it was evicted all the same, and then submitted again or not; null: it was not evicted. */
  | { readonly kind: 'sound'; readonly again: boolean | null }
  /** Never in a run that passed; these failed, whose others may all be sound. */
  | ({ readonly kind: 'alone' } & Charge)
  /** It was in runs that passed, and failed with that one ahead of it or on the branch. */
  | ({ readonly kind: 'together'; readonly place: number } & Charge)
  /** Nothing is known: taken out before its tests ended. */
  | { readonly kind: 'unknown' };

type Charge = { readonly fails: Fails; readonly wasEvicted: boolean };

/** Runs that failed: of which nothing more is known, and in which tests failed that are not flaky. */
type Fails = { readonly untold: number; readonly told: number };

const failsOf = (runs: readonly EvidentRun[]): Fails => {
  const told = runs.filter(({ run }) => run.byChance === false).length;
  return { told, untold: runs.length - told };
};

export function suspicionsOf(evidence: Evidence): readonly Suspicion[] {
  const { trips, runsOf } = evidence;
  const mergedHeads = new Set(
    trips.flatMap(({ pr, headSha, outcome }) => (outcome === 'merged' ? [`${pr} ${headSha}`] : [])),
  );
  const isMerged = trips.map(
    ({ pr, headSha, outcome }) =>
      outcome === 'merged' || (headSha !== '' && mergedHeads.has(`${pr} ${headSha}`)),
  );
  const mayBeSound = trips.map((_, place) => isMerged[place]! || runsOf[place]!.some(({ passed }) => passed));
  const suspicions = trips.map(({ outcome, isByTests }, place): Suspicion => {
    const wasEvicted = outcome === 'failed' && isByTests;
    if (isMerged[place]!) return { kind: 'sound', again: wasEvicted ? true : null };
    const failed = runsOf[place]!.filter(({ passed }) => !passed);
    const against = failed.filter(
      ({ run, members }) =>
        run.byChance !== true && members.every((member) => member === place || mayBeSound[member]),
    );
    if (!mayBeSound[place]) {
      if (against.length > 0) return { kind: 'alone', fails: failsOf(against), wasEvicted };
      if (!wasEvicted) return { kind: 'unknown' };
      // One that was excused and still did not come again is not above suspicion.
      const isExcused = failed.some(({ run }) => run.byChance === true);
      return { kind: 'alone', fails: { untold: isExcused ? 0 : 1, told: 0 }, wasEvicted };
    }
    const partner = wasEvicted ? partnerOf(evidence, place) : null;
    return partner === null
      ? { kind: 'sound', again: wasEvicted ? false : null }
      : { kind: 'together', ...partner, wasEvicted };
  });
  return withPairs(evidence, suspicions);
}

/** Whether a run had it in it, or on the branch below it. */
const isIn = ({ trips }: Evidence, place: number, { run, members }: EvidentRun): boolean =>
  members.includes(place) ||
  (trips[place]!.outcome === 'merged' && trips[place]!.concludedAt <= run.createdAt);

/**
 * Who may break together with one that was evicted: the last ahead of it in its failed runs, or landed before them, that
 * was neither in its passed runs nor on the branch at the time of them.
 */
function partnerOf(
  evidence: Evidence,
  place: number,
): { readonly place: number; readonly fails: Fails } | null {
  const { trips, runsOf } = evidence;
  const runs = runsOf[place]!;
  const isOn = (other: number, one: EvidentRun) =>
    one.members.indexOf(other) < one.members.indexOf(place) && isIn(evidence, other, one);
  const failed = runs.filter(({ passed, run }) => !passed && run.byChance !== true);
  const last = failed.at(-1);
  if (last === undefined) return null;
  // Only those that were in the queue beside it can be told apart from the branch.
  for (let other = trips.length - 1; other >= 0; other--) {
    if (other === place || trips[other]!.concludedAt < trips[place]!.queuedAt) continue;
    if (trips[other]!.outcome !== 'merged' || !isOn(other, last)) continue;
    if (runs.some((one) => one.passed && isOn(other, one))) continue;
    return { place: other, fails: failsOf(failed.filter((run) => isOn(other, run))) };
  }
  return null;
}

/**
 * A run of sound changes in which tests failed that are not flaky: two of it break together. Which two is told by the
 * runs that passed with both in them. One of them never merged: it was evicted for something else, or taken back.
 */
function withPairs(evidence: Evidence, suspicions: readonly Suspicion[]): readonly Suspicion[] {
  const { trips, runs, runsOf } = evidence;
  const result = [...suspicions];
  const unexplained = runs.filter(
    ({ passed, run, members }) =>
      !passed && run.byChance === false && members.every((place) => suspicions[place]!.kind === 'sound'),
  );
  const isMerged = (place: number) => trips[place]!.outcome === 'merged';
  const canBreak = (one: number, other: number) =>
    !(isMerged(one) && isMerged(other)) &&
    !runsOf[one]!.some((run) => run.passed && isIn(evidence, other, run)) &&
    !runsOf[other]!.some((run) => run.passed && isIn(evidence, one, run));
  for (const { members } of unexplained) {
    const [pair] = members
      .flatMap((later, at) => members.slice(0, at).map((earlier) => ({ earlier, later })))
      .filter(({ earlier, later }) => canBreak(earlier, later))
      // The last of a run is the likeliest: what is ahead of it mostly has a run of its own.
      .toReversed();
    if (pair === undefined || result[pair.later]!.kind !== 'sound') continue;
    const both = unexplained.filter(
      (run) => run.members.includes(pair.earlier) && run.members.includes(pair.later),
    );
    result[pair.later] = { kind: 'together', place: pair.earlier, fails: failsOf(both), wasEvicted: false };
  }
  return result;
}

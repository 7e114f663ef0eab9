// What the runs of a history show about each submission, before any odds: certainly sound, suspected and how
// strongly, or unknown.

import type { FitEvidence, EvidentRun } from './evidence.ts';

export type Suspicion =
  /** `again`: whether it was submitted again after it was removed; null: it was not removed. */
  | { readonly kind: 'sound'; readonly again: boolean | null }
  /** Never in a run that passed; `fails` counts its failed runs whose other changes may all be sound. */
  | ({ readonly kind: 'alone' } & Charge)
  /** It was in runs that passed, and failed with the change at `place` ahead of it or on the branch. */
  | ({ readonly kind: 'together'; readonly place: number } & Charge)
  /** Nothing is known: cancelled before its tests ended. */
  | { readonly kind: 'unknown' };

type Charge = { readonly fails: Fails; readonly wasRemoved: boolean };

/** Failed runs: without further evidence, and with failed tests that are not flaky. */
type Fails = { readonly unclassifiedCount: number; readonly nonFlakyCount: number };

const countFailedRuns = (runs: readonly EvidentRun[]): Fails => {
  const nonFlakyCount = runs.filter(({ run }) => run.byChance === false).length;
  return { nonFlakyCount, unclassifiedCount: runs.length - nonFlakyCount };
};

export function findSuspicions(evidence: FitEvidence): readonly Suspicion[] {
  const { attempts, runsOf } = evidence;
  const mergedHeads = new Set(
    attempts.flatMap(({ pr, headSha, outcome }) => (outcome === 'merged' ? [`${pr} ${headSha}`] : [])),
  );
  const isMerged = attempts.map(
    ({ pr, headSha, outcome }) =>
      outcome === 'merged' || (headSha !== '' && mergedHeads.has(`${pr} ${headSha}`)),
  );
  const mayBeSound = attempts.map(
    (_, place) => isMerged[place]! || runsOf[place]!.some(({ passed }) => passed),
  );
  const suspicions = attempts.map(({ outcome, isByTests }, place): Suspicion => {
    const wasRemoved = outcome === 'failed' && isByTests;
    if (isMerged[place]!) return { kind: 'sound', again: wasRemoved ? true : null };
    const failed = runsOf[place]!.filter(({ passed }) => !passed);
    const against = failed.filter(
      ({ run, members }) =>
        run.byChance !== true && members.every((member) => member === place || mayBeSound[member]),
    );
    if (!mayBeSound[place]) {
      if (against.length > 0) return { kind: 'alone', fails: countFailedRuns(against), wasRemoved };
      if (!wasRemoved) return { kind: 'unknown' };
      // A change that failed by a flaky test and still was not submitted again remains suspect.
      const isExcused = failed.some(({ run }) => run.byChance === true);
      return { kind: 'alone', fails: { unclassifiedCount: isExcused ? 0 : 1, nonFlakyCount: 0 }, wasRemoved };
    }
    const partner = wasRemoved ? findPartner(evidence, place) : null;
    return partner === null
      ? { kind: 'sound', again: wasRemoved ? false : null }
      : { kind: 'together', ...partner, wasRemoved };
  });
  return withPairs(evidence, suspicions);
}

/** Whether a run contained the change, or the branch below the run did. */
const isIn = ({ attempts }: FitEvidence, place: number, { run, members }: EvidentRun): boolean =>
  members.includes(place) ||
  (attempts[place]!.outcome === 'merged' && attempts[place]!.concludedAt <= run.createdAt);

/**
 * Finds the change that may break together with a removed one: the last ahead of it in its failed runs, or
 * landed before them, that was neither in its passed runs nor on the branch at the time of them.
 */
function findPartner(
  evidence: FitEvidence,
  place: number,
): { readonly place: number; readonly fails: Fails } | null {
  const { attempts, runsOf } = evidence;
  const runs = runsOf[place]!;
  const isOn = (other: number, one: EvidentRun) =>
    one.members.indexOf(other) < one.members.indexOf(place) && isIn(evidence, other, one);
  const failed = runs.filter(({ passed, run }) => !passed && run.byChance !== true);
  const last = failed.at(-1);
  if (last === undefined) return null;
  // Only changes that were in the queue beside it can be distinguished from the branch.
  for (let other = attempts.length - 1; other >= 0; other--) {
    if (other === place || attempts[other]!.concludedAt < attempts[place]!.queuedAt) continue;
    if (attempts[other]!.outcome !== 'merged' || !isOn(other, last)) continue;
    if (runs.some((one) => one.passed && isOn(other, one))) continue;
    return { place: other, fails: countFailedRuns(failed.filter((run) => isOn(other, run))) };
  }
  return null;
}

/**
 * If tests that are not flaky fail in a run of sound changes, two of its changes break together. A run that
 * passed with two changes in it rules that pair out. One of the pair never merged: it was removed for another
 * reason, or withdrawn.
 */
function withPairs(evidence: FitEvidence, suspicions: readonly Suspicion[]): readonly Suspicion[] {
  const { attempts, runs, runsOf } = evidence;
  const result = [...suspicions];
  const unexplained = runs.filter(
    ({ passed, run, members }) =>
      !passed && run.byChance === false && members.every((place) => suspicions[place]!.kind === 'sound'),
  );
  const isMerged = (place: number) => attempts[place]!.outcome === 'merged';
  const canBreak = (one: number, other: number) =>
    !(isMerged(one) && isMerged(other)) &&
    !runsOf[one]!.some((run) => run.passed && isIn(evidence, other, run)) &&
    !runsOf[other]!.some((run) => run.passed && isIn(evidence, one, run));
  for (const { members } of unexplained) {
    const [pair] = members
      .flatMap((later, at) => members.slice(0, at).map((earlier) => ({ earlier, later })))
      .filter(({ earlier, later }) => canBreak(earlier, later))
      // The last change of a run is the likeliest: those ahead of it mostly have a run of their own.
      .toReversed();
    if (pair === undefined || result[pair.later]!.kind !== 'sound') continue;
    const both = unexplained.filter(
      (run) => run.members.includes(pair.earlier) && run.members.includes(pair.later),
    );
    result[pair.later] = {
      kind: 'together',
      place: pair.earlier,
      fails: countFailedRuns(both),
      wasRemoved: false,
    };
  }
  return result;
}

// Which runs tested which submissions, from the times of both: a run belongs to the attempt of a pull request
// that was in progress when the run was requested.

import type { RecordedHistory, PastRun, PastAttempt } from './history.ts';

export type FitEvidence = {
  /** In order of arrival; everything else refers to attempts by their place here. */
  readonly attempts: readonly PastAttempt[];
  /** Runs that CI finished, in the order of their requests. */
  readonly runs: readonly EvidentRun[];
  /** Runs that were stopped before CI finished: they would have taken longer. */
  readonly stopped: readonly { readonly run: PastRun; readonly last: number | null }[];
  /** By attempt: the runs that contain it. */
  readonly runsOf: readonly (readonly EvidentRun[])[];
};

export type EvidentRun = {
  readonly run: PastRun;
  readonly passed: boolean;
  /** The changes ahead, then those under test, as far as they are known. */
  readonly members: readonly number[];
  /** The last of them; null: unknown. */
  readonly last: number | null;
  /** How many runs with the same last change CI had started before. */
  readonly attempt: number;
};

export function gatherEvidence({ attempts: unordered, runs: past }: RecordedHistory): FitEvidence {
  const orderedAttempts = unordered.toSorted(
    (a, b) => a.queuedAt - b.queuedAt || a.pr - b.pr || a.attempt - b.attempt,
  );
  const placesOf = new Map<number, number[]>();
  for (const [place, { pr }] of orderedAttempts.entries()) {
    const places = placesOf.get(pr);
    if (places === undefined) placesOf.set(pr, [place]);
    else places.push(place);
  }
  const placeAt = (pr: number, at: number) =>
    placesOf
      .get(pr)
      ?.find(
        (place) => orderedAttempts[place]!.submittedAt <= at && at <= orderedAttempts[place]!.concludedAt,
      );
  const runsOf: EvidentRun[][] = orderedAttempts.map(() => []);
  const runs: EvidentRun[] = [];
  const stopped: FitEvidence['stopped'][number][] = [];
  const attempts = new Map<number | null, number>();
  for (const run of past.toSorted((a, b) => a.createdAt - b.createdAt)) {
    const members = [...run.ahead, ...run.tested].map((pr) => placeAt(pr, run.createdAt));
    const last = members.at(-1) ?? null;
    const attempt = attempts.get(last) ?? 0;
    attempts.set(last, attempt + 1);
    if (run.outcome === 'cancelled') {
      stopped.push({ run, last });
      continue;
    }
    const known = members.filter((place) => place !== undefined);
    const passed = run.outcome === 'passed';
    // An unknown change (still in the queue, or from before the history that was read) may be to blame for a
    // failure; a run that passed, passed with it.
    if (known.length === 0 || (!passed && known.length < members.length)) continue;
    const evident = { run, passed, members: known, last, attempt };
    runs.push(evident);
    for (const place of evident.members) runsOf[place]!.push(evident);
  }
  return { attempts: orderedAttempts, runs, stopped, runsOf };
}

// Which runs tested which submissions, from the times of both: a run belongs to the trip of a pull request that was under
// way when it was asked for.

import type { History, PastRun, PastTrip } from './history.ts';

export type Evidence = {
  /** In order of arrival; everything else names trips by their place here. */
  readonly trips: readonly PastTrip[];
  /** Those that CI ended, in the order they were asked for. */
  readonly runs: readonly EvidentRun[];
  /** Those that were stopped before CI ended them: they took longer than that. */
  readonly stopped: readonly { readonly run: PastRun; readonly last: number | null }[];
  /** By trip: the runs that contain it. */
  readonly runsOf: readonly (readonly EvidentRun[])[];
};

export type EvidentRun = {
  readonly run: PastRun;
  readonly passed: boolean;
  /** What it was on top of, then what was under test, as far as they are known. */
  readonly members: readonly number[];
  /** The last of them; null: it is not known. */
  readonly last: number | null;
  /** How many runs with the same last one CI had begun before. */
  readonly attempt: number;
};

export function gatherEvidence({ trips: unordered, runs: past }: History): Evidence {
  const trips = unordered.toSorted((a, b) => a.queuedAt - b.queuedAt || a.pr - b.pr || a.trip - b.trip);
  const placesOf = new Map<number, number[]>();
  for (const [place, { pr }] of trips.entries()) {
    const places = placesOf.get(pr);
    if (places === undefined) placesOf.set(pr, [place]);
    else places.push(place);
  }
  const placeAt = (pr: number, at: number) =>
    placesOf.get(pr)?.find((place) => trips[place]!.submittedAt <= at && at <= trips[place]!.concludedAt);
  const runsOf: EvidentRun[][] = trips.map(() => []);
  const runs: EvidentRun[] = [];
  const stopped: Evidence['stopped'][number][] = [];
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
    // One that is not known (it is still in the queue, or came before the time that was read) may be to blame for a
    // failure; what passed passed with it.
    if (known.length === 0 || (!passed && known.length < members.length)) continue;
    const evident = { run, passed, members: known, last, attempt };
    runs.push(evident);
    for (const place of evident.members) runsOf[place]!.push(evident);
  }
  return { trips, runs, stopped, runsOf };
}

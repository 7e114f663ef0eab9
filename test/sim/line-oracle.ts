// The bound for one line: it knows all outcomes and has as many slots as it likes.
//
// A change cannot be decided before some run that contains it has ended, and such a run ends in this change or in a
// later one. So a change that will land is decided by the first of these runs to end, for the pass of a later run
// proves all before it; one that will not land is decided by its own run, and not before what it conflicts with landed.

import type { SimulatedDecision, PolicyRun } from '#tool/simulate/kernel/policy.ts';
import { sum } from '#tool/simulate/kernel/statistics.ts';
import { createTruth, type Truth } from '#tool/simulate/kernel/truth.ts';
import type { Workload } from '#tool/simulate/kernel/workload.ts';

/** What becomes of a change: it lands, or it fails for itself or for an earlier change that lands (its place). */
type Fate = 'lands' | 'bad' | { readonly conflictsWith: number };

export function simulateLineOracle(workload: Workload): PolicyRun {
  const { changes } = workload;
  const truth = createTruth(workload);
  const { startsAt, cancelledAt, runsAborted, minutesAborted } = disturbRuns(workload, truth);
  const fates = foresee(workload, truth, cancelledAt);
  const endOf = (place: number) => startsAt[place]! + changes[place]!.durationMin;
  const landsAt = new Float64Array(changes.length);
  let firstEnd = Infinity;
  for (let place = changes.length - 1; place >= 0; place--) {
    if (cancelledAt.has(place) || fates[place] !== 'lands') continue;
    firstEnd = Math.min(firstEnd, endOf(place));
    // A run that a push to this change overtook proves nothing; it is counted all the same, as a bound may be too low.
    landsAt[place] = Math.max(firstEnd, startsAt[place]!);
  }
  const decisions = changes.map(({ number }, place): SimulatedDecision => {
    const cancelAt = cancelledAt.get(place);
    if (cancelAt !== undefined) return { number, outcome: 'cancelled', atMin: cancelAt };
    const fate = fates[place]!;
    if (fate === 'lands') return { number, outcome: 'merged', atMin: landsAt[place]! };
    const provenAt = fate === 'bad' ? 0 : landsAt[fate.conflictsWith]!;
    return { number, outcome: 'failed', atMin: Math.max(endOf(place), provenAt) };
  });
  const needed = changes.filter((_, place) => !cancelledAt.has(place));
  return {
    // The sort keeps the order of the line among changes decided at once.
    decisions: decisions.toSorted((one, other) => one.atMin - other.atMin),
    runsStarted: needed.length + runsAborted,
    runsAborted,
    ciMinutes: minutesAborted + sum(needed.map(({ durationMin }) => durationMin)),
  };
}

/** When the last run of each change starts, given that a push starts it again and a cancel ends it. */
function disturbRuns({ changes, disturbances }: Workload, { placeOf }: Truth) {
  const startsAt = Float64Array.from(changes, ({ arrivesAtMin }) => arrivesAtMin);
  const cancelledAt = new Map<number, number>();
  let runsAborted = 0;
  let minutesAborted = 0;
  for (const { kind, number, atMin } of disturbances) {
    const place = placeOf.get(number)!;
    const startAt = startsAt[place]!;
    if (cancelledAt.has(place) || atMin < startAt || atMin >= startAt + changes[place]!.durationMin) continue;
    runsAborted++;
    minutesAborted += atMin - startAt;
    if (kind === 'cancel') cancelledAt.set(place, atMin);
    else startsAt[place] = atMin;
  }
  return { startsAt, cancelledAt, runsAborted, minutesAborted };
}

function foresee({ changes }: Workload, truth: Truth, cancelledAt: ReadonlyMap<number, number>): Fate[] {
  const fates: Fate[] = [];
  for (const [place, { isGood }] of changes.entries()) {
    const partner = truth.conflicts[place]!.find(
      (other) => other < place && fates[other] === 'lands' && !cancelledAt.has(other),
    );
    if (!isGood) fates.push('bad');
    else fates.push(partner === undefined ? 'lands' : { conflictsWith: partner });
  }
  return fates;
}

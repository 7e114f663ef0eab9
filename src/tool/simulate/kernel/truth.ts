// The truth about a workload, by place (the index of a change in order of arrival) instead of by number:
// places fit typed arrays, and comparing places compares arrivals.

import { assert } from '#base/assert.ts';
import { createRandom } from './random.ts';
import type { Workload } from './workload.ts';

export type Truth = {
  readonly placeOf: ReadonlyMap<number, number>;
  /** For each place, the places with which it really conflicts, earlier or later. */
  readonly conflicts: readonly (readonly number[])[];
  /**
   * The tested changes whose faults CI sees in a run of them, in this order, on top of what has landed. A change that
   * breaks the build hides the faults of all others.
   */
  readonly faultsSeen: (
    hasLanded: (place: number) => boolean,
    tested: readonly number[],
  ) => readonly number[];
  /**
   * Whether landing the tested changes, in this order, leaves the branch sound. Holds both for a run on top of what
   * has landed and for deciding whether a merge was right.
   */
  readonly isSound: (hasLanded: (place: number) => boolean, tested: readonly number[]) => boolean;
};

export function createTruth({ changes }: Workload): Truth {
  const placeOf = new Map(changes.map(({ number }, place) => [number, place]));
  const conflicts: number[][] = changes.map(() => []);
  for (const [place, { number, conflictsWith }] of changes.entries())
    for (const earlier of conflictsWith) {
      const other = placeOf.get(earlier);
      assert(
        other !== undefined && other < place,
        `change ${number} conflicts with ${earlier}, which is not earlier`,
      );
      conflicts[place]!.push(other);
      conflicts[other]!.push(place);
    }
  type Landed = (place: number) => boolean;
  const isFaulty = (hasLanded: Landed, tested: readonly number[], at: number) => {
    const place = tested[at]!;
    if (!changes[place]!.isGood) return true;
    return conflicts[place]!.some((other) => hasLanded(other) || tested.slice(0, at).includes(other));
  };
  return {
    placeOf,
    conflicts,
    faultsSeen: (hasLanded, tested) => {
      const faulty = tested.filter((_, at) => isFaulty(hasLanded, tested, at));
      const breaksBuild = faulty.find((place) => changes[place]!.breaksBuild);
      return breaksBuild === undefined ? faulty : [breaksBuild];
    },
    isSound: (hasLanded, tested) => tested.every((_, at) => !isFaulty(hasLanded, tested, at)),
  };
}

/**
 * Draws for each run whether it fails for no reason. The composition names what the run tests: one that failed by chance
 * has its own probability to do so in its next run.
 */
export function createFlakes(workload: Workload): (composition: () => string) => boolean {
  const { seed, flakeProbability, flakeRepeatProbability = flakeProbability } = workload;
  if (flakeProbability === 0) return () => false;
  const random = createRandom(seed, 'flake');
  if (flakeRepeatProbability === flakeProbability) return () => random() < flakeProbability;
  const flaked = new Set<string>();
  return (composition) => {
    const name = composition();
    const isFlake = random() < (flaked.has(name) ? flakeRepeatProbability : flakeProbability);
    if (isFlake) flaked.add(name);
    else flaked.delete(name);
    return isFlake;
  };
}

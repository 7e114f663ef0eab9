// What is really so in a workload, by place (the index of a change in order of arrival) instead of by number: places
// fit typed arrays, and comparing places compares arrivals.

import { assert } from '#base/assert.ts';
import { createRandom } from './random.ts';
import type { Workload } from './workload.ts';

export type Truth = {
  readonly placeOf: ReadonlyMap<number, number>;
  /** For each place, the places with which it really conflicts, earlier or later. */
  readonly conflicts: readonly (readonly number[])[];
  /**
   * Whether landing the tested changes, in this order, leaves the branch sound. Holds both for a run on top of what
   * has landed and for judging a merge.
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
  const isSound: Truth['isSound'] = (hasLanded, tested) =>
    tested.every((place, at) => {
      if (!changes[place]!.isGood) return false;
      return conflicts[place]!.every((other) => !hasLanded(other) && !tested.slice(0, at).includes(other));
    });
  return { placeOf, conflicts, isSound };
}

/** Draws for each run whether it fails for no reason. */
export function createFlakes({ seed, flakeProbability }: Workload): () => boolean {
  if (flakeProbability === 0) return () => false;
  const random = createRandom(seed, 'flake');
  return () => random() < flakeProbability;
}

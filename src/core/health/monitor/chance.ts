// How many tests of a suite would seem as flaky as this one if none of them was? A test that passed and
// failed on one source may be flaky, or an outage affected it. Outages affect all tests alike, so their
// effect can be computed: narrow ones are rare for any one test, and wide ones say next to nothing about it.
//
// The chance that an outage that affects up to a share q of the tests affects a given test in a run is
// assumed to be at most `outageChance` · q. Of v verdicts then v · outageChance · q are contradicted by
// chance, and m or more of them with the Poisson tail; times the tests of the suite this is the expected
// number of such tests. The contradictions are taken from the narrowest on, as many as make the strongest
// case: an outage among them does not weaken it.
//
// Example. 1,000 tests, 1,000 verdicts. Two contradictions in each of which 3 tests failed: 0.006 are expected, and 0.02
// of the tests would have two. That is a flaky test. In a suite of 20 tests the same two are expected 0.3 times, and 0.7
// of the tests would have them: it takes four. But had there been only 50 verdicts, two would be enough. Where a third of
// 1,000 tests failed each time, it takes seven.

import { poissonTail } from './statistics.ts';

/** One in 500 runs is affected by an outage of everything, and by narrower ones in proportion. */
const outageChance = 0.002;

export type Case = {
  /** For each contradiction that counts, the share of the tests that failed in its upload, above 0 to 1. */
  readonly shares: readonly number[];
  /** Sources on which the test was executed. */
  readonly verdicts: number;
  /** Tests of the suite. */
  readonly tests: number;
};

export function testsByChance({ shares, verdicts, tests }: Case): number {
  let least = tests;
  const sorted = shares.toSorted((a, b) => a - b);
  for (const [at, share] of sorted.entries()) {
    const expected = verdicts * outageChance * share;
    least = Math.min(least, tests * poissonTail(expected, at + 1));
  }
  return least;
}

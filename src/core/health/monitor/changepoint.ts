// Since when does a test fail? The runs of the default branch are in order, one place for each source. If one
// failure rate before and another after explain the results far better than one rate for all, there is a
// change (a Bayesian test of two Beta-binomial segments against one). The newest segment shows what the test
// is now.
//
// Example. A hundred passes, then failures: two of them may be a rare flake, after the third the change is
// certain, and it lies between the last pass and the first failure. For a test that fails every tenth time
// the position is less certain: its range begins some runs earlier, so that it contains the change with 99 %.

import { lnGamma } from './statistics.ts';

/** Runs of one source, or of several consecutive sources that are not distinguished. */
export type SourceCounts = { readonly passed: number; readonly failed: number };

export type Change = {
  /** The newest segment begins with this place. */
  readonly at: number;
  /** The change lies, with 99 %, after place `after` (-1: before all) and not after place `upTo`. */
  readonly after: number;
  readonly upTo: number;
};

/** The prior of a segment's failure rate, as a Beta distribution. */
type Prior = { readonly alpha: number; readonly beta: number };

/** Failures are rare or the rule: both ends are likelier than the middle. */
const anyRate: Prior = { alpha: 0.3, beta: 0.5 };
/** For a broken segment: nine of ten runs fail, or more. Only locates its beginning. */
const highRate: Prior = { alpha: 4, beta: 0.4 };
const tail = 0.005;

/** Counts are integers, so each logarithm is computed once. */
function createLnGammaTable(offset: number): (count: number) => number {
  const known: number[] = [];
  return (count) => {
    for (let next = known.length; next <= count && next < tableMax; next++)
      known.push(lnGamma(next + offset));
    return known[count] ?? lnGamma(count + offset);
  };
}

const tableMax = 4_096;
/** The logarithm of the probability of such a segment, integrated over its rate. */
function createLogEvidence({ alpha, beta }: Prior): (failed: number, passed: number) => number {
  const lnPrior = lnGamma(alpha + beta) - lnGamma(alpha) - lnGamma(beta);
  const [lnFailed, lnPassed, lnAll] = [
    createLnGammaTable(alpha),
    createLnGammaTable(beta),
    createLnGammaTable(alpha + beta),
  ];
  return (failed, passed) => lnPrior + lnFailed(failed) + lnPassed(passed) - lnAll(failed + passed);
}

const lnAny = createLogEvidence(anyRate);
const lnHigh = createLogEvidence(highRate);

/** The last certain change; null: none. `prior`: the probability of a change at any one place. */
export function lastChange(places: readonly SourceCounts[], prior: number): Change | null {
  const sums = computePrefixSums(places);
  let from = 0;
  let found: Change | null = null;
  for (;;) {
    const next = changeWithin(sums, from, prior);
    if (next === null) return found;
    found = next;
    from = next.at;
  }
}

type Sums = { readonly passed: Float64Array; readonly failed: Float64Array; readonly places: number };

function computePrefixSums(places: readonly SourceCounts[]): Sums {
  const passed = new Float64Array(places.length + 1);
  const failed = new Float64Array(places.length + 1);
  for (const [at, place] of places.entries()) {
    passed[at + 1] = passed[at]! + place.passed;
    failed[at + 1] = failed[at]! + place.failed;
  }
  return { passed, failed, places: places.length };
}

function changeWithin({ passed, failed, places }: Sums, from: number, prior: number): Change | null {
  type Evidence = typeof lnAny;
  const between = (evidence: Evidence, a: number, b: number): number =>
    evidence(failed[b]! - failed[a]!, passed[b]! - passed[a]!);
  const whole = between(lnAny, from, places);
  let best = from + 1;
  let top = -Infinity;
  for (let at = from + 1; at < places; at++) {
    const score = between(lnAny, from, at) + between(lnAny, at, places);
    if (score > top) [best, top] = [at, score];
  }
  if (top - whole + Math.log(prior) <= 0) return null;
  // A priori every place is equally likely: the scores alone weigh them.
  const isHigh = failed[places]! - failed[best]! >= passed[places]! - passed[best]!;
  const right = isHigh ? lnHigh : lnAny;
  const peak = between(lnAny, from, best) + between(right, best, places);
  const weights: number[] = [];
  for (let at = from + 1; at < places; at++)
    weights.push(Math.exp(between(lnAny, from, at) + between(right, at, places) - peak));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const firstAt = quantileAt(weights, tail * total);
  const lastAt = quantileAt(weights, (1 - tail) * total);
  return { at: best, after: from + firstAt, upTo: from + 1 + lastAt };
}

/** The first index up to which the weights sum to more than the bound. */
function quantileAt(weights: readonly number[], bound: number): number {
  let sum = 0;
  for (const [at, weight] of weights.entries()) {
    sum += weight;
    if (sum > bound) return at;
  }
  return weights.length - 1;
}

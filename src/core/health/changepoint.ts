// Since when does a test fail? The runs of the default branch lie in their order, one place for each source. Where one
// failure rate before and another after explain what is seen far better than one rate for all, there is a change (a
// Bayesian test of two Beta-binomial segments against one). The newest segment says what the test is now.
//
// Example. A hundred passes, then failures: two of them may be a rare flake, after the third the change is certain, and
// it lies between the last pass and the first failure. A test that fails every tenth time leaves doubt: its range begins
// some runs earlier, so that the change is inside with 99 %.

import { lnGamma } from './statistics.ts';

/** Runs of one source, or of several in a row that nobody tells apart. */
export type Place = { readonly passed: number; readonly failed: number };

export type Change = {
  /** The newest segment begins with this place. */
  readonly at: number;
  /** The change lies, with 99 %, after place `after` (-1: before all) and not after place `upTo`. */
  readonly after: number;
  readonly upTo: number;
};

/** What a segment's failure rate is taken to be before one looks, as a Beta distribution. */
type Prior = { readonly alpha: number; readonly beta: number };

/** Failures are rare or the rule: both ends are likelier than the middle. */
const anyRate: Prior = { alpha: 0.3, beta: 0.5 };
/** Of a segment that is broken: nine of ten runs fail, or more. Used to say where it begins, not whether there is one. */
const highRate: Prior = { alpha: 4, beta: 0.4 };
const tail = 0.005;

/** Counts are whole, so each logarithm is reckoned once. */
function tableOf(offset: number): (count: number) => number {
  const known: number[] = [];
  return (count) => {
    for (let next = known.length; next <= count && next < tableMax; next++)
      known.push(lnGamma(next + offset));
    return known[count] ?? lnGamma(count + offset);
  };
}

const tableMax = 4_096;
/** The logarithm of how probable such a segment is, whatever its rate. */
function evidenceOf({ alpha, beta }: Prior): (failed: number, passed: number) => number {
  const lnPrior = lnGamma(alpha + beta) - lnGamma(alpha) - lnGamma(beta);
  const [lnFailed, lnPassed, lnAll] = [tableOf(alpha), tableOf(beta), tableOf(alpha + beta)];
  return (failed, passed) => lnPrior + lnFailed(failed) + lnPassed(passed) - lnAll(failed + passed);
}

const lnAny = evidenceOf(anyRate);
const lnHigh = evidenceOf(highRate);

/** The last change that is certain; null: it is all one. `prior`: how probable a change is at any one place. */
export function lastChange(places: readonly Place[], prior: number): Change | null {
  const sums = sumsOf(places);
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

function sumsOf(places: readonly Place[]): Sums {
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
  // Every place is as likely as any other before one looks: the scores alone weigh them.
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

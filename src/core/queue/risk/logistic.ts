// Logistic regression that learns from one result after the other, and a recalibration of its scores. Everything is computed
// in a fixed order from the results alone: the same results give the same probabilities, bit for bit.

export const logOdds = (probability: number): number => Math.log(probability / (1 - probability));

export const toProbability = (score: number): number => 1 / (1 + Math.exp(-score));

export type Learner = {
  /** The log-odds that these features lead to a failure. */
  readonly score: (features: readonly number[]) => number;
  readonly learn: (features: readonly number[], hasFailed: boolean) => void;
};

/** How far one result moves a weight, before the results so far slow it down. */
const stepSize = 0.2;
/** Pulls weights towards 0: a feature that says nothing counts for nothing. */
const shrinkage = 1e-3;

/** A learner that expects `initialShare` failures, and learns what each of its features says. */
export function createLearner(featureCount: number, initialShare: number): Learner {
  const weights = new Float64Array(featureCount);
  let bias = logOdds(initialShare);
  // Sums of squared gradients: a weight that moved often moves less.
  const moved = new Float64Array(featureCount + 1).fill(1);
  const score = (features: readonly number[]): number => {
    let sum = bias;
    for (let at = 0; at < featureCount; at++) sum += weights[at]! * features[at]!;
    return sum;
  };
  return {
    score,
    learn: (features, hasFailed) => {
      const error = toProbability(score(features)) - (hasFailed ? 1 : 0);
      for (let at = 0; at < featureCount; at++) {
        const gradient = error * features[at]! + shrinkage * weights[at]!;
        moved[at]! += gradient * gradient;
        weights[at]! -= (stepSize * gradient) / Math.sqrt(moved[at]!);
      }
      moved[featureCount]! += error * error;
      bias -= (stepSize * error) / Math.sqrt(moved[featureCount]!);
    },
  };
}

export type Recalibration = {
  /** The probability that a score stands for. */
  readonly apply: (score: number) => number;
  readonly add: (score: number, hasFailed: boolean) => void;
};

/** Scores are compared with so many of the last results, as often as so many have come. */
const recentMax = 1_500;
const recentMin = 300;
const every = 100;
/** Newton steps, each from where the last recalibration ended. */
const steps = 3;
/** How many results hold the slope at 1. */
const slopeWeight = 10;

/**
 * Scores that were too bold or too timid of late, or whose queue fails more or less often than before, are put right by a slope
 * and an offset (Platt scaling) which fit the last results best.
 */
export function createRecalibration(): Recalibration {
  const scores = new Float64Array(recentMax);
  const failed = new Uint8Array(recentMax);
  let count = 0;
  let slope = 1;
  let offset = 0;
  const fit = () => {
    for (let step = 0; step < steps; step++) {
      let [gradientSlope, gradientOffset] = [slopeWeight * (slope - 1), 0];
      let [bySlope, byBoth, byOffset] = [slopeWeight, 0, 1e-6];
      for (let at = 0; at < Math.min(count, recentMax); at++) {
        const probability = toProbability(slope * scores[at]! + offset);
        const error = probability - failed[at]!;
        const spread = probability * (1 - probability);
        gradientSlope += error * scores[at]!;
        gradientOffset += error;
        bySlope += spread * scores[at]! ** 2;
        byBoth += spread * scores[at]!;
        byOffset += spread;
      }
      const determinant = bySlope * byOffset - byBoth ** 2;
      slope -= clamp((byOffset * gradientSlope - byBoth * gradientOffset) / determinant);
      offset -= clamp((bySlope * gradientOffset - byBoth * gradientSlope) / determinant);
    }
    // Results that contradict the scores make them worthless, never reversed.
    slope = Math.max(0, slope);
  };
  return {
    apply: (score) => toProbability(slope * score + offset),
    add: (score, hasFailed) => {
      scores[count % recentMax] = score;
      failed[count % recentMax] = hasFailed ? 1 : 0;
      count++;
      if (count >= recentMin && count % every === 0) fit();
    },
  };
}

/** A step of this size is larger than any that a recalibration needs: one result too few or too many does not break it. */
const stepMax = 1;
const clamp = (step: number): number =>
  Number.isFinite(step) ? Math.min(stepMax, Math.max(-stepMax, step)) : 0;

// How far predictions can be believed: of the attempts that were predicted to fail with 20 %, one in five should have failed.

import type { PredictedOutcome } from './risk.ts';

/** A tenth of the predictions, by their probability. */
type CalibrationPart = {
  readonly count: number;
  /** The mean of the predicted probabilities. */
  readonly predicted: number;
  /** The share that failed. */
  readonly observed: number;
};

export type Calibration = {
  readonly count: number;
  readonly failures: number;
  /** The mean distance of predicted and observed over the parts (expected calibration error). */
  readonly error: number;
  /**
   * How much better than one share for all: 0 is not at all, 1 would be certain and right. Less than 0 is worse. (Brier skill
   * score.) Null: all failed, or none.
   */
  readonly skill: number | null;
  /** From the least to the most probable failures. */
  readonly parts: readonly CalibrationPart[];
};

const partsMax = 10;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Null: nothing was predicted. */
export function computeCalibration(outcomes: readonly PredictedOutcome[]): Calibration | null {
  const count = outcomes.length;
  if (count === 0) return null;
  const sorted = outcomes.toSorted((a, b) => a.probability - b.probability);
  const partCount = Math.min(partsMax, count);
  const parts = Array.from({ length: partCount }, (_, part): CalibrationPart => {
    const own = sorted.slice(
      Math.floor((part * count) / partCount),
      Math.floor(((part + 1) * count) / partCount),
    );
    return {
      count: own.length,
      predicted: mean(own.map(({ probability }) => probability)),
      observed: mean(own.map(({ hasFailed }) => Number(hasFailed))),
    };
  });
  const share = mean(outcomes.map(({ hasFailed }) => Number(hasFailed)));
  const brier = mean(outcomes.map(({ probability, hasFailed }) => (probability - Number(hasFailed)) ** 2));
  return {
    count,
    failures: outcomes.filter(({ hasFailed }) => hasFailed).length,
    error: parts.reduce(
      (sum, part) => sum + (part.count * Math.abs(part.predicted - part.observed)) / count,
      0,
    ),
    skill: share === 0 || share === 1 ? null : 1 - brier / (share * (1 - share)),
    parts,
  };
}

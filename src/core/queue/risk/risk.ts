// How probably a pull request fails in the queue, from what is stored when it is submitted.
//
// Definitions. A subject is an attempt as it was known when it was submitted. Its features are: how often pull requests of its
// author failed here, and how often of late; how often it was submitted before; how long its head was there; how many targets it
// impacts. Nothing of its texts and contents is used. The base rate is the share of attempts that fail in this queue.
//
// Rules.
// 1. A prediction uses only results that were known when the attempt was submitted.
// 2. Before 100 failures were seen there is no prediction: the base rate holds for all.
// 3. A prediction is between 0.2 % and 98 %: nothing is certain. It decides which pull requests are tested together and which runs are
//    worth starting, and never which pull request lands or is removed.
//
// Example. 5 % of the attempts fail here. Of the last 20 pull requests of ada none failed, of the last 20 of ben four. Once 100 have
// failed, ada's next one may count with 2 %, and ben's with 15 %.

import { hourMs } from '#base/duration.ts';
import { usualFailureShare } from '../planner/history.ts';
import { createLearner, createRecalibration, logOdds } from './logistic.ts';

/** An attempt as it was known when it was submitted. */
export type RiskSubject = {
  readonly author: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** How long its head had been the head of the pull request; null: not known. */
  readonly headAgeMs: number | null;
  /** Its impacted targets; null: not known. */
  readonly targetCount: number | 'ALL' | null;
};

export type EndedAttempt = RiskSubject & {
  readonly submittedAt: number;
  readonly concludedAt: number;
  /** It failed; otherwise it merged. */
  readonly hasFailed: boolean;
};

type RiskPrediction = {
  readonly features: readonly number[];
  readonly score: number;
  /** How probably it fails; null: too few failures were seen, and the base rate holds. */
  readonly probability: number | null;
};

export type RiskModel = {
  readonly predict: (subject: RiskSubject) => RiskPrediction;
  /** The attempt of an earlier prediction has ended. */
  readonly learn: (subject: RiskSubject, prediction: RiskPrediction, hasFailed: boolean) => void;
  /** Whether it has seen enough failures to predict anything. */
  readonly isReady: () => boolean;
};

/** So many failures must have been seen before anything is predicted. */
export const failuresMin = 100;

const probabilityMin = 0.002;
const probabilityMax = 0.98;

/** How many attempts of an author the base rate outweighs. */
const authorWeight = 10;
/** How much of an author's recent failures is left after one more attempt. */
const recentDecay = 0.7;

/** As many targets as `ALL` counts for. */
const allTargets = 1_000;
const featureCount = 5;
const featureMax = 4;
const bounded = (feature: number): number => Math.min(featureMax, Math.max(-featureMax, feature));

type AuthorRecord = { attempts: number; failures: number; recent: number };

export function createRiskModel(): RiskModel {
  const learner = createLearner(featureCount, usualFailureShare);
  const recalibration = createRecalibration();
  const authors = new Map<string, AuthorRecord>();
  let attempts = 0;
  let failures = 0;

  const isReady = () => failures >= failuresMin;

  const describe = ({ author, attempt, headAgeMs, targetCount }: RiskSubject): number[] => {
    const baseRate = (failures + 1) / (attempts + 1 / usualFailureShare);
    const known = authors.get(author) ?? { attempts: 0, failures: 0, recent: 0 };
    const share = (known.failures + authorWeight * baseRate) / (known.attempts + authorWeight);
    const targets = targetCount === 'ALL' ? allTargets : targetCount;
    return [
      bounded(logOdds(share) - logOdds(baseRate)),
      known.recent,
      bounded(Math.log(Math.max(1, attempt))),
      // Features that are not known count as usual ones: a head of some hours, and a few targets.
      headAgeMs === null ? 0 : bounded(Math.log1p(Math.max(0, headAgeMs) / hourMs) - 1.5),
      targets === null ? 0 : bounded(Math.log(Math.max(1, targets)) - 1),
    ];
  };

  return {
    predict: (subject) => {
      const features = describe(subject);
      const score = learner.score(features);
      const probability = isReady()
        ? Math.min(probabilityMax, Math.max(probabilityMin, recalibration.apply(score)))
        : null;
      return { features, score, probability };
    },
    learn: ({ author }, { features, score }, hasFailed) => {
      learner.learn(features, hasFailed);
      recalibration.add(score, hasFailed);
      const known = authors.get(author) ?? { attempts: 0, failures: 0, recent: 0 };
      known.attempts++;
      known.failures += Number(hasFailed);
      known.recent = recentDecay * known.recent + (1 - recentDecay) * Number(hasFailed);
      authors.set(author, known);
      attempts++;
      failures += Number(hasFailed);
    },
    isReady,
  };
}

/** A prediction that was made, and what came of it. */
export type PredictedOutcome = { readonly probability: number; readonly hasFailed: boolean };

/**
 * Goes through the past as it happened: each attempt is predicted with what was known when it was submitted, and learned from when
 * it ended. `outcomes` has the attempts that were predicted, in the order of their submissions.
 */
export function replayAttempts(past: readonly EndedAttempt[]): {
  readonly model: RiskModel;
  readonly outcomes: readonly PredictedOutcome[];
} {
  const model = createRiskModel();
  const ends = past.toSorted((a, b) => a.concludedAt - b.concludedAt);
  const predictions = new Map<EndedAttempt, RiskPrediction>();
  const outcomes: PredictedOutcome[] = [];
  let next = 0;
  const learnUntil = (at: number) => {
    for (; next < ends.length && ends[next]!.concludedAt <= at; next++) {
      const ended = ends[next]!;
      const prediction = predictions.get(ended);
      // By its clock it ended before it was submitted: it counts after that.
      if (prediction === undefined) return;
      model.learn(ended, prediction, ended.hasFailed);
      predictions.delete(ended);
    }
  };
  for (const attempt of past.toSorted((a, b) => a.submittedAt - b.submittedAt)) {
    learnUntil(attempt.submittedAt);
    const prediction = model.predict(attempt);
    predictions.set(attempt, prediction);
    const { probability } = prediction;
    if (probability !== null) outcomes.push({ probability, hasFailed: attempt.hasFailed });
  }
  learnUntil(Infinity);
  return { model, outcomes };
}

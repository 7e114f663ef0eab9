// A world in which it is known how much of a failure can be foreseen. Whether a change fails depends on its author, the age of its
// head, how often it was submitted before and how many targets it impacts, which a queue can see, and on something that it cannot. The
// visible share is the part of the variance of the log-odds that comes from what can be seen; an author has to be known first.

import { hourMs, minuteMs } from '#base/duration.ts';
import { toProbability } from '#core/queue/risk/logistic.ts';
import type { EndedAttempt } from '#core/queue/risk/risk.ts';
import { createRandom, drawExponential, drawNormal } from '#tool/simulate/kernel/random.ts';

export type RiskWorldOptions = {
  readonly seed: number;
  /** When each attempt is submitted, in order. */
  readonly submittedAtMin: readonly number[];
  readonly failureShare: number;
  /** 0: nothing that can be seen says anything; 1: what can be seen decides, up to chance. */
  readonly visibleShare: number;
};

export type RiskyAttempt = EndedAttempt & {
  /** How probably it fails, by everything that can be seen. Better odds there are not. */
  readonly foreseeable: number;
};

/** The standard deviation of the log-odds: one change in twenty is far more likely to fail than the rest. */
const spread = 1.7;
const authors = 60;
const verdictMin = 90;
/** Weights of causes with a mean of about 0 and a variance of about 1; the sum of their squares is 1. */
const causeWeights = { author: 0.8, headAge: 0.4, attempt: 0.35, targets: 0.28 };

export function createRiskWorld(options: RiskWorldOptions): readonly RiskyAttempt[] {
  const { seed, failureShare, visibleShare, submittedAtMin } = options;
  const random = createRandom(seed, 'risk');
  const skills = Array.from({ length: authors }, () => drawNormal(random));
  const drawn = submittedAtMin.map((atMin) => {
    // Some authors have many pull requests, and most have a few.
    const author = Math.floor(authors * random() ** 2);
    const headAge = drawNormal(random);
    const luck = random();
    const attempt = luck < 0.8 ? 1 : luck < 0.95 ? 2 : 3;
    const targetCount = 1 + Math.floor(drawExponential(random, 4));
    const causes =
      causeWeights.author * skills[author]! +
      causeWeights.headAge * headAge +
      causeWeights.attempt * ((Math.log(attempt) - 0.16) / 0.33) +
      causeWeights.targets * ((Math.log(targetCount) - 1.2) / 0.85);
    const subject = {
      author: `author ${author}`,
      attempt,
      headAgeMs: 4 * hourMs * Math.exp(1.2 * headAge),
      targetCount,
      submittedAt: atMin * minuteMs,
      concludedAt: (atMin + verdictMin) * minuteMs,
    };
    const visible = spread * Math.sqrt(visibleShare) * causes;
    const hidden = spread * Math.sqrt(1 - visibleShare) * drawNormal(random);
    return { subject, visible, hidden, chance: random() };
  });
  const offset = findOffset(
    drawn.map(({ visible, hidden }) => visible + hidden),
    failureShare,
  );
  return drawn.map(({ subject, visible, hidden, chance }) => ({
    ...subject,
    hasFailed: chance < toProbability(offset + visible + hidden),
    foreseeable: meanOverHidden(offset + visible, spread * Math.sqrt(1 - visibleShare)),
  }));
}

/** So that this share fails. */
function findOffset(scores: readonly number[], share: number): number {
  let [low, high] = [-20, 20];
  for (let turn = 0; turn < 60; turn++) {
    const middle = (low + high) / 2;
    const mean = scores.reduce((sum, score) => sum + toProbability(middle + score), 0) / scores.length;
    if (mean > share) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

/** The mean probability if the hidden part is normal with this deviation. */
function meanOverHidden(score: number, deviation: number): number {
  let [sum, weights] = [0, 0];
  for (let at = -4; at <= 4; at += 0.2) {
    const weight = Math.exp(-(at ** 2) / 2);
    sum += weight * toProbability(score + deviation * at);
    weights += weight;
  }
  return sum / weights;
}

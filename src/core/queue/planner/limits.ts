// How long CI may take, from the queue's own history of runs. The settings bound both from above (clock.ts).

import { minuteMs } from '#base/duration.ts';
import { limitsWithoutHistory } from './clock.ts';
import type { Limits } from './model.ts';

/** Percentiles over the last runs of a queue, in milliseconds; null where there are too few. */
export type RunHistory = {
  /** From the push of a test branch to the first check result. */
  readonly startP99Ms: number | null;
  /** From the first check result to the verdict. */
  readonly testP99Ms: number | null;
  readonly testP50Ms: number | null;
};

/** Runs that have ended with a verdict before their durations say anything about the next one. */
export const durationsMin = 10;

/** How many of the last runs count. */
export const historyMax = 200;

/** Twice the 99th percentile: a run that takes longer is one in many hundreds, and its repeat is given more time. */
const margin = 2;

/** Shorter limits would give up runs because of a slow webhook. */
const startByMinMs = limitsWithoutHistory.startByMs;
const finishByMinMs = 10 * minuteMs;

export const limitsFrom = ({ startP99Ms, testP99Ms, testP50Ms }: RunHistory): Limits => ({
  startByMs: Math.max(startByMinMs, margin * (startP99Ms ?? 0)),
  finishByMs: testP99Ms === null ? null : Math.max(finishByMinMs, margin * testP99Ms),
  usualMs: testP50Ms,
});

// What the queue's own history says: how long CI may take, how often attempts fail, and how often runs fail by chance.

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

/** How many of the last runs count for the durations. */
export const historyMax = 200;

/** Twice the 99th percentile: a run that takes longer is one in many hundreds, and its repeat is given more time. */
const margin = 2;

/** Shorter limits would give up runs because of a slow webhook. */
const startByMinMs = limitsWithoutHistory.startByMs;
const finishByMinMs = 10 * minuteMs;

/** How long CI may take. The settings bound it from above (clock.ts). */
export const limitsFrom = ({ startP99Ms, testP99Ms, testP50Ms }: RunHistory): Limits => ({
  startByMs: Math.max(startByMinMs, margin * (startP99Ms ?? 0)),
  finishByMs: testP99Ms === null ? null : Math.max(finishByMinMs, margin * testP99Ms),
  usualMs: testP50Ms,
});

/** How many of the last attempts count. */
export const attemptsMax = 400;

/** What is assumed without history, and how many attempts it outweighs. */
export const usualFailureShare = 0.05;
const usualWeight = 20;

/** The share of attempts that fail, 0..1. Of the last attempts, those count that merged or failed. */
export const estimateFailureShare = ({ failed, ended }: { failed: number; ended: number }): number =>
  (failed + usualFailureShare * usualWeight) / (ended + usualWeight);

/** How many of the last runs count. */
export const flakeRunsMax = 1_000;

/** What is assumed without history. */
export const usualFlakeShare = 0.01;

/** After so many failed attempts, the history says enough. */
const failuresEnough = 25;

/** What the counts begin with: one run in 200 failed by chance. */
const flakyPrior = 0.25;
const runsPrior = 50;

/**
 * The share of runs of sound changes that fail, 0..1. Of the last runs that CI ran to their end those count that passed,
 * and those that failed by chance (`flaky`): the queue merged every entry of the run later, its only entry passed a later run alone
 * on the branch, or it passed when its failed jobs ran again (such a run counts as passed too).
 *
 * Chance shows only if an entry that failed is tested again, and it is tested again only where chance is probable. A queue that
 * concluded from its passed runs alone that hardly any run fails by chance would never find out otherwise. So until enough
 * attempts have failed (`failed`), a part of what is usual is assumed at least.
 */
export const estimateFlakeShare = ({ flaky, passed, failed }: FlakeCounts): number =>
  Math.max(
    (flaky + flakyPrior) / (flaky + passed + runsPrior),
    usualFlakeShare * (1 - failed / failuresEnough),
  );

type FlakeCounts = { readonly flaky: number; readonly passed: number; readonly failed: number };

// How often attempts fail, and how often runs fail by chance, from the queue's own history.

/** How many of the last attempts count. */
export const attemptsMax = 400;

/** What is assumed without history, and how many attempts it outweighs. */
export const usualFailureShare = 0.05;
const usualWeight = 20;

/** The share of attempts that fail, 0..1. Of the last attempts, those count that merged or failed. */
export const estimateFailureShare = ({ failed, ended }: { failed: number; ended: number }): number =>
  (failed + usualFailureShare * usualWeight) / (ended + usualWeight);

/** How many of the last runs count. */
export const flakeRunsMax = 400;

export const usualFlakeShare = 0.005;
const usualFlakeWeight = 50;

/**
 * The share of runs of sound changes that fail, 0..1. Of the runs of one entry alone on the branch those count that
 * passed, and those that failed before the same head passed such a run, or merged (`flaky`).
 */
export const estimateFlakeShare = ({ flaky, passed }: { flaky: number; passed: number }): number =>
  (flaky + usualFlakeShare * usualFlakeWeight) / (flaky + passed + usualFlakeWeight);

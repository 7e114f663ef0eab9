// How often attempts fail, from the queue's own history: strategies size their batches by it.

/** How many of the last attempts count. */
export const attemptsMax = 400;

/** What is assumed without history, and how many attempts it outweighs. */
export const usualFailureShare = 0.05;
const usualWeight = 20;

/** The share of attempts that fail, 0..1. Of the last attempts, those count that merged or failed. */
export const estimateFailureShare = ({ failed, ended }: { failed: number; ended: number }): number =>
  (failed + usualFailureShare * usualWeight) / (ended + usualWeight);

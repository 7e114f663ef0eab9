/** How far back settings are tried: the longest window of a monitor. */
export const trialDays = 14;

/** What a test can have been at some time of a trial. `quarantined`: automatically. */
export const trialKinds = ['flaky', 'broken', 'quarantined'] as const;
export type TrialKind = (typeof trialKinds)[number];

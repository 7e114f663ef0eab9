import type { BranchClass } from './branch.ts';

/** One run of one test: all its attempts in one job of one upload. Skipped runs are no facts. */
export type RunFact = {
  /** Milliseconds: when the upload arrived. */
  readonly at: number;
  /** The commit; for a run of a queue the composition. */
  readonly source: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  readonly outcome: 'passed' | 'failed' | 'flaky';
  /** The upload is a mass failure: guard.ts. */
  readonly isSuspect: boolean;
  /** Of the last failed attempt: fingerprint.ts. Null: it passed, or the failure says nothing. */
  readonly fingerprint: string | null;
  /** Tests of the same upload that failed or were flaky, this one included, and all that it executed. */
  readonly failing: number;
  readonly tests: number;
};

/** Runs of one day and branch class. */
export type DayCount = {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly branchClass: BranchClass;
  /** Runs, and of these those in which every attempt failed. */
  readonly runs: number;
  readonly failed: number;
  /** Sources that were first seen on that day. */
  readonly sources: number;
};

/** A source on which the test passed and failed. */
export type Contradiction = {
  readonly at: number;
  readonly source: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  readonly isSuspect: boolean;
  readonly fingerprint: string | null;
  readonly failing: number;
  readonly tests: number;
};

export type RecentRun = {
  readonly at: number;
  readonly sourceHash: number;
  /** Kept for failures and for the pass before one; empty: not kept. */
  readonly source: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  readonly outcome: 'passed' | 'failed' | 'flaky';
  readonly isSuspect: boolean;
  readonly fingerprint: string | null;
  readonly failing: number;
  readonly tests: number;
};

/** What the monitors read of one test. Everything in it is bounded. */
export type History = {
  /** Ascending by day. */
  readonly days: readonly DayCount[];
  /** Ascending by instant. */
  readonly contradictions: readonly Contradiction[];
  /** Ascending by instant; the default branch has a ring of its own. */
  readonly onDefault: readonly RecentRun[];
  readonly elsewhere: readonly RecentRun[];
  /** Runs that passed since the last contradiction. */
  readonly cleanPasses: number;
};

export const emptyHistory: History = {
  days: [],
  contradictions: [],
  onDefault: [],
  elsewhere: [],
  cleanPasses: 0,
};

/** What a test did before it was first watched: it passed. */
export type EarlierPasses = {
  /** Milliseconds, any instant of the day that is meant. */
  readonly at: number;
  readonly branchClass: BranchClass;
  readonly runs: number;
  readonly sources: number;
};

export function record(history: History, fact: RunFact): History {
  return fact.at < 0 ? emptyHistory : history;
}

export function addPasses(history: History, passes: EarlierPasses): History {
  return passes.runs < 0 ? emptyHistory : history;
}

export function encodeHistory(history: History): Uint8Array {
  return new Uint8Array(history.cleanPasses);
}

export function decodeHistory(bytes: Uint8Array): History {
  return { ...emptyHistory, cleanPasses: bytes.length };
}

/** The fingerprints of failures that were contradicted; a failure that says nothing is ''. */
export function flakeFingerprints(history: History): readonly string[] {
  return [...new Set(history.contradictions.map(({ fingerprint }) => fingerprint ?? ''))];
}

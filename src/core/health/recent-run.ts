// A run as the rings of a history store it. Most runs are passes, and little is kept of them.

import type { BranchClass } from './branch.ts';

/** One run of one test: all its attempts in one job of one upload. Skipped runs are not recorded. */
export type RunFact = {
  /** Milliseconds: when the upload arrived. */
  readonly at: number;
  /** The commit; for a run of a queue the test commit's composition. */
  readonly source: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  readonly outcome: 'passed' | 'failed' | 'flaky';
  /** The upload is a mass failure: guard.ts. */
  readonly isSuspect: boolean;
  /** The last failed attempt's (fingerprint.ts). Null: the run passed, or the failure gives no reason. */
  readonly fingerprint: string | null;
  /** Tests of the same upload that failed or were flaky, this one included, and all that it executed. */
  readonly failing: number;
  readonly tests: number;
  /** The job without its shard. Undefined or empty: unknown. */
  readonly job?: string;
  /** Tests of the same upload that failed with this fingerprint, this one included. Undefined: unknown. */
  readonly alike?: number;
  /** More tests of the upload failed than is usual for its job: guard.ts. Undefined: unknown. */
  readonly isUnusual?: boolean;
  /** Tests of the repository: an upload may contain only a shard of them. Undefined: those of the upload. */
  readonly suite?: number;
};

/** For a run that passed only the first five fields and the job are kept. */
export type RecentRun = {
  readonly at: number;
  readonly sourceHash: number;
  /** Kept on the default branch, for failures and the last passes before one; empty: not kept. */
  readonly source: string;
  readonly branchClass: BranchClass;
  readonly outcome: 'passed' | 'failed' | 'flaky';
  readonly prNumber: number | null;
  readonly isSuspect: boolean;
  readonly fingerprint: string | null;
  readonly failing: number;
  readonly tests: number;
  /** A hash of the job's name; 0: unknown. */
  readonly job: number;
  /** Other tests of the same upload failed with the same fingerprint, or unusually many failed. */
  readonly isShared: boolean;
  /** It failed after many passes in a row: what made it fail is not what made it fail before. */
  readonly isSeparate: boolean;
};

/** Longer names are cut: a source is a commit. */
export const sourceLengthMax = 64;

/**
 * FNV-1a. Among a hundred recent sources two share a hash once in millions of tests: a false contradiction.
 */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

export function recentRun(fact: RunFact): RecentRun {
  const { at, branchClass, outcome } = fact;
  const name = fact.source.slice(0, sourceLengthMax);
  const sourceHash = hashText(name);
  const job = fact.job === undefined || fact.job === '' ? 0 : hashText(fact.job);
  const source = branchClass === 'default' && outcome !== 'flaky' ? name : '';
  if (outcome === 'passed') return passedRun(at, sourceHash, source, branchClass, job);
  const { prNumber, isSuspect, fingerprint, failing, tests } = fact;
  return {
    at,
    sourceHash,
    source,
    branchClass,
    outcome,
    prNumber,
    isSuspect,
    fingerprint,
    failing,
    tests,
    job,
    isShared: (fact.alike ?? 1) > 1 || fact.isUnusual === true,
    isSeparate: false,
  };
}

export function passedRun(
  at: number,
  sourceHash: number,
  source: string,
  branchClass: BranchClass,
  job = 0,
): RecentRun {
  return {
    at,
    sourceHash,
    source,
    branchClass,
    outcome: 'passed',
    prNumber: null,
    isSuspect: false,
    fingerprint: null,
    failing: 0,
    tests: 0,
    job,
    isShared: false,
    isSeparate: false,
  };
}

/** Runs at the same instant are ordered by content, so that the order of arrival does not matter. */
export function isLater(a: RecentRun, b: RecentRun): boolean {
  if (a.at !== b.at) return a.at > b.at;
  if (a.sourceHash !== b.sourceHash) return a.sourceHash > b.sourceHash;
  return a.outcome > b.outcome;
}

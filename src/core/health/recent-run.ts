// A run as it lies in the rings of a history. Most are passes, and of those little is kept.

import type { BranchClass } from './branch.ts';
import type { RunFact } from './history.ts';

/** Of a run that passed only the first five fields are kept. */
export type RecentRun = {
  readonly at: number;
  readonly sourceHash: number;
  /** On the default branch, of failures and of the last passes before one; empty: not kept. */
  readonly source: string;
  readonly branchClass: BranchClass;
  readonly outcome: 'passed' | 'failed' | 'flaky';
  readonly prNumber: number | null;
  readonly isSuspect: boolean;
  readonly fingerprint: string | null;
  readonly failing: number;
  readonly tests: number;
};

/** Longer names are cut: a source is a commit, not a story. */
export const sourceLengthMax = 64;

/** FNV-1a. Two of a hundred recent sources share a hash once in millions of tests: then one pass answers a failure. */
function hashOfSource(source: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < source.length; at++) hash = Math.imul(hash ^ source.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

export function recentRun(fact: RunFact): RecentRun {
  const { at, branchClass, outcome } = fact;
  const name = fact.source.slice(0, sourceLengthMax);
  const sourceHash = hashOfSource(name);
  const source = branchClass === 'default' && outcome !== 'flaky' ? name : '';
  if (outcome === 'passed') return passedRun(at, sourceHash, source, branchClass);
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
  };
}

export function passedRun(
  at: number,
  sourceHash: number,
  source: string,
  branchClass: BranchClass,
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
  };
}

/** Of runs at one instant the order is by what they are, so that it does not depend on which was told first. */
export function isLater(a: RecentRun, b: RecentRun): boolean {
  if (a.at !== b.at) return a.at > b.at;
  if (a.sourceHash !== b.sourceHash) return a.sourceHash > b.sourceHash;
  return a.outcome > b.outcome;
}

// One immutable state of a queue as its tables hold it: everything a reconcile may take into account.

import type { Check, RequiredCheck } from '../check.ts';
import { isEnded, type PlannedEntry, type Queue } from '../model.ts';
import type { Targets } from '../planner/lane.ts';
import type { Limits, Tip } from '../planner/model.ts';
import type { FailedReason } from '../reason.ts';
import type { BranchRuleChange } from '../rule.ts';
import type { RunId } from '#base/id.ts';
import type { StoredItem, StoredPlan } from './stored.ts';

export type InputEntry = {
  readonly entry: PlannedEntry;
  readonly stored: StoredItem | null;
  /** Null if none were uploaded for its head. */
  readonly targets: { readonly at: number; readonly set: Targets } | null;
  /**
   * For direct merge: the tip that its head was compared with, and the same tip if the head is tested on it.
   */
  readonly probedTip: Tip | null;
  readonly testedOnTip: Tip | null;
  /** Of an attempt that was submitted since the last reconcile: how probably it passes, if that is predicted. */
  readonly odds?: number;
};

/** What is known about a run so far. */
export type RunReport = {
  readonly id: RunId;
  readonly number: number;
  readonly outcome:
    | null
    | { readonly kind: 'not_started'; readonly why: FailedReason | null }
    | { readonly kind: 'failed'; readonly why: FailedReason }
    | { readonly kind: 'conflict'; readonly pr: number; readonly with: 'tip' | number };
  /** When its test branch was pushed; null until it is. */
  readonly pushedAt: number | null;
  readonly required: readonly RequiredCheck[];
  readonly checks: readonly Check[];
  /** When CI first reported on it. */
  readonly startedAt: number | null;
  /** It runs only some tests. */
  readonly isTargeted?: boolean;
  /** The Git host does not run its failed jobs again. */
  readonly isRerunRefused?: boolean;
  /** What its test reports say; absent: it has not failed, and it does not run only some tests. */
  readonly failedTests?: FailedTestsReport;
};

export type FailedTestsReport = {
  /** A report has arrived that Signalbox has not read yet: the failure is decided once it is read. */
  readonly isReading: boolean;
  /** Its jobs with failed tests that are not quarantined. */
  readonly failedJobs: number;
  /** Every test that failed is known to be flaky, and no report is incomplete or suspect. */
  readonly areAllFlaky: boolean;
  /** Of a run of some tests: the reports have fewer results than it has tests. */
  readonly lacksResults: boolean;
  /**
   * Every test that failed, by id, if every job with failed tests can run named tests and no report
   * is incomplete or suspect. Tests that were quarantined are left out: they fail no job. Absent: not known.
   */
  readonly tests?: readonly string[];
};

/** Whether the queue runs the failed tests alone to find a culprit (planner/targeted.ts). */
export const usesFailedTests = ({ settings }: Pick<Queue, 'settings'>): boolean =>
  settings.strategy === 'adaptive';

/** Whether entries count with their own probability to fail (risk/risk.ts). */
export const usesPredictions = ({ settings }: Pick<Queue, 'settings'>): boolean =>
  settings.strategy === 'adaptive' && settings.predictFailures;

/** Whether the attempt was submitted since the last reconcile: only then it is predicted. */
export const isNewAttempt = ({ entry, stored }: InputEntry): boolean =>
  stored?.attempt !== entry.attempt && !isEnded(entry.stage);

/** How a landing ended. */
export type LandingReport = { readonly number: number } & (
  | {
      readonly kind: 'landed';
      readonly tip: Tip;
      /** Only these first members landed: the next was refused, or (null) may not land now. */
      readonly inPart?: {
        readonly members: readonly number[];
        readonly pr: number | null;
        readonly reason: 'MERGE_REFUSED_BY_HOST' | 'PR_UPDATED_AT_MERGE_TIME' | null;
        /** The message of the host, if it refused. */
        readonly message?: string;
      };
    }
  | {
      readonly kind: 'lost';
      readonly tip: Tip;
      /** These are tested again. */
      readonly restart: readonly number[];
      /** The reason, if their timeline shows one. */
      readonly why?: 'REQUIRED_STATUSES_CHANGED' | 'REQUIRED_STATUS_NOT_CONFIRMED' | undefined;
      readonly ruleChange?: BranchRuleChange | undefined;
    }
  | {
      readonly kind: 'refused';
      readonly pr: number;
      readonly reason: 'MERGE_REFUSED_BY_HOST' | 'PR_UPDATED_AT_MERGE_TIME';
      /** The message of the host, if it gave one. */
      readonly message?: string;
    }
);

export type ReconcileInput = {
  readonly queue: Queue;
  /** The head of the branch as last seen; null until it was read. */
  readonly branchSha: Tip | null;
  /** From the queue's own history of runs. */
  readonly limits: Limits;
  /** The share of attempts that fail, 0..1, from the queue's own history. */
  readonly failureShare: number;
  /** The share of runs of sound changes that fail, 0..1, from the queue's own history. */
  readonly flakeShare: number;
  readonly hostAwayAt: Date | null;
  readonly stored: StoredPlan | null;
  /** Live entries, and entries that ended since the last reconcile. */
  readonly entries: readonly InputEntry[];
  readonly runs: readonly RunReport[];
  readonly landing: LandingReport | null;
};

// One immutable picture of a queue as its tables hold it: everything a look may take into account.

import type { Check, RequiredCheck } from '../check.ts';
import type { PlannedEntry, Queue } from '../model.ts';
import type { Targets } from '../planner/lane.ts';
import type { Limits, Tip } from '../planner/model.ts';
import type { FailedReason } from '../reason.ts';
import type { BranchRuleChange } from '../rule.ts';
import type { RunId } from '#base/id.ts';
import type { StoredItem, StoredPlan } from './stored.ts';

export type PictureEntry = {
  readonly entry: PlannedEntry;
  readonly stored: StoredItem | null;
  /** Null where none were uploaded for its head. */
  readonly targets: { readonly at: number; readonly set: Targets } | null;
  /** For direct merge: the tip that its head was held against, and the same tip if it is tested on top of it. */
  readonly probedTip: Tip | null;
  readonly testedOnTip: Tip | null;
};

/** How the world answered to a run, as far as it has. */
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
  /** When CI first spoke of it. */
  readonly startedAt: number | null;
};

/** How a landing ended. */
export type LandingReport = { readonly number: number } & (
  | {
      readonly kind: 'landed';
      readonly tip: Tip;
      /** Only these, which it begins with: the next was refused, or (null) may not land now. */
      readonly inPart?: {
        readonly members: readonly number[];
        readonly pr: number | null;
        readonly reason: 'MERGE_REFUSED_BY_HOST' | 'PR_UPDATED_AT_MERGE_TIME' | null;
        /** The host's own words, where it refused. */
        readonly message?: string;
      };
    }
  | {
      readonly kind: 'lost';
      readonly tip: Tip;
      /** These are tested again. */
      readonly restart: readonly number[];
      /** Why, where their timeline says it. */
      readonly why?: 'REQUIRED_STATUSES_CHANGED' | undefined;
      readonly ruleChange?: BranchRuleChange | undefined;
    }
  | {
      readonly kind: 'refused';
      readonly pr: number;
      readonly reason: 'MERGE_REFUSED_BY_HOST' | 'PR_UPDATED_AT_MERGE_TIME';
      /** The host's own words, where it said any. */
      readonly message?: string;
    }
);

export type Picture = {
  readonly queue: Queue;
  /** The head of the branch as last seen; null until it was looked at. */
  readonly branchSha: Tip | null;
  /** From the queue's own history of runs. */
  readonly limits: Limits;
  readonly hostAwayAt: Date | null;
  readonly stored: StoredPlan | null;
  /** Live entries, and those that ended since the last look. */
  readonly entries: readonly PictureEntry[];
  readonly runs: readonly RunReport[];
  readonly landing: LandingReport | null;
};

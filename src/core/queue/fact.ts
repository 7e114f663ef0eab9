// What happened to an entry: append-only, and the only thing that changes it (evolve.ts).

import type { HeadReview, PullRequest, Stage } from './model.ts';
import type { CancelledReason, Reason } from './reason.ts';
import type { BranchRuleChange } from './rule.ts';

export type FactBody =
  /** A trip begins. */
  | {
      readonly kind: 'submitted';
      readonly pullRequest: PullRequest;
      readonly priority: number;
      readonly usedDefaultPriority: boolean;
      readonly noBatch: boolean;
      readonly forced: boolean;
      readonly seniority: number;
    }
  /** Submitted again while in the queue: priority and batching are rewritten, the place among equals is kept. */
  | {
      readonly kind: 'rewritten';
      readonly priority: number;
      readonly usedDefaultPriority: boolean;
      readonly noBatch: boolean;
      readonly forced: boolean;
    }
  /** The host reports the pull request otherwise than before, and it stays where it is. */
  | { readonly kind: 'observed'; readonly pullRequest: PullRequest }
  /** Its head was compared with the protected paths, or its approvals were read. */
  | { readonly kind: 'examined'; readonly review: HeadReview }
  /** Its test run is asked for anew, in place. */
  | {
      readonly kind: 'restart_requested';
      readonly reason: Reason;
      /** How the rules of the branch changed, where that is the reason. */
      readonly ruleChange?: BranchRuleChange | undefined;
    }
  /** The plan has begun the tests anew. */
  | { readonly kind: 'restarted' }
  /** It is being put on the branch from now on; or not any more, because that did not happen. */
  | { readonly kind: 'landing_begun' }
  | { readonly kind: 'landing_ended' }
  /** It is to leave unless it lands now. */
  | { readonly kind: 'end_requested'; readonly reason: CancelledReason }
  /** It goes from one stage to another. */
  | { readonly kind: 'moved'; readonly to: Stage; readonly reason: Reason | null };

/** Facts about how far an entry has come; the others are about the pull request itself. Only these follow from a plan. */
export type ProgressBody = Exclude<
  FactBody,
  { readonly kind: 'submitted' | 'rewritten' | 'observed' | 'examined' }
>;

type Recorded = {
  readonly at: Date;
  /** Who caused it: `api:<token>`, `app:<token>` or `person:<name>` (by the dashboard), `user:<login>`, `host` or `queue`. */
  readonly actor: string;
};

export type Fact = FactBody & Recorded;
export type ProgressFact = ProgressBody & Recorded;

// What happened to an entry: append-only, and the only thing that changes it (evolve.ts).

import type { HeadReview, PullRequest, Stage } from './model.ts';
import type { CancelledReason, Reason } from './reason.ts';
import type { BranchRuleChange } from './rule.ts';

export type FactBody =
  /** An attempt begins. */
  | {
      readonly kind: 'submitted';
      readonly pullRequest: PullRequest;
      readonly priority: number;
      readonly usedDefaultPriority: boolean;
      readonly noBatch: boolean;
      readonly forced: boolean;
      readonly seniority: number;
    }
  /** Submitted again while in the queue: priority and batching are rewritten, the seniority is kept. */
  | {
      readonly kind: 'rewritten';
      readonly priority: number;
      readonly usedDefaultPriority: boolean;
      readonly noBatch: boolean;
      readonly forced: boolean;
    }
  /** The host reports a change of the pull request that does not move the entry. */
  | { readonly kind: 'observed'; readonly pullRequest: PullRequest }
  /** Its head was compared with the protected paths, or its approvals were read. */
  | { readonly kind: 'examined'; readonly review: HeadReview }
  /** A restart of its test run was requested, in place. */
  | {
      readonly kind: 'restart_requested';
      readonly reason: Reason;
      /** How the rules of the branch changed, if that is the reason. */
      readonly ruleChange?: BranchRuleChange | undefined;
    }
  /** The plan has restarted the tests. */
  | { readonly kind: 'restarted' }
  /** The landing began; or it ended without a merge. */
  | { readonly kind: 'landing_begun' }
  | { readonly kind: 'landing_ended' }
  /** The entry is cancelled unless the current landing succeeds. */
  | { readonly kind: 'end_requested'; readonly reason: CancelledReason }
  /** The entry moves from one stage to another. */
  | { readonly kind: 'moved'; readonly to: Stage; readonly reason: Reason | null };

/**
 * Facts about an entry's progress, the only ones that follow from a plan; the others are about the pull
 * request.
 */
export type ProgressBody = Exclude<
  FactBody,
  { readonly kind: 'submitted' | 'rewritten' | 'observed' | 'examined' }
>;

type FactOrigin = {
  readonly at: Date;
  /** Who caused it: `api:<token>`, `app:<token>` or `person:<name>` (by the dashboard), `user:<login>`, `host` or `queue`. */
  readonly actor: string;
};

export type Fact = FactBody & FactOrigin;
export type ProgressFact = ProgressBody & FactOrigin;

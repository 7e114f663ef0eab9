// How an attempt to land ends, as land.ts records it.

import type { LandingReport } from '#core/queue/engine/reconcile-input.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { IntendedLanding, LandedCommits } from '#db/run/landing-store.ts';

export type NotLanded = Exclude<LandingReport, { kind: 'landed' }>;

export type Lost = Extract<NotLanded, { kind: 'lost' }>;

/** What landed, or would have, is not what was tested. */
export type Mismatch = {
  readonly tree: string;
  readonly testedTree: string;
  readonly isMerged: boolean;
};

export type Outcome = {
  /** The pull request that the host would no longer merge, as the host shows it, for its entry. */
  readonly seen?: PullRequest | undefined;
  /** Why the queue stops until a person has acted; null: it does not. */
  readonly halt: string | null;
  /** Then the queue stops too. */
  readonly mismatch?: Mismatch | undefined;
} & (
  | { readonly kind: 'landed'; readonly commits: LandedCommits }
  | { readonly kind: 'ended'; readonly report: NotLanded }
);

/** Nothing landed, and the branch is at this commit. */
export const lost = (
  { number }: IntendedLanding,
  tip: string,
  {
    restart = [],
    why,
    ruleChange,
    halt = null,
    mismatch,
    seen,
  }: {
    restart?: readonly number[];
    why?: Lost['why'];
    ruleChange?: Lost['ruleChange'];
    halt?: string | null;
    mismatch?: Mismatch | undefined;
    seen?: PullRequest;
  } = {},
): Outcome => ({
  kind: 'ended',
  report: { kind: 'lost', number, tip, restart, why, ruleChange },
  halt,
  mismatch,
  seen,
});

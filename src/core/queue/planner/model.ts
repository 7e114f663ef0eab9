// The nouns of a plan. A snapshot is one immutable picture of a queue: everything a plan may look at, and nothing else.

import type { QueueState, SettableQueueState } from '../model.ts';
import type { CancelledReason, FailedReason, MergedReason, QueuedReason } from '../reason.ts';
import type { QueueSettings } from '../settings.ts';
import type { Targets } from './lane.ts';

/** A state of the branch, opaque: two equal ones are the same commit. */
export type Tip = string;

/** A pull request's place in the queue. */
export type Place =
  /** Waiting to be ready. */
  | { readonly kind: 'not_ready' }
  /** Ready, waiting for a group and a slot. */
  | {
      readonly kind: 'pending';
      readonly since: number;
      /** It was under test before and lost that: it goes on even where nothing new may start. */
      readonly restarting: boolean;
      /** Its group could not be tested as a group: it is tested alone. */
      readonly alone: boolean;
      /** It conflicts with this one ahead: it waits until that one has landed or left. */
      readonly behind: number | null;
    }
  /** In a group of the line; `shown` is the state people see. */
  | {
      readonly kind: 'line';
      readonly group: number;
      readonly shown: 'testing' | 'tests_passed' | 'pending_failure';
    }
  /** In a batch that is searched for its culprit, beside the line. */
  | { readonly kind: 'search'; readonly search: number };

export type Item = {
  readonly pr: number;
  /** 0..255, lower first; 0 is urgent. */
  readonly priority: number;
  /** Place among equals, kept over restarts. */
  readonly seniority: number;
  readonly submittedAt: number;
  readonly noBatch: boolean;
  /** What readiness.ts says. */
  readonly ready: boolean;
  /** When it first was in the queue; null if it never was. */
  readonly queuedAt: number | null;
  /** The queue's patience with one that is not ready counts from here. */
  readonly patienceFrom: number;
  /** Its head already holds the tip and passed its own checks there. */
  readonly testedOnTip: Tip | null;
  readonly targets: Targets;
  readonly place: Place;
  /** Asked for while it is landing: takes effect if the landing does not. */
  readonly endRequested: CancelledReason | null;
};

/** Base commit, then members in order. The last `tested` of them are the group; the others are assumed to land first. */
export type Composition = {
  readonly base: Tip;
  readonly members: readonly number[];
  readonly tested: number;
};

type RunStatus =
  /** Asked for, and CI has not reported yet. → running, failed, infrastructure, start_failed */
  | 'starting'
  /** CI has begun. → passed, failed, infrastructure, timed_out */
  | 'running'
  | 'passed'
  | 'failed'
  /** CI gave no result: it was cancelled, its runner was lost, or it never began. This says nothing about the change. */
  | 'infrastructure'
  /** Out of time, by the queue's clock or by CI's own. An infrastructure failure until it happens again. */
  | 'timed_out'
  /** It could not be started. An infrastructure failure until it happens several times. */
  | 'start_failed';

export type Run = {
  readonly id: number;
  readonly of:
    { readonly kind: 'line'; readonly group: number } | { readonly kind: 'search'; readonly search: number };
  readonly composition: Composition;
  readonly status: RunStatus;
  readonly requestedAt: number;
  /** When its test branch was pushed; null before. CI must begin within some time of this. */
  readonly pushedAt: number | null;
  /** When CI first reported; null before. */
  readonly startedAt: number | null;
  /** How often this composition was tried before without a result. */
  readonly attempt: number;
  /** How many of those attempts ran out of time. */
  readonly timeouts: number;
  /** Not to be tried again before this. */
  readonly notBefore: number;
  /** Other lanes landed since it was built: its proof is `lane`, not `exact`. */
  readonly drifted: boolean;
  /** Why it failed or could not be started, where that is more than its required checks or the machinery. */
  readonly why: FailedReason | null;
  /** Part of what it was built on landed together with others: that part alone was never on the branch, nor proved. */
  readonly overtaken: boolean;
};

/** Entries tested together, in line order. */
export type Group = { readonly id: number; readonly members: readonly number[] };

/** A batch whose culprit is searched among its prefixes, on a base that stays while the line goes on. */
export type Search = {
  readonly id: number;
  readonly base: Tip;
  readonly members: readonly number[];
  /** The longest prefix known to pass; 0 is the base itself. */
  readonly passes: number;
  /** The shortest prefix known to fail. */
  readonly fails: number;
  /**
   * The run that showed each of the two. Null: the base; and for a failure the run of the whole batch in the line,
   * which is repeated before anybody is blamed by it, or taken as it is where known results are reused.
   */
  readonly passedRun: number | null;
  readonly failedRun: number | null;
};

type Proof =
  /** The run tested exactly the tree that lands. */
  | { readonly kind: 'exact'; readonly run: number }
  /** Other lanes with disjoint targets landed in between. */
  | { readonly kind: 'lane'; readonly run: number }
  /** Its own checks passed on a head that holds the tip. */
  | { readonly kind: 'direct' };

/** Members that are being put on the branch: intended, and not yet known to have happened. */
export type Landing = {
  /** What its outcome is reported by: a late or doubled word about another landing is passed over. */
  readonly id: number;
  readonly members: readonly number[];
  readonly proof: Proof;
};

/** What the queue's own history of runs says about how long CI takes. The settings are the upper bound of both. */
export type Limits = {
  /** From the push of a test branch to the first check result: after that, CI has lost the run. */
  readonly startByMs: number;
  /** From the first check result to the last; null: there is no history yet. */
  readonly finishByMs: number | null;
};

export type Departure = 'cancelled' | 'failed' | 'merged_by_hand';

export type Snapshot = {
  readonly state: QueueState;
  readonly settings: QueueSettings;
  readonly limits: Limits;
  readonly switching: { readonly mode: QueueSettings['mode']; readonly returnTo: SettableQueueState } | null;
  readonly tip: Tip;
  readonly items: ReadonlyMap<number, Item>;
  /** In line order. */
  readonly line: readonly Group[];
  readonly searches: readonly Search[];
  /** Those under way, and those whose result still means something. */
  readonly runs: ReadonlyMap<number, Run>;
  readonly landing: Landing | null;
  /** How entries left that runs still name: why what was tested on top of them restarts. */
  readonly gone: ReadonlyMap<number, Departure>;
  /** The host does not answer: no verdicts, no clocks. Null while it does. */
  readonly frozenAt: number | null;
  /**
   * When an entry was last removed because CI gave no result for it; null again as soon as CI has given one for any run.
   * Until then this may be an outage of CI, and no other entry is removed for it soon.
   */
  readonly outageSince: number | null;
  /** Groups, searches and runs are numbered in the order they are made. */
  readonly nextId: number;
};

/** Why a failure is somebody's: the failed run in which it is the last change, and what passed without it. */
export type Evidence = { readonly failedRun: number; readonly withoutIt: number | 'branch' };

export type Fact =
  | { readonly kind: 'queued'; readonly pr: number; readonly reason: QueuedReason }
  | { readonly kind: 'unready'; readonly pr: number }
  | { readonly kind: 'testing'; readonly pr: number; readonly run: number }
  | { readonly kind: 'passed'; readonly pr: number; readonly run: number }
  | { readonly kind: 'suspected'; readonly pr: number; readonly run: number }
  | {
      readonly kind: 'failed';
      readonly pr: number;
      readonly reason: FailedReason;
      readonly evidence: Evidence | null;
    }
  | { readonly kind: 'cancelled'; readonly pr: number; readonly reason: CancelledReason }
  | {
      readonly kind: 'merged';
      readonly pr: number;
      readonly reason: MergedReason;
      readonly proof: Proof | null;
      readonly tip: Tip;
    }
  | { readonly kind: 'mode_switched'; readonly mode: QueueSettings['mode'] };

export type Action =
  | { readonly kind: 'start-run'; readonly run: Run }
  | { readonly kind: 'cancel-run'; readonly run: number }
  | { readonly kind: 'land'; readonly landing: Landing; readonly base: Tip };

/** It ended without a result about the change. */
export const isInconclusive = ({ status }: Run): boolean =>
  status === 'infrastructure' || status === 'timed_out' || status === 'start_failed';

export const isActive = (run: Run): boolean => run.status === 'starting' || run.status === 'running';

export const sameMembers = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((pr, index) => pr === b[index]);

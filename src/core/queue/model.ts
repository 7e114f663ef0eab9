// The nouns of a queue. Database rows are read into these types, and decisions use nothing else.

import type { EntryId, QueueId, RunId } from '#base/id.ts';
import type { CancelledReason, FailedReason, MergedReason } from './reason.ts';
import type { QueueSettings } from './settings.ts';

/** What a queue does with its entries: see the table in docs/reference/queue-states.md. */
export const queueStates = ['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const;
export type QueueState = (typeof queueStates)[number];

/** States a person may set. `SWITCHING_MODES` is only ever read. */
export const settableQueueStates = ['RUNNING', 'PAUSED', 'DRAINING'] as const;
export type SettableQueueState = (typeof settableQueueStates)[number];

export type Queue = {
  readonly id: QueueId;
  /** The branch the queue lands on. */
  readonly targetBranch: string;
  readonly state: QueueState;
  readonly settings: QueueSettings;
  /** Set while `SWITCHING_MODES`: the mode to take and the state to return to when nothing is under test. */
  readonly switching: { readonly mode: QueueSettings['mode']; readonly returnTo: SettableQueueState } | null;
  /** Why the queue stopped without a person asking; null if a person set its state. */
  readonly stateReason: string | null;
};

export const mergeabilities = ['unspecified', 'in_progress', 'mergeable', 'not_mergeable'] as const;
type Mergeability = (typeof mergeabilities)[number];

/** A pull request as its host reports it. */
export type PullRequest = {
  readonly number: number;
  readonly title: string;
  /** The description that its author wrote, at most 64 KiB. */
  readonly body: string;
  readonly headSha: string;
  readonly baseBranch: string;
  readonly author: string;
  /**
   * The repository that its head comes from, as `owner/name`; null: the head is a branch of the repository itself, so that
   * only people with write access pushed it. `unknownFork`: the host does not name it, or it was deleted.
   */
  readonly fork: string | null;
  readonly url: string;
  readonly mergeability: Mergeability;
  readonly draft: boolean;
  readonly state: 'open' | 'closed' | 'merged';
};

/** What Signalbox found out about a head before it may be tested. */
export type HeadReview = {
  /** The head that was reviewed. */
  readonly headSha: string;
  /** Names the globs that its paths were compared with: with other globs they are compared again. */
  readonly globs: string;
  /** The first of the protected paths that it changes. */
  readonly protectedPaths: readonly string[];
  /** The person who approved exactly this head, may write, and is not its author; null: there is no such approval. */
  readonly approvedBy: string | null;
};

/** A head repository that cannot be named counts as a fork. */
export const unknownFork = 'unknown';

export const isMergeabilityKnown = ({ mergeability }: Pick<PullRequest, 'mergeability'>): boolean =>
  mergeability === 'mergeable' || mergeability === 'not_mergeable';

/** Where an entry is; each line lists what may follow. */
export type Stage =
  /** Submitted, waiting to be ready. → pending, cancelled, merged */
  | { readonly kind: 'not_ready' }
  /** Ready and queued. → testing, not_ready, cancelled, merged */
  | { readonly kind: 'pending' }
  /** Its run is under way. → tests_passed, pending_failure, pending, not_ready, cancelled, merged */
  | { readonly kind: 'testing'; readonly runId: RunId }
  /** Proved, waiting to land. → merged, pending, not_ready, cancelled */
  | { readonly kind: 'tests_passed'; readonly runId: RunId }
  /** Its run failed, culprit unknown. → failed, tests_passed, pending, not_ready, cancelled, merged */
  | { readonly kind: 'pending_failure'; readonly runId: RunId }
  /** On the branch. Final. */
  | { readonly kind: 'merged'; readonly reason: MergedReason; readonly runId: RunId | null }
  /** Removed on direct evidence. Final until it is submitted again. */
  | { readonly kind: 'failed'; readonly reason: FailedReason; readonly runId: RunId | null }
  /** Cancelled. Final until it is submitted again. */
  | { readonly kind: 'cancelled'; readonly reason: CancelledReason };

export type EntryState = Stage['kind'];

export const entryStates = [
  'not_ready',
  'pending',
  'testing',
  'tests_passed',
  'merged',
  'failed',
  'cancelled',
  'pending_failure',
] as const satisfies readonly EntryState[];

/** A pull request's place in one queue, fixed to a head sha. */
export type Entry = {
  /** Stays the same for this pull request in this queue, over all its attempts. */
  readonly id: EntryId;
  /** The pull request as last seen on its host. */
  readonly pullRequest: PullRequest;
  /** Null until its head is reviewed. */
  readonly headReview: HeadReview | null;
  /** 1 for the first submission; each submission after an end is a new attempt. */
  readonly attempt: number;
  readonly stage: Stage;
  readonly stageChangedAt: Date;
  /** 0..255, lower first. */
  readonly priority: number;
  readonly usedDefaultPriority: boolean;
  /** Tested alone even when the queue batches. */
  readonly noBatch: boolean;
  /** Submitted with force: host mergeability is not waited for; tests still run. */
  readonly forced: boolean;
  readonly submittedAt: Date;
  /** Order among entries of equal priority: grows with every submission, kept over restarts. */
  readonly seniority: number;
  /** When this attempt first became pending; null if it never was. */
  readonly queuedAt: Date | null;
  /** Milliseconds of this attempt spent pending, up to `stageChangedAt`. */
  readonly waitMs: number;
  /** Milliseconds of this attempt spent testing, up to `stageChangedAt`. */
  readonly testMs: number;
  /** Milliseconds of this attempt spent in the queue (not_ready excluded), up to `stageChangedAt`. */
  readonly inQueueMs: number;
  /** How often the tests of this attempt were restarted. */
  readonly restarts: number;
  /** Its title when it was submitted: every run makes its commit from this title. */
  readonly commitTitle: string;
  /** The entry is landing: only the branch shows how that ends. */
  readonly landing: boolean;
  /** Requested while the entry is landing: takes effect if the landing fails. */
  readonly endRequested: CancelledReason | null;
  /** A restart of its tests was requested, and no reconcile has run since. */
  readonly restartRequested: boolean;
};

/**
 * An entry as far as a plan needs it. The texts of the pull request are left out: they are most of an entry's
 * size, and no decision depends on them.
 */
export type PlannedEntry = Omit<Entry, 'id' | 'pullRequest' | 'usedDefaultPriority' | 'commitTitle'> & {
  readonly pullRequest: Omit<PullRequest, 'title' | 'body' | 'author' | 'url' | 'state'>;
};

export const isEnded = (stage: Stage): stage is Extract<Stage, { kind: 'merged' | 'failed' | 'cancelled' }> =>
  stage.kind === 'merged' || stage.kind === 'failed' || stage.kind === 'cancelled';

/** In the queue proper: counted in its depth. */
export const isInQueue = (stage: Stage): boolean => !isEnded(stage) && stage.kind !== 'not_ready';

export const isUnderTest = (stage: Stage): boolean =>
  stage.kind === 'testing' || stage.kind === 'tests_passed' || stage.kind === 'pending_failure';

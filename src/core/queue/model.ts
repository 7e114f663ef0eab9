// The nouns of a queue. Rows are read into these and nothing else decides.

import type { EntryId, QueueId, RunId } from '#base/id.ts';
import type { CancelledReason, FailedReason, MergedReason } from './reason.ts';
import type { QueueSettings } from './settings.ts';

/** What a queue does with its entries: see the table in docs/guide/queue-states.md. */
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
  /** Why the queue stopped by itself; null where a person set its state. */
  readonly stateReason: string | null;
};

export const mergeabilities = ['unspecified', 'in_progress', 'mergeable', 'not_mergeable'] as const;
type Mergeability = (typeof mergeabilities)[number];

/** A pull request as its host reports it. */
export type PullRequest = {
  readonly number: number;
  readonly title: string;
  /** What its author wrote about it, at most 64 KiB. */
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
  /** The head that it is about. */
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

/** Where an entry is; what may follow is said per line. */
export type Stage =
  /** Submitted, waiting to be ready. → pending, cancelled, merged */
  | { readonly kind: 'not_ready' }
  /** Ready and in line. → testing, not_ready, cancelled, merged */
  | { readonly kind: 'pending' }
  /** Its run is under way. → tests_passed, pending_failure, pending, not_ready, cancelled, merged */
  | { readonly kind: 'testing'; readonly runId: RunId }
  /** Proved, waiting to land. → merged, pending, not_ready, cancelled */
  | { readonly kind: 'tests_passed'; readonly runId: RunId }
  /** Its run failed and blame is not settled. → failed, tests_passed, pending, not_ready, cancelled, merged */
  | { readonly kind: 'pending_failure'; readonly runId: RunId }
  /** On the branch. The end. */
  | { readonly kind: 'merged'; readonly reason: MergedReason; readonly runId: RunId | null }
  /** Evicted on direct evidence. The end, until it is submitted again. */
  | { readonly kind: 'failed'; readonly reason: FailedReason; readonly runId: RunId | null }
  /** Taken out. The end, until it is submitted again. */
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
  /** Stays the same for this pull request in this queue, over all its trips. */
  readonly id: EntryId;
  /** The pull request as last seen on its host. */
  readonly pullRequest: PullRequest;
  /** Null until its head was looked at. */
  readonly headReview: HeadReview | null;
  /** 1 for the first submission; each submission after an end is a new trip. */
  readonly trip: number;
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
  /** Place among equals: grows with every submission, kept over restarts. */
  readonly seniority: number;
  /** When this trip first became pending; null if it never was. */
  readonly queuedAt: Date | null;
  /** Milliseconds of this trip spent pending, up to `stageChangedAt`. */
  readonly waitMs: number;
  /** Milliseconds of this trip spent testing, up to `stageChangedAt`. */
  readonly testMs: number;
  /** Milliseconds of this trip spent in the queue (not_ready excluded), up to `stageChangedAt`. */
  readonly inQueueMs: number;
  /** How often the tests of this trip were started anew. */
  readonly restarts: number;
  /** Its title when it was submitted: its commit is made of it, the same in every run. */
  readonly commitTitle: string;
  /** It is being put on the branch: only the branch says how that ends. */
  readonly landing: boolean;
  /** Asked for while it is landing: takes effect if the landing does not. */
  readonly endRequested: CancelledReason | null;
  /** Its tests were asked for anew, and the plan has not looked since. */
  readonly restartRequested: boolean;
};

/**
 * An entry as far as a plan needs it. What a pull request says of itself is left out: its texts are most of what an entry
 * holds, and no decision depends on them.
 */
export type PlannedEntry = Omit<Entry, 'id' | 'pullRequest' | 'usedDefaultPriority' | 'commitTitle'> & {
  readonly pullRequest: Omit<PullRequest, 'title' | 'body' | 'author' | 'url' | 'state'>;
};

export const isEnded = (stage: Stage): boolean =>
  stage.kind === 'merged' || stage.kind === 'failed' || stage.kind === 'cancelled';

/** In the queue proper: counted in its depth. */
export const isInQueue = (stage: Stage): boolean => !isEnded(stage) && stage.kind !== 'not_ready';

export const isUnderTest = (stage: Stage): boolean =>
  stage.kind === 'testing' || stage.kind === 'tests_passed' || stage.kind === 'pending_failure';

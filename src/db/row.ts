// Maps rows to objects and back. Aliases in the column lists let one statement read a queue and an entry.

import type { EntryId, QueueId, RunId } from '#base/id.ts';
import type { Entry, PlannedEntry, Queue, QueueState, SettableQueueState, Stage } from '#core/queue/model.ts';
import { isEnded } from '#core/queue/model.ts';
import type { CancelledReason } from '#core/queue/reason.ts';
import { type LinePlace, placeAlone } from '#core/queue/engine/line-place.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';

export const queueColumns = `q.id as queue_id, q.branch, q.state as queue_state, q.mode, q.switching_mode,
  q.switching_return_to, q.state_reason, q.settings`;

export type QueueRow = {
  readonly queue_id: string;
  readonly branch: string;
  readonly queue_state: string;
  readonly mode: string;
  readonly switching_mode: string | null;
  readonly switching_return_to: string | null;
  readonly state_reason: string | null;
  readonly settings: unknown;
};

export function toQueue(row: QueueRow): Queue {
  return {
    id: row.queue_id as QueueId,
    targetBranch: row.branch,
    state: row.queue_state as QueueState,
    settings: {
      ...defaultSettings,
      ...(row.settings as Partial<QueueSettings>),
      mode: row.mode as QueueSettings['mode'],
    },
    switching:
      row.switching_mode === null
        ? null
        : {
            mode: row.switching_mode as QueueSettings['mode'],
            returnTo: row.switching_return_to as SettableQueueState,
          },
    stateReason: row.state_reason,
  };
}

export const entryColumns = `e.id as entry_id, e.pr_number, e.attempt, e.state as entry_state, e.state_changed_at, e.reason,
  e.test_run_id, e.priority, e.used_default_priority, e.no_batch, e.forced, e.submitted_at, e.seniority, e.queued_at,
  e.wait_ms, e.test_ms, e.in_queue_ms, e.restarts, e.pr_title, e.pr_sha, e.pr_base_branch, e.pr_author, e.pr_fork, e.head_review, e.pr_url,
  e.pr_mergeability, e.pr_draft, e.pr_state, e.pr_body, e.commit_title, e.landing, e.end_requested,
  e.restart_requested`;

/** The columns that a reconcile reads. */
export const plannedColumns = `e.pr_number, e.attempt, e.state as entry_state, e.state_changed_at, e.reason, e.test_run_id, e.priority,
  e.no_batch, e.forced, e.submitted_at, e.seniority, e.queued_at, e.wait_ms, e.test_ms, e.in_queue_ms, e.restarts, e.pr_sha,
  e.pr_base_branch, e.pr_fork, e.head_review, e.pr_mergeability, e.pr_draft, e.landing, e.end_requested, e.restart_requested`;

export type PlannedRow = {
  readonly pr_number: number;
  readonly attempt: number;
  readonly entry_state: string;
  readonly state_changed_at: Date;
  readonly reason: string | null;
  readonly test_run_id: string | null;
  readonly priority: number;
  readonly no_batch: boolean;
  readonly forced: boolean;
  readonly submitted_at: Date;
  readonly seniority: number;
  readonly queued_at: Date | null;
  readonly wait_ms: number;
  readonly test_ms: number;
  readonly in_queue_ms: number;
  readonly restarts: number;
  readonly pr_sha: string;
  readonly pr_base_branch: string;
  readonly pr_fork: string | null;
  readonly head_review: unknown;
  readonly pr_mergeability: string;
  readonly pr_draft: boolean;
  readonly landing: boolean;
  readonly end_requested: string | null;
  readonly restart_requested: boolean;
};

export type EntryRow = PlannedRow & {
  readonly entry_id: string;
  readonly used_default_priority: boolean;
  readonly pr_title: string;
  readonly pr_author: string;
  readonly pr_url: string;
  readonly pr_state: string;
  readonly pr_body: string;
  readonly commit_title: string;
};

export function toEntry(row: EntryRow): Entry {
  const planned = toPlannedEntry(row);
  return {
    ...planned,
    id: row.entry_id as EntryId,
    pullRequest: {
      ...planned.pullRequest,
      title: row.pr_title,
      body: row.pr_body,
      author: row.pr_author,
      url: row.pr_url,
      state: row.pr_state as Entry['pullRequest']['state'],
    },
    usedDefaultPriority: row.used_default_priority,
    commitTitle: row.commit_title,
  };
}

export function toPlannedEntry(row: PlannedRow): PlannedEntry {
  return {
    pullRequest: {
      number: row.pr_number,
      headSha: row.pr_sha,
      baseBranch: row.pr_base_branch,
      fork: row.pr_fork,
      mergeability: row.pr_mergeability as Entry['pullRequest']['mergeability'],
      draft: row.pr_draft,
    },
    // Written in the shape of the type.
    headReview: row.head_review as Entry['headReview'],
    attempt: row.attempt,
    stage: toStage(row),
    stageChangedAt: row.state_changed_at,
    priority: row.priority,
    noBatch: row.no_batch,
    forced: row.forced,
    submittedAt: row.submitted_at,
    seniority: row.seniority,
    queuedAt: row.queued_at,
    waitMs: row.wait_ms,
    testMs: row.test_ms,
    inQueueMs: row.in_queue_ms,
    restarts: row.restarts,
    landing: row.landing,
    endRequested: row.end_requested as CancelledReason | null,
    restartRequested: row.restart_requested,
  };
}

/** The database holds a state, a reason and a run; only valid combinations were ever written. */
function toStage(row: PlannedRow): Stage {
  const { entry_state: kind, reason } = row;
  return { kind, reason, runId: row.test_run_id as RunId | null } as Stage;
}

/** The columns that a write of an existing entry replaces: all but its key and its id. */
// prettier-ignore
export const rewritableColumns = [
  'attempt', 'state', 'state_changed_at', 'reason', 'test_run_id', 'priority', 'used_default_priority',
  'no_batch', 'forced', 'submitted_at', 'seniority', 'queued_at', 'concluded_at', 'wait_ms', 'test_ms',
  'in_queue_ms', 'restarts', 'line_rank', 'line_major', 'line_minor', 'pr_title', 'pr_sha',
  'pr_base_branch', 'pr_author', 'pr_fork', 'head_review', 'pr_url', 'pr_mergeability', 'pr_draft', 'pr_state', 'pr_body', 'commit_title',
  'landing', 'end_requested', 'restart_requested',
] as const;

/** The columns of a new entry. They are named, so that the previous release can write beside a new column. */
export const entryInsertColumns = ['queue_id', 'pr_number', 'id', ...rewritableColumns].join(', ');

export const placeColumns = (place: LinePlace | null) => ({
  line_rank: place?.rank ?? null,
  line_major: place?.major ?? null,
  line_minor: place?.minor ?? null,
});

/** The columns of an entry that change while it is in the queue, and its key. */
export function progressRow(queueId: QueueId, entry: PlannedEntry, place: LinePlace | null) {
  const { stage } = entry;
  return {
    queue_id: queueId,
    pr_number: entry.pullRequest.number,
    state: stage.kind,
    state_changed_at: entry.stageChangedAt,
    reason: 'reason' in stage ? stage.reason : null,
    test_run_id: 'runId' in stage ? stage.runId : null,
    queued_at: entry.queuedAt,
    concluded_at: isEnded(stage) ? entry.stageChangedAt : null,
    wait_ms: entry.waitMs,
    test_ms: entry.testMs,
    in_queue_ms: entry.inQueueMs,
    restarts: entry.restarts,
    landing: entry.landing,
    end_requested: entry.endRequested,
    restart_requested: entry.restartRequested,
    ...placeColumns(place),
  };
}

/** The row an entry is written as, by column name. */
export function entryRow(
  queueId: QueueId,
  entry: Entry,
): Record<(typeof rewritableColumns)[number] | 'queue_id' | 'pr_number' | 'id', unknown> {
  const { pullRequest } = entry;
  return {
    ...progressRow(queueId, entry, placeAlone(entry)),
    id: entry.id,
    attempt: entry.attempt,
    priority: entry.priority,
    used_default_priority: entry.usedDefaultPriority,
    no_batch: entry.noBatch,
    forced: entry.forced,
    submitted_at: entry.submittedAt,
    seniority: entry.seniority,
    pr_title: pullRequest.title,
    pr_sha: pullRequest.headSha,
    pr_base_branch: pullRequest.baseBranch,
    pr_author: pullRequest.author,
    pr_fork: pullRequest.fork,
    head_review: entry.headReview,
    pr_url: pullRequest.url,
    pr_mergeability: pullRequest.mergeability,
    pr_draft: pullRequest.draft,
    pr_state: pullRequest.state,
    pr_body: pullRequest.body,
    commit_title: entry.commitTitle,
  };
}

// prettier-ignore
const attemptColumnNames = [
  'queue_id', 'concluded_at', 'pr_number', 'attempt', 'conclusion', 'reason', 'submitted_at', 'queued_at', 'wait_ms', 'test_ms',
  'in_queue_ms', 'restarts', 'head_sha',
] as const;

export const attemptColumns = attemptColumnNames.join(', ');

/** The row of an attempt that has just ended. */
export function toAttemptRow(
  queueId: QueueId,
  entry: PlannedEntry,
): Record<(typeof attemptColumnNames)[number], unknown> {
  const { stage } = entry;
  return {
    queue_id: queueId,
    concluded_at: entry.stageChangedAt,
    pr_number: entry.pullRequest.number,
    attempt: entry.attempt,
    conclusion: stage.kind,
    reason: 'reason' in stage ? stage.reason : null,
    submitted_at: entry.submittedAt,
    queued_at: entry.queuedAt,
    wait_ms: entry.waitMs,
    test_ms: entry.testMs,
    in_queue_ms: entry.inQueueMs,
    restarts: entry.restarts,
    head_sha: entry.pullRequest.headSha,
  };
}

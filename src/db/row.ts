// Rows to nouns and back. The column lists alias what would collide, so that one statement can read a queue and an entry.

import type { EntryId, QueueId, RunId } from '#base/id.ts';
import type { Entry, PlannedEntry, Queue, QueueState, SettableQueueState, Stage } from '#core/queue/model.ts';
import { isEnded } from '#core/queue/model.ts';
import type { CancelledReason } from '#core/queue/reason.ts';
import { placeAlone } from '#core/queue/engine/line-place.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import type { Entry as EntryTable, Queue as QueueTable, Trip as TripTable } from './database.ts';
import type { Selectable } from 'kysely';

export const queueColumns = `q.id as queue_id, q.branch, q.state as queue_state, q.mode, q.switching_mode,
  q.switching_return_to, q.state_reason, q.settings`;

export type QueueRow = Pick<
  Selectable<QueueTable>,
  'branch' | 'mode' | 'switching_mode' | 'switching_return_to' | 'state_reason' | 'settings'
> & { readonly queue_id: string; readonly queue_state: string };

export function queueOf(row: QueueRow): Queue {
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

export const entryColumns = `e.id as entry_id, e.pr_number, e.trip, e.state as entry_state, e.state_changed_at, e.reason,
  e.test_run_id, e.priority, e.used_default_priority, e.no_batch, e.forced, e.submitted_at, e.seniority, e.queued_at,
  e.wait_ms, e.test_ms, e.in_queue_ms, e.restarts, e.pr_title, e.pr_sha, e.pr_base_branch, e.pr_author, e.pr_fork, e.head_review, e.pr_url,
  e.pr_mergeability, e.pr_draft, e.pr_state, e.pr_body, e.commit_title, e.landing, e.end_requested,
  e.restart_requested`;

/** As far as a reconcile reads it. */
export const plannedColumns = `e.pr_number, e.trip, e.state as entry_state, e.state_changed_at, e.reason, e.test_run_id, e.priority,
  e.no_batch, e.forced, e.submitted_at, e.seniority, e.queued_at, e.wait_ms, e.test_ms, e.in_queue_ms, e.restarts, e.pr_sha,
  e.pr_base_branch, e.pr_fork, e.head_review, e.pr_mergeability, e.pr_draft, e.landing, e.end_requested, e.restart_requested`;

export type PlannedRow = Omit<
  EntryRow,
  | 'entry_id'
  | 'used_default_priority'
  | 'pr_title'
  | 'pr_author'
  | 'pr_url'
  | 'pr_state'
  | 'pr_body'
  | 'commit_title'
  | 'commit_identity'
>;

export type EntryRow = Omit<
  Selectable<EntryTable>,
  | 'id'
  | 'state'
  | 'queue_id'
  | 'line_rank'
  | 'line_major'
  | 'line_minor'
  | 'concluded_at'
  | 'plan'
  | 'probed_tip'
  | 'tested_on_tip'
> & { readonly entry_id: string; readonly entry_state: string };

export function entryOf(row: EntryRow): Entry {
  const planned = plannedEntryOf(row);
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

export function plannedEntryOf(row: PlannedRow): PlannedEntry {
  return {
    pullRequest: {
      number: row.pr_number,
      headSha: row.pr_sha,
      baseBranch: row.pr_base_branch,
      fork: row.pr_fork,
      mergeability: row.pr_mergeability as Entry['pullRequest']['mergeability'],
      draft: row.pr_draft,
    },
    // Written as the type says.
    headReview: row.head_review as Entry['headReview'],
    trip: row.trip,
    stage: stageOf(row),
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
function stageOf(row: PlannedRow): Stage {
  const { entry_state: kind, reason } = row;
  return { kind, reason, runId: row.test_run_id as RunId | null } as Stage;
}

/** What a write of an existing entry rewrites: all but its key and its id. */
// prettier-ignore
export const rewritableColumns = [
  'trip', 'state', 'state_changed_at', 'reason', 'test_run_id', 'priority', 'used_default_priority',
  'no_batch', 'forced', 'submitted_at', 'seniority', 'queued_at', 'concluded_at', 'wait_ms', 'test_ms',
  'in_queue_ms', 'restarts', 'line_rank', 'line_major', 'line_minor', 'pr_title', 'pr_sha',
  'pr_base_branch', 'pr_author', 'pr_fork', 'head_review', 'pr_url', 'pr_mergeability', 'pr_draft', 'pr_state', 'pr_body', 'commit_title',
  'landing', 'end_requested', 'restart_requested',
] as const satisfies readonly (keyof EntryTable)[];

/** The columns of a new entry. They are named, so that a process of the release before can write beside a new column. */
export const entryInsertColumns = ['queue_id', 'pr_number', 'id', ...rewritableColumns].join(', ');

/** The row an entry is written as, by column name. */
export function entryRow(
  queueId: QueueId,
  entry: Entry,
): Omit<Selectable<EntryTable>, 'plan' | 'probed_tip' | 'tested_on_tip' | 'commit_identity'> {
  const { stage, pullRequest } = entry;
  const place = placeAlone(entry);
  return {
    queue_id: queueId,
    pr_number: pullRequest.number,
    id: entry.id,
    trip: entry.trip,
    state: stage.kind,
    state_changed_at: entry.stageChangedAt,
    reason: 'reason' in stage ? stage.reason : null,
    test_run_id: 'runId' in stage ? stage.runId : null,
    priority: entry.priority,
    used_default_priority: entry.usedDefaultPriority,
    no_batch: entry.noBatch,
    forced: entry.forced,
    submitted_at: entry.submittedAt,
    seniority: entry.seniority,
    queued_at: entry.queuedAt,
    concluded_at: isEnded(stage) ? entry.stageChangedAt : null,
    wait_ms: entry.waitMs,
    test_ms: entry.testMs,
    in_queue_ms: entry.inQueueMs,
    restarts: entry.restarts,
    line_rank: place?.rank ?? null,
    line_major: place?.major ?? null,
    line_minor: place?.minor ?? null,
    pr_title: pullRequest.title,
    pr_sha: pullRequest.headSha,
    pr_base_branch: pullRequest.baseBranch,
    pr_author: pullRequest.author,
    pr_fork: pullRequest.fork,
    head_review: entry.headReview as EntryRow['head_review'],
    pr_url: pullRequest.url,
    pr_mergeability: pullRequest.mergeability,
    pr_draft: pullRequest.draft,
    pr_state: pullRequest.state,
    pr_body: pullRequest.body,
    commit_title: entry.commitTitle,
    landing: entry.landing,
    end_requested: entry.endRequested,
    restart_requested: entry.restartRequested,
  };
}

// prettier-ignore
export const tripColumns = ([
  'queue_id', 'concluded_at', 'pr_number', 'trip', 'conclusion', 'reason', 'submitted_at', 'queued_at', 'wait_ms', 'test_ms',
  'in_queue_ms', 'restarts', 'head_sha',
] satisfies readonly (keyof TripTable)[]).join(', ');

/** The row of a trip that has just ended. */
export function tripRow(queueId: QueueId, entry: PlannedEntry): Selectable<TripTable> {
  const { stage } = entry;
  return {
    queue_id: queueId,
    concluded_at: entry.stageChangedAt,
    pr_number: entry.pullRequest.number,
    trip: entry.trip,
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

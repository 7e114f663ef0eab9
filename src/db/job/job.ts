// Jobs are added in the transaction that makes them necessary: they exist if and only if it commits.

import { assert } from '#base/assert.ts';
import type { QueueId, RepositoryId } from '#base/id.ts';
import type { HostEvent, WrittenComment } from '#core/queue/host-event.ts';
import type { Queue } from '#core/queue/model.ts';
import { addJob, addReconcileJobs, type NewJob } from './add-job.ts';
import type { Tx } from '../cell.ts';
import { noticeColumn } from '../queue-notice.ts';
import { statement } from '../statement.ts';
import type { QueueLock } from '../transaction.ts';

type RepositoryJobPayload = { readonly repositoryId: RepositoryId };
type LabelChangedEvent = Extract<HostEvent, { kind: 'label-changed' }>;
type OfQueue = { readonly queueId: QueueId };
/** How often the job was postponed because the host did not answer. */
type Tries = { readonly tries?: number };
/** How often the host answered without the expected event: its record of an event may appear late. */
type Rereads = { readonly rereads?: number };
/** A job that calls the host of a queue. */
type AtHost = OfQueue & Tries;

/** The tasks of the worker, each with its payload. */
export type JobPayloads = {
  'reconcile-queue': OfQueue;
  'refresh-pull-request': RepositoryJobPayload & { readonly prNumber: number } & Tries;
  'publish-runs': AtHost;
  land: AtHost & { readonly number: number };
  /** The failed jobs of the run with this number; the rest: host/host.ts, FailedJobs. */
  'rerun-jobs': AtHost & {
    readonly number: number;
    readonly suites: readonly string[];
    readonly after: number;
  };
  /** `isQuick`: reads only the head of the branch. */
  'sweep-queue': AtHost & { readonly isQuick?: boolean };
  'probe-entries': AtHost;
  'try-merges': AtHost;
  'examine-heads': AtHost;
  'post-status': AtHost;
  'handle-comment': RepositoryJobPayload & WrittenComment & Tries & Rereads;
  'handle-label': RepositoryJobPayload &
    Pick<LabelChangedEvent, 'number' | 'label' | 'labels'> &
    Tries &
    Rereads;
  /** The issues of a repository's incidents. */
  'sync-issues': RepositoryJobPayload & Tries;
  /** Lists what landed where tests broke (job/health/find-culprit.ts). */
  'find-culprits': RepositoryJobPayload & Tries;
  /** Searches uploads of the default branch for renamed tests (job/health/search-renames.ts). */
  'find-renames': RepositoryJobPayload;
  /** The comment on the pull request that landed as this commit. `waits`: how often it waited for the host's write limit. */
  'comment-culprit': RepositoryJobPayload & {
    readonly prNumber: number;
    readonly sha: string;
    readonly waits?: number;
  } & Tries;
  /** The webhook of a repository. `isSecretNew`: a webhook that is there has another secret. */
  'set-webhook': RepositoryJobPayload & { readonly isSecretNew?: boolean } & Tries;
  /** The doctor checks the queues of a repository. */
  'diagnose-queues': RepositoryJobPayload & Tries;
  /** Fixes of tests that are verified (job/health/verify-fixes.ts). */
  'verify-fixes': RepositoryJobPayload & Tries;
  'sandbox-ci': { readonly repositoryId: RepositoryId; readonly branch: string; readonly sha: string };
  /** A stored upload. The job reads every other stored upload of the repository with it. */
  'ingest-upload': RepositoryJobPayload & { readonly uploadId: string; readonly uploadedAt: number };
};

/** Tasks that a schedule adds (job/worker/worker-pool.ts). */
export type ScheduledTask = 'maintain-history' | 'sweep-idle' | 'revisit-tests' | 'watch-queues';

const isTask: Readonly<Record<keyof JobPayloads | ScheduledTask, true>> = {
  'reconcile-queue': true,
  'refresh-pull-request': true,
  'publish-runs': true,
  land: true,
  'rerun-jobs': true,
  'sweep-queue': true,
  'probe-entries': true,
  'try-merges': true,
  'examine-heads': true,
  'post-status': true,
  'handle-comment': true,
  'handle-label': true,
  'sync-issues': true,
  'find-culprits': true,
  'find-renames': true,
  'comment-culprit': true,
  'set-webhook': true,
  'diagnose-queues': true,
  'verify-fixes': true,
  'sandbox-ci': true,
  'ingest-upload': true,
  'maintain-history': true,
  'sweep-idle': true,
  'revisit-tests': true,
  'watch-queues': true,
};

export const taskNames: readonly string[] = Object.keys(isTask);

// A burst of signals becomes one pending job. The transaction that adds to the job locks its row, so a run of
// the job that starts later reads every fact committed with it. A reconcile is retried for about a day with
// growing pauses.
export const addReconcileStatement = `
  select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', $1::text),
    job_key := $2, run_at := $3, max_attempts := 20), ${noticeColumn('$1')}`;

const addReconcile = statement<[queueId: string, jobKey: string, runAt: Date | null]>(addReconcileStatement);

/**
 * Marks a queue dirty: the worker reads the whole queue and plans it again, and its watchers get a notice.
 * The caller must hold a lock of the queue: a reconcile that has just started waits for the lock, so it reads
 * what the caller writes. Without a lock, use enqueueReconciles.
 */
export const enqueueReconcile = (tx: Tx, { queueId }: QueueLock): Promise<unknown> =>
  addReconcile(tx, queueId, `reconcile:${queueId}`, null);

/** Marks queues dirty and sends a notice to their watchers. */
export const enqueueReconciles = addReconcileJobs;

/** The priority of jobs that run only when nothing more urgent is due. */
const later = 10;

type Job<Task extends keyof JobPayloads> = {
  readonly task: Task;
  readonly payload: JobPayloads[Task];
  readonly key: string;
} & Partial<Pick<NewJob, 'inMs' | 'keepsTime' | 'priority' | 'skipIfScheduled' | 'turn'>>;

const add = <Task extends keyof JobPayloads>(
  tx: Tx,
  { inMs = null, keepsTime = false, priority = 0, skipIfScheduled = false, turn = null, ...job }: Job<Task>,
): Promise<void> => addJob(tx, { ...job, inMs, keepsTime, priority, skipIfScheduled, turn });

/** The shortest delay: a job that is too early by a worker's clock must not repeat without a pause. */
const wakeUpMinMs = 1_000;

/** Reconciles a queue again after a delay. Its own key keeps it from delaying a pending reconcile. */
export const enqueueWakeUp = (tx: Tx, queueId: QueueId, inMs: number): Promise<void> =>
  add(tx, {
    task: 'reconcile-queue',
    payload: { queueId },
    key: `wake:${queueId}`,
    inMs: Math.max(inMs, wakeUpMinMs),
    skipIfScheduled: true,
  });

/** Reads a pull request from the host again. */
export const enqueueRefresh = (tx: Tx, repositoryId: RepositoryId, prNumber: number): Promise<void> =>
  enqueueForRepository(tx, 'refresh-pull-request', { repositoryId, prNumber });

/** Hosts report within seconds whether a pull request can be merged. */
const askAgainMs = 3_000;

/** Reads a pull request once more soon, because the host was still computing its mergeability. */
export const enqueueRefreshSoon = (tx: Tx, repositoryId: RepositoryId, prNumber: number): Promise<void> =>
  add(tx, {
    task: 'refresh-pull-request',
    payload: { repositoryId, prNumber },
    key: repositoryJobKey['refresh-pull-request']({ repositoryId, prNumber }),
    inMs: askAgainMs,
    keepsTime: true,
  });

export type HostTask =
  | 'publish-runs'
  | 'land'
  | 'rerun-jobs'
  | 'sweep-queue'
  | 'probe-entries'
  | 'try-merges'
  | 'examine-heads'
  | 'post-status';

const hostJobKey = (task: HostTask, { queueId, ...rest }: AtHost & { readonly number?: number }): string =>
  `${task}:${queueId}${rest.number === undefined ? '' : `:${rest.number}`}`;

/** Adds a job that calls the host, at once or after a delay. */
export const enqueueAtHost = <Task extends HostTask>(
  tx: Tx,
  task: Task,
  payload: JobPayloads[Task],
  inMs: number | null = null,
): Promise<void> =>
  add(tx, {
    task,
    payload,
    key: hostJobKey(task, payload),
    inMs,
    priority: task === 'sweep-queue' ? later : 0,
  });

// A job that is running or is to be retried counts as present; a job without attempts left does not.
const selectForgotten = statement<[queueId: string], { number: number }>(`
  select l.number from landing l where l.queue_id = $1::uuid and l.status = 'intended' and not exists (
    select from graphile_worker.jobs j where j.key = 'land:' || $1 || ':' || l.number
      and (j.locked_at is not null or j.attempts < j.max_attempts))`);

/**
 * Adds the job of an intended landing that has none, so that no landing is lost. A queue that was stopped for
 * a reason waits until a person sets it RUNNING.
 */
export async function enqueueForgottenLanding(
  tx: Tx,
  { id: queueId, state, stateReason }: Pick<Queue, 'id' | 'state' | 'stateReason'>,
): Promise<void> {
  if (state === 'PAUSED' || stateReason !== null) return;
  for (const { number } of await selectForgotten(tx, queueId))
    await enqueueAtHost(tx, 'land', { queueId, number });
}

const rescheduleAtHost = statement<[queueId: string]>(`
  select graphile_worker.reschedule_jobs(array(
    select j.id from graphile_worker.jobs j where j.locked_at is null and j.run_at > now() and j.key = any (
      array['publish-runs:' || $1, 'probe-entries:' || $1, 'try-merges:' || $1, 'examine-heads:' || $1,
        'post-status:' || $1]
      || array(select 'land:' || $1 || ':' || l.number from landing l
        where l.queue_id = $1::uuid and l.status = 'intended'))), run_at := now())`);

/** The host answers again: jobs that were postponed because it did not are due now. */
export const hurryAtHost = (tx: Tx, queueId: QueueId): Promise<unknown> => rescheduleAtHost(tx, queueId);

/** Reads the head of a queue's branch. Its own key keeps it from replacing a pending poll. */
export const enqueueBranchPoll = (tx: Tx, queueId: QueueId): Promise<void> =>
  add(tx, { task: 'sweep-queue', payload: { queueId, isQuick: true }, key: `branch:${queueId}` });

/** Adds a job that is due after this delay at the latest. */
export const enqueueWithin = <Task extends HostTask>(
  tx: Tx,
  task: Task,
  payload: JobPayloads[Task],
  inMs: number,
): Promise<void> =>
  add(tx, {
    task,
    payload,
    key: hostJobKey(task, payload),
    inMs,
    keepsTime: true,
    priority: later,
    skipIfScheduled: true,
  });

/** A burst of changes gives one status comment. Urgent comments do not wait for less urgent ones. */
const statusCommentDelayMs = { soon: 1_500, later: 121_000 };

export const enqueueStatusComments = (tx: Tx, queueId: QueueId, when: 'soon' | 'later'): Promise<void> =>
  add(tx, {
    task: 'post-status',
    payload: { queueId },
    key: when === 'soon' ? hostJobKey('post-status', { queueId }) : `post-status-later:${queueId}`,
    inMs: statusCommentDelayMs[when],
    keepsTime: true,
    priority: later,
    skipIfScheduled: true,
  });

/** Tasks at a host for an event that names only the repository. */
export type RepositoryTask =
  | 'refresh-pull-request'
  | 'handle-comment'
  | 'handle-label'
  | 'sync-issues'
  | 'find-culprits'
  | 'comment-culprit'
  | 'set-webhook'
  | 'diagnose-queues'
  | 'verify-fixes';

const repositoryJobKey: {
  readonly [Task in RepositoryTask]: (payload: JobPayloads[Task]) => string;
} = {
  'refresh-pull-request': ({ repositoryId, prNumber }) => `refresh:${repositoryId}:${prNumber}`,
  'handle-comment': ({ repositoryId, commentId }) => `comment:${repositoryId}:${commentId}`,
  'handle-label': ({ repositoryId, number, label }) => `label:${repositoryId}:${number}:${label}`,
  'sync-issues': ({ repositoryId }) => `issues:${repositoryId}`,
  'find-culprits': ({ repositoryId }) => `culprits:${repositoryId}`,
  'comment-culprit': ({ repositoryId, prNumber, sha }) =>
    `culprit-comment:${repositoryId}:${prNumber}:${sha}`,
  // A new secret must not be forgotten because a queue is created meanwhile.
  'set-webhook': ({ repositoryId, isSecretNew = false }) =>
    `webhook${isSecretNew ? '-secret' : ''}:${repositoryId}`,
  'diagnose-queues': ({ repositoryId }) => `diagnosis:${repositoryId}`,
  'verify-fixes': ({ repositoryId }) => `fixes:${repositoryId}`,
};

/**
 * Of these one runs at a time in a repository, when nothing more urgent is due: two at once would open an issue twice, start two
 * runs, or add two webhooks.
 */
const repositoryTurn: { readonly [Task in RepositoryTask]?: (repositoryId: RepositoryId) => string } = {
  'sync-issues': (repositoryId) => `issues:${repositoryId}`,
  'verify-fixes': (repositoryId) => `fixes:${repositoryId}`,
  'set-webhook': (repositoryId) => `webhook:${repositoryId}`,
  'diagnose-queues': (repositoryId) => `diagnosis:${repositoryId}`,
};

/** Adds such a job, at once or after a delay. One that waits for its turn stays as early as it is. */
export function enqueueForRepository<Task extends RepositoryTask>(
  tx: Tx,
  task: Task,
  payload: JobPayloads[Task],
  inMs: number | null = null,
): Promise<void> {
  const job = { task, payload, inMs, key: repositoryJobKey[task](payload) };
  const turn = repositoryTurn[task]?.(payload.repositoryId);
  return add(tx, turn === undefined ? job : { ...job, turn, keepsTime: inMs !== null, priority: later });
}

/** A burst of pushes is one check, and the webhook of a new queue is set before. */
const diagnosisDelayMs = 30_000;

/** The doctor checks the queues of the repository soon. */
export const enqueueDiagnosis = (tx: Tx, repositoryId: RepositoryId): Promise<void> =>
  enqueueForRepository(tx, 'diagnose-queues', { repositoryId }, diagnosisDelayMs);

/** Tests of one incident are quarantined one after the other. */
const issuesDelayMs = 30_000;

/** Opens, edits and closes issues soon. */
export const enqueueIssues = (
  tx: Tx,
  payload: JobPayloads['sync-issues'],
  inMs: number = issuesDelayMs,
): Promise<void> => enqueueForRepository(tx, 'sync-issues', payload, inMs);

/** Searches for renamed tests when nothing more urgent is due. */
export const enqueueRenames = (tx: Tx, repositoryId: RepositoryId): Promise<void> =>
  add(tx, {
    task: 'find-renames',
    payload: { repositoryId },
    key: `renames:${repositoryId}`,
    priority: later,
  });

/** Removes test branches that are no longer needed. Its own key keeps it from delaying the start of a run. */
export const enqueueTidy = (tx: Tx, queueId: QueueId, inMs: number): Promise<void> =>
  add(tx, {
    task: 'publish-runs',
    payload: { queueId },
    key: `tidy:${queueId}`,
    inMs,
    keepsTime: true,
    priority: later,
  });

/** Concludes the sandbox host's CI for a commit that was pushed to a branch. */
export const enqueueSandboxCi = (
  tx: Tx,
  payload: JobPayloads['sandbox-ci'],
  delayMs: number,
): Promise<void> =>
  add(tx, {
    task: 'sandbox-ci',
    payload,
    key: `sandbox-ci:${payload.repositoryId}:${payload.sha}:${payload.branch}`,
    inMs: delayMs,
  });

// A named queue of the job library reads the uploads of a repository one job at a time: a second job would
// only wait for the lock of the first.
const addIngest = statement<[payload: string, name: string], { id: string | null }>(`
  select (graphile_worker.add_job('ingest-upload', $1::json, job_key := $2, queue_name := $2, max_attempts := 20)).id as id`);

/** Attempts to add the job: if a worker takes it in the middle of the addition, the answer holds no job. */
const triesMax = 10;

/** Call it in the transaction that stores the upload. One pending job reads every upload stored by then. */
export async function enqueueIngest(tx: Tx, payload: JobPayloads['ingest-upload']): Promise<void> {
  const text = JSON.stringify(payload);
  for (let tries = 0; tries < triesMax; tries++)
    if ((await addIngest(tx, text, `ingest:${payload.repositoryId}`)).every((job) => job.id !== null)) return;
  assert(false, 'a job is added, if not at once');
}

// Takes one part of the queues at a time, in rising order, because the rows stay locked until the transaction
// ends. If a worker takes a job in the middle of the addition, that queue is being polled now.
const addIdleSweeps = statement<[after: string], { queue_id: string }>(`
  select q.id as queue_id from (select id from queue where deleted_at is null and id > $1 order by id limit 500) q
  cross join lateral graphile_worker.add_job('sweep-queue', json_build_object('queueId', q.id::text),
    job_key := 'sweep-queue:' || q.id::text, job_key_mode := 'preserve_run_at',
    run_at := now() + random() * interval '50 minutes', max_attempts := 20, priority := ${later}) as added`);

/** Polls every queue within the hour. */
export async function enqueueIdleSweeps(tx: Tx): Promise<void> {
  let after: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (after !== undefined) after = (await addIdleSweeps(tx, after)).at(-1)?.queue_id;
}

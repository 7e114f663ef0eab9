// Jobs are added in the transaction that makes them necessary: they exist if and only if it commits.

import { assert } from '#base/assert.ts';
import type { QueueId, RepositoryId } from '#base/id.ts';
import type { HostEvent, WrittenComment } from '#core/queue/host-event.ts';
import type { Queue } from '#core/queue/model.ts';
import { addJob, addReconcileJobs, type NewJob } from './add-job.ts';
import type { Tx } from './cell.ts';
import { noticeColumn } from './queue-notice.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';

type OfRepository = { readonly repositoryId: RepositoryId };
type Labelled = Extract<HostEvent, { kind: 'label-changed' }>;
type OfQueue = { readonly queueId: QueueId };
type Tries = { readonly tries?: number };
/** Work at a host; `tries`: how often it was put off because the host did not answer. */
type AtHost = OfQueue & Tries;

/** What the worker can be asked to do, with what it needs to know. */
export type JobPayloads = {
  'reconcile-queue': OfQueue;
  'refresh-pull-request': { readonly repositoryId: RepositoryId; readonly prNumber: number };
  'publish-runs': AtHost;
  land: AtHost & { readonly number: number };
  /** `isQuick`: only where the branch is. */
  'sweep-queue': AtHost & { readonly isQuick?: boolean };
  'probe-entries': AtHost;
  'try-merges': AtHost;
  'examine-heads': AtHost;
  tell: AtHost;
  'obey-comment': OfRepository & WrittenComment & Tries;
  'obey-label': OfRepository & Pick<Labelled, 'number' | 'label' | 'labels'> & Tries;
  'sandbox-ci': { readonly repositoryId: RepositoryId; readonly branch: string; readonly sha: string };
  /** One that is stored; whatever else the repository has stored is read with it. */
  'ingest-upload': OfRepository & { readonly uploadId: string; readonly uploadedAt: number };
};

/** What a schedule asks for (job/worker-pool.ts). */
export type ScheduledTask = 'maintain-history' | 'sweep-idle' | 'revisit-tests';

const isTask: Readonly<Record<keyof JobPayloads | ScheduledTask, true>> = {
  'reconcile-queue': true,
  'refresh-pull-request': true,
  'publish-runs': true,
  land: true,
  'sweep-queue': true,
  'probe-entries': true,
  'try-merges': true,
  'examine-heads': true,
  tell: true,
  'obey-comment': true,
  'obey-label': true,
  'sandbox-ci': true,
  'ingest-upload': true,
  'maintain-history': true,
  'sweep-idle': true,
  'revisit-tests': true,
};

export const taskNames: readonly string[] = Object.keys(isTask);

// A burst of signals folds into one pending job. Its row is locked by whoever adds to it, so a run that starts later
// sees every fact that was committed with it. A reconcile is retried for about a day with growing pauses.
export const addReconcileStatement = `
  select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', $1::text),
    job_key := $2, run_at := $3, max_attempts := 20), ${noticeColumn('$1')}`;

const addReconcile = statement<[queueId: string, jobKey: string, runAt: Date | null]>(addReconcileStatement);

/**
 * Marks a queue dirty: the worker reads it whole and plans it anew, and whoever watches it is told. Only for those who
 * hold a lock of the queue: a look that has just begun waits for it, and so sees what they write. Others ask for
 * enqueueReconciles.
 */
export const enqueueReconcile = (tx: Tx, { queueId }: QueueLock): Promise<unknown> =>
  addReconcile(tx, queueId, `reconcile:${queueId}`, null);

/** Marks queues dirty, and sends a notice to those who watch them. */
export const enqueueReconciles = addReconcileJobs;

/** What can wait is done when nothing else is due. */
const later = 10;

type Job<Task extends keyof JobPayloads> = {
  readonly task: Task;
  readonly payload: JobPayloads[Task];
  readonly key: string;
} & Partial<Pick<NewJob, 'inMs' | 'keepsTime' | 'priority' | 'spares'>>;

const add = <Task extends keyof JobPayloads>(
  tx: Tx,
  { task, payload, key, inMs = null, keepsTime = false, priority = 0, spares = false }: Job<Task>,
): Promise<void> => addJob(tx, { task, key, payload, inMs, keepsTime, priority, spares });

/** What was too early by a worker's clock is not looked at again at once: that would be a loop without a pause. */
const wakeUpMinMs = 1_000;

/** Looks at a queue again after a while; a key of its own, so that it never delays a pending look. */
export const enqueueWakeUp = (tx: Tx, queueId: QueueId, inMs: number): Promise<void> =>
  add(tx, {
    task: 'reconcile-queue',
    payload: { queueId },
    key: `wake:${queueId}`,
    inMs: Math.max(inMs, wakeUpMinMs),
    spares: true,
  });

/** Asks the host for a pull request anew. */
export const enqueueRefresh = (tx: Tx, repositoryId: RepositoryId, prNumber: number): Promise<void> =>
  add(tx, {
    task: 'refresh-pull-request',
    payload: { repositoryId, prNumber },
    key: `refresh:${repositoryId}:${prNumber}`,
  });

/** Hosts say within seconds whether a pull request can be merged. */
const askAgainMs = 3_000;

/** Asks once more soon, where the host was still working something out. */
export const enqueueRefreshSoon = (tx: Tx, repositoryId: RepositoryId, prNumber: number): Promise<void> =>
  add(tx, {
    task: 'refresh-pull-request',
    payload: { repositoryId, prNumber },
    key: `refresh:${repositoryId}:${prNumber}`,
    inMs: askAgainMs,
    keepsTime: true,
  });

export type HostTask =
  'publish-runs' | 'land' | 'sweep-queue' | 'probe-entries' | 'try-merges' | 'examine-heads' | 'tell';

const hostJobKey = (task: HostTask, { queueId, ...rest }: AtHost & { readonly number?: number }): string =>
  `${task}:${queueId}${rest.number === undefined ? '' : `:${rest.number}`}`;

/** Work at a host, at once or after a while. */
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

// A job that a worker has in hand, or that is to be tried again, is there; one that was tried too often is not.
const selectForgotten = statement<[queueId: string], { number: number }>(`
  select l.number from landing l where l.queue_id = $1::uuid and l.status = 'intended' and not exists (
    select from graphile_worker.jobs j where j.key = 'land:' || $1 || ':' || l.number
      and (j.locked_at is not null or j.attempts < j.max_attempts))`);

/**
 * Adds the job of an intended landing that has none: a landing is never forgotten. A queue that was stopped for a reason
 * waits until a person has set it RUNNING.
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
        'tell:' || $1]
      || array(select 'land:' || $1 || ':' || l.number from landing l
        where l.queue_id = $1::uuid and l.status = 'intended'))), run_at := now())`);

/** What was put off because the host did not answer is done now: it does. */
export const hurryAtHost = (tx: Tx, queueId: QueueId): Promise<unknown> => rescheduleAtHost(tx, queueId);

/** Looks where the branch of a queue is; a key of its own, so that it takes no sweep's place. */
export const enqueueBranchLook = (tx: Tx, queueId: QueueId): Promise<void> =>
  add(tx, { task: 'sweep-queue', payload: { queueId, isQuick: true }, key: `branch:${queueId}` });

/** Work that is due after a while at the latest. */
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
    spares: true,
  });

/** A burst of changes is told once; what is told soon does not wait for what has time. */
const tellAfterMs = { soon: 1_500, later: 121_000 };

export const enqueueTell = (tx: Tx, queueId: QueueId, when: 'soon' | 'later'): Promise<void> =>
  add(tx, {
    task: 'tell',
    payload: { queueId },
    key: when === 'soon' ? hostJobKey('tell', { queueId }) : `tell-later:${queueId}`,
    inMs: tellAfterMs[when],
    keepsTime: true,
    priority: later,
    spares: true,
  });

/** Does what a comment asks for. */
export const enqueueComment = (
  tx: Tx,
  payload: JobPayloads['obey-comment'],
  inMs: number | null = null,
): Promise<void> =>
  add(tx, {
    task: 'obey-comment',
    payload,
    inMs,
    key: `comment:${payload.repositoryId}:${payload.commentId}`,
  });

/** Asks the host for the label, and does what it asks for. */
export const enqueueLabel = (
  tx: Tx,
  payload: JobPayloads['obey-label'],
  inMs: number | null = null,
): Promise<void> =>
  add(tx, {
    task: 'obey-label',
    payload,
    inMs,
    key: `label:${payload.repositoryId}:${payload.number}:${payload.label}`,
  });

/** Removes test branches that nobody needs any more; a key of its own, so that it never delays a start. */
export const enqueueTidy = (tx: Tx, queueId: QueueId, inMs: number): Promise<void> =>
  add(tx, {
    task: 'publish-runs',
    payload: { queueId },
    key: `tidy:${queueId}`,
    inMs,
    keepsTime: true,
    priority: later,
  });

/** Ends the CI of the sandbox host for what was pushed to a branch. */
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

// In a queue of the library's: uploads of a repository are read by one at a time, because a second would only wait for
// its lock.
const addIngest = statement<[payload: string, name: string], { id: string | null }>(`
  select (graphile_worker.add_job('ingest-upload', $1::json, job_key := $2, queue_name := $2, max_attempts := 20)).id as id`);

/** How often to add what a worker took in the middle of the addition: then the answer is without a job. */
const triesMax = 10;

/** Reads an upload that was stored; in the transaction that says so. One pending job reads all that is stored by then. */
export async function enqueueIngest(tx: Tx, payload: JobPayloads['ingest-upload']): Promise<void> {
  const text = JSON.stringify(payload);
  for (let tries = 0; tries < triesMax; tries++)
    if ((await addIngest(tx, text, `ingest:${payload.repositoryId}`)).every((job) => job.id !== null)) return;
  assert(false, 'a job is added, if not at once');
}

// A part of the queues at a time, in rising order: the rows are locked until it ends. One that a worker takes in the
// middle of the addition is being swept now.
const addIdleSweeps = statement<[after: string], { queue_id: string }>(`
  select q.id as queue_id from (select id from queue where deleted_at is null and id > $1 order by id limit 500) q
  cross join lateral graphile_worker.add_job('sweep-queue', json_build_object('queueId', q.id::text),
    job_key := 'sweep-queue:' || q.id::text, job_key_mode := 'preserve_run_at',
    run_at := now() + random() * interval '50 minutes', max_attempts := 20, priority := ${later}) as added`);

/** Every queue within the hour. */
export async function enqueueIdleSweeps(tx: Tx): Promise<void> {
  let after: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (after !== undefined) after = (await addIdleSweeps(tx, after)).at(-1)?.queue_id;
}

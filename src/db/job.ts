// Jobs are added in the transaction that makes them necessary: they exist if and only if it commits.

import { assert } from '#base/assert.ts';
import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';

type OfQueue = { readonly queueId: QueueId };
/** Work at a host; `tries`: how often it was put off because the host did not answer. */
type AtHost = OfQueue & { readonly tries?: number };

/** What the worker can be asked to do, with what it needs to know. */
export type JobPayloads = {
  'reconcile-queue': OfQueue;
  'refresh-pull-request': { readonly repositoryId: RepositoryId; readonly prNumber: number };
  'publish-runs': AtHost;
  land: AtHost & { readonly number: number };
  'sweep-queue': AtHost;
  'probe-entries': AtHost;
  'sandbox-ci': { readonly repositoryId: RepositoryId; readonly branch: string; readonly sha: string };
};

// A burst of signals folds into one pending job. Its row is locked by whoever adds to it, so a run that starts later
// sees every fact that was committed with it. A reconcile is retried for about a day with growing pauses.
export const addReconcileStatement = `
  select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', $1::text),
    job_key := $2, run_at := $3, max_attempts := 20)`;

const addReconcile = statement<[queueId: string, jobKey: string, runAt: Date | null]>(addReconcileStatement);

/**
 * Marks a queue dirty: the worker reads it whole and plans it anew. Only for those who hold a lock of the queue: a look
 * that has just begun waits for it, and so sees what they write. Others ask for enqueueReconciles.
 */
export const enqueueReconcile = (tx: Tx, { queueId }: QueueLock): Promise<unknown> =>
  addReconcile(tx, queueId, `reconcile:${queueId}`, null);

/** How often to add what a worker took in the middle of the addition. */
const triesMax = 10;

/**
 * The library first frees the key of a job that has begun, then adds. Where a worker takes the pending job between the
 * two, nothing is added, and what was to be told is lost if the job has read already. It answers with no job then, and
 * the second time the key is free.
 */
async function surely(add: () => Promise<readonly { readonly id: string | null }[]>): Promise<void> {
  for (let tries = 0; tries < triesMax; tries++) if ((await add()).every((job) => job.id !== null)) return;
  assert(false, 'a job is added, if not at once');
}

// One after the other in the order of their ids: each locks a row, and two that lock many must never wait in a circle.
const addReconciles = statement<[queueIds: string], { queue_id: QueueId; id: string | null }>(`
  select q.id as queue_id, added.id
  from (select id from unnest($1::uuid[]) as id order by id) q
  cross join lateral graphile_worker.add_job('reconcile-queue', json_build_object('queueId', q.id::text),
    job_key := 'reconcile:' || q.id::text, max_attempts := 20) as added`);

/** Marks queues dirty. */
export async function enqueueReconciles(tx: Tx, queueIds: readonly QueueId[]): Promise<void> {
  let missing = queueIds;
  for (let tries = 0; missing.length > 0; tries++) {
    assert(tries < triesMax, 'jobs are added, if not at once');
    const answers = await addReconciles(tx, `{${missing.join(',')}}`);
    missing = answers.flatMap((answer) => (answer.id === null ? [answer.queue_id] : []));
  }
}

// Adding a job writes a row and its indexes even where it changes nothing, and most looks ask for what the look before
// asked for. A job that is not due for a while cannot begin before this transaction ends.
const isThere = (condition: string): string => `
  exists (select from graphile_worker.jobs j where j.key = $2 and j.locked_at is null and j.attempts = 0
    and j.run_at > now() + interval '10 seconds' and ${condition})`;

type Added = { readonly id: string | null };

const addWakeUp = statement<[queueId: string, jobKey: string, runAt: Date], Added>(`
  select (graphile_worker.add_job('reconcile-queue', json_build_object('queueId', $1::text),
    job_key := $2, run_at := $3, max_attempts := 20)).id as id where not ${isThere('j.run_at = $3')}`);

/** Looks at a queue again at an instant; a key of its own, so that it never delays a pending look. */
export const enqueueWakeUp = (tx: Tx, queueId: QueueId, at: Date): Promise<unknown> =>
  surely(() => addWakeUp(tx, queueId, `wake:${queueId}`, at));

const addRefresh = statement<[repositoryId: string, prNumber: number, jobKey: string], Added>(
  `select (graphile_worker.add_job('refresh-pull-request',
    json_build_object('repositoryId', $1::text, 'prNumber', $2::bigint), job_key := $3, max_attempts := 20)).id as id`,
);

/** Asks the host for a pull request anew. */
export const enqueueRefresh = (tx: Tx, repositoryId: RepositoryId, prNumber: number): Promise<unknown> =>
  surely(() => addRefresh(tx, repositoryId, prNumber, `refresh:${repositoryId}:${prNumber}`));

/** What can wait is done when nothing else is due. */
const later = 10;

const addJob = statement<[task: string, payload: string, jobKey: string, runAt: Date | null], Added>(`
  select (graphile_worker.add_job($1, $2::json, job_key := $3, run_at := $4, max_attempts := 20,
    priority := case when $1 = 'sweep-queue' then ${later} else 0 end)).id as id`);

type HostTask = 'publish-runs' | 'land' | 'sweep-queue' | 'probe-entries';

const hostJobKey = (task: HostTask, { queueId, ...rest }: AtHost & { readonly number?: number }): string =>
  `${task}:${queueId}${rest.number === undefined ? '' : `:${rest.number}`}`;

/** Work at a host, at once or at an instant: the last word on when counts. */
export const enqueueAtHost = <Task extends HostTask>(
  tx: Tx,
  task: Task,
  payload: JobPayloads[Task],
  at: Date | null = null,
): Promise<unknown> => surely(() => addJob(tx, task, JSON.stringify(payload), hostJobKey(task, payload), at));

const addJobBy = statement<[task: string, jobKey: string, runAt: Date, payload: string], Added>(`
  select (graphile_worker.add_job($1, $4::json, job_key := $2, run_at := $3, max_attempts := 20,
    job_key_mode := 'preserve_run_at', priority := ${later})).id as id
  where not ${isThere('j.run_at <= $3')}`);

/** Work that is due by an instant: one that is due earlier already stays as it is. */
export const enqueueBy = <Task extends HostTask>(
  tx: Tx,
  task: Task,
  payload: JobPayloads[Task],
  at: Date,
): Promise<unknown> =>
  surely(() => addJobBy(tx, task, hostJobKey(task, payload), at, JSON.stringify(payload)));

const addIdleSweeps = statement<[]>(`
  select graphile_worker.add_jobs(array(
    select row('sweep-queue', json_build_object('queueId', id::text), null, now() + random() * interval '50 minutes',
      20, 'sweep-queue:' || id::text, ${later}, null)::graphile_worker.job_spec
    from queue where deleted_at is null order by id), job_key_preserve_run_at := true)`);

/** Every queue within the hour; one that is due earlier anyway stays as it is. */
export const enqueueIdleSweeps = (tx: Tx): Promise<unknown> => addIdleSweeps(tx);

const addTidy = statement<[queueId: string, jobKey: string, runAt: Date], Added>(`
  select (graphile_worker.add_job('publish-runs', json_build_object('queueId', $1::text), job_key := $2,
    run_at := $3, max_attempts := 20, job_key_mode := 'preserve_run_at', priority := ${later})).id as id`);

/** Removes test branches that nobody needs any more; a key of its own, so that it never delays a start. */
export const enqueueTidy = (tx: Tx, queueId: QueueId, at: Date): Promise<unknown> =>
  surely(() => addTidy(tx, queueId, `tidy:${queueId}`, at));

const addSandboxCi = statement<[payload: string, jobKey: string, delayMs: number], Added>(`
  select (graphile_worker.add_job('sandbox-ci', $1::json, job_key := $2,
    run_at := now() + make_interval(secs => $3::float8 / 1000), max_attempts := 20)).id as id`);

/** Ends the CI of the sandbox host for what was pushed to a branch. */
export const enqueueSandboxCi = (
  tx: Tx,
  payload: JobPayloads['sandbox-ci'],
  delayMs: number,
): Promise<unknown> =>
  surely(() =>
    addSandboxCi(
      tx,
      JSON.stringify(payload),
      `sandbox-ci:${payload.repositoryId}:${payload.sha}:${payload.branch}`,
      delayMs,
    ),
  );

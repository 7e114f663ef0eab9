// Jobs are added in the transaction that makes them necessary: they exist if and only if it commits.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

/** What the worker can be asked to do, with what it needs to know. */
export type JobPayloads = {
  'reconcile-queue': { readonly queueId: QueueId };
  'refresh-pull-request': { readonly repositoryId: RepositoryId; readonly prNumber: number };
};

// A burst of signals folds into one pending job. Its row is locked by whoever adds to it, so a run that starts later
// sees every fact that was committed with it. A reconcile is retried for about a day with growing pauses.
export const addReconcileStatement = `
  select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', $1::text),
    job_key := $2, run_at := $3, max_attempts := 20)`;

const addReconcile = statement<[queueId: string, jobKey: string, runAt: Date | null]>(addReconcileStatement);

/** Marks a queue dirty: the worker reads it whole and plans it anew. */
export const enqueueReconcile = (tx: Tx, queueId: QueueId): Promise<unknown> =>
  addReconcile(tx, queueId, `reconcile:${queueId}`, null);

/** Looks at a queue again at an instant; a key of its own, so that it never delays a pending look. */
export const enqueueWakeUp = (tx: Tx, queueId: QueueId, at: Date): Promise<unknown> =>
  addReconcile(tx, queueId, `wake:${queueId}`, at);

const addRefresh = statement<[repositoryId: string, prNumber: number, jobKey: string]>(
  `select graphile_worker.add_job('refresh-pull-request',
    json_build_object('repositoryId', $1::text, 'prNumber', $2::bigint), job_key := $3, max_attempts := 20)`,
);

/** Asks the host for a pull request anew. */
export const enqueueRefresh = (tx: Tx, repositoryId: RepositoryId, prNumber: number): Promise<unknown> =>
  addRefresh(tx, repositoryId, prNumber, `refresh:${repositoryId}:${prNumber}`);

// Notices that a queue changed. The transaction that makes the change sends the notice; it arrives at the
// commit.
//
// Everything recorded about a queue marks it dirty (db/job/job.ts), and saveReconciliation saves the result
// of a reconcile: both send the notice with or beside a statement that they send anyway. Check updates that
// decide nothing send their own. PostgreSQL delivers equal notices of one transaction once.

import type { QueueId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

export const queueChannel = 'signalbox_queue';

/** As a column of a statement; `id`: an expression of type text. */
export const noticeColumn = (id: string): string => `pg_notify('${queueChannel}', ${id})`;

const notify = statement<[queueId: string]>(`select ${noticeColumn('$1')}`);

export const noticeQueue = (tx: Tx, queueId: QueueId): Promise<unknown> => notify(tx, queueId);

const notifyAll = statement<[queueIds: string]>(`select ${noticeColumn('id')} from unnest($1::text[]) as id`);

export const noticeQueues = (tx: Tx, queueIds: readonly QueueId[]): Promise<unknown> =>
  notifyAll(tx, `{${[...new Set(queueIds)].join(',')}}`);

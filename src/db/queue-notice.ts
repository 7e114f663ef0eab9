// Word that something of a queue changed, sent by the transaction that changes it and heard when it commits.
//
// Whatever is recorded about a queue marks it dirty (db/job.ts), and what a look makes of it is saved by saveLook: both
// send word in a statement they send anyway or beside it. Words on checks that decide nothing do so by themselves. The
// same word twice in a transaction is heard once.

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

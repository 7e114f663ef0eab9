// Reads the heads of the entries of a queue, with the review of each.

import type { QueueId } from '#base/id.ts';
import type { Entry } from '#core/queue/model.ts';
import type { Tx } from '../cell.ts';
import { type AtHostRow, atHostColumns, type QueueAtHost, toQueueAtHost } from './host-view.ts';
import { entryColumns, toEntry, type EntryRow } from '../row.ts';
import { statement } from '../statement.ts';

export type ReviewedHead = Pick<Entry, 'pullRequest' | 'headReview'>;

export type HeadsAtHost = QueueAtHost & { readonly heads: readonly ReviewedHead[] };

const selectQueue = statement<[queueId: string], AtHostRow>(`
  select ${atHostColumns} from queue q join repository r on r.id = q.repository_id
  where q.id = $1 and q.deleted_at is null`);

const selectHeads = statement<[queueId: string, prNumber: number | null], EntryRow>(`
  select ${entryColumns} from queue_entry e
  where e.queue_id = $1 and e.line_rank is not null and ($2::bigint is null or e.pr_number = $2)
  order by e.seniority`);

/** The heads of all open entries; null if the queue does not exist any more. */
export async function loadHeads(
  db: Tx,
  queueId: QueueId,
  prNumber: number | null = null,
): Promise<HeadsAtHost | null> {
  const [queues, heads] = await Promise.all([selectQueue(db, queueId), selectHeads(db, queueId, prNumber)]);
  const [queue] = queues;
  return queue === undefined ? null : { ...toQueueAtHost(queue), heads: heads.map(toEntry) };
}

/** The head of one pull request; null if it is not in the queue. */
export async function findReviewedHead(
  db: Tx,
  queueId: QueueId,
  prNumber: number,
): Promise<(QueueAtHost & { readonly head: ReviewedHead }) | null> {
  const found = await loadHeads(db, queueId, prNumber);
  const head = found?.heads[0];
  return found === null || head === undefined ? null : { ...found, head };
}

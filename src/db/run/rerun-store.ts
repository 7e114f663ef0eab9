// Writes rerun_at and rerun_refusal of test_run: the failed jobs of a run run again on the same commit.

import type { QueueId } from '#base/id.ts';
import type { Reconciliation } from '#core/queue/engine/reconcile.ts';
import type { Tx } from '../cell.ts';
import { atHostColumns, type AtHostRow, type QueueAtHost, toQueueAtHost } from '../host/host-view.ts';
import { statement } from '../statement.ts';

const updateRequested = statement<[queueId: string, numbers: string, at: Date]>(`
  update test_run set rerun_at = $3, rerun_refusal = null
  where queue_id = $1 and number = any ($2::bigint[]) and status = 'in_progress'`);

export const recordReruns = (
  tx: Tx,
  queueId: QueueId,
  reruns: Reconciliation['reruns'],
  now: Date,
): Promise<unknown> => updateRequested(tx, queueId, `{${reruns.map(({ run }) => run).join(',')}}`, now);

type RerunRow = AtHostRow & { readonly test_branch_sha: string };

const selectRerun = statement<[queueId: string, number: number], RerunRow>(`
  select ${atHostColumns}, t.test_branch_sha from test_run t join queue q on q.id = t.queue_id
  join repository r on r.id = q.repository_id
  where t.queue_id = $1 and t.number = $2 and t.status = 'in_progress' and t.rerun_at is not null
    and t.rerun_refusal is null and t.test_branch_sha is not null and q.deleted_at is null`);

/** The commit of a run whose failed jobs are to run again; null: they are not any more. */
export async function loadRerun(
  db: Tx,
  queueId: QueueId,
  number: number,
): Promise<(QueueAtHost & { readonly sha: string }) | null> {
  const [row] = await selectRerun(db, queueId, number);
  return row === undefined ? null : { ...toQueueAtHost(row), sha: row.test_branch_sha };
}

const updateRefused = statement<[queueId: string, number: number, reason: string]>(`
  update test_run set rerun_refusal = $3 where queue_id = $1 and number = $2 and status = 'in_progress'`);

export const recordRerunRefused = (
  tx: Tx,
  queueId: QueueId,
  number: number,
  reason: string,
): Promise<unknown> => updateRefused(tx, queueId, number, reason);

// The open entries of a queue as a reconcile reads them: those that are in the queue, and those that the
// planner still remembers because they ended after the last reconcile.
//
// A queue is read whole, unless it is long. Reading 10,000 rows takes longer than everything else in a
// reconcile, and hardly any of them has changed since the reconcile before. So the worker keeps the entries
// of long queues (kept-entries.ts) and reads those that changed. PostgreSQL knows which ones did: every
// version of a row carries the number of the transaction that wrote it (`xmin`). A row written since the last
// read was written by a transaction that had not ended at that time, and no such transaction has a number
// below the `horizon` of that read, the oldest transaction that was running. No writer has to take part in
// this, so none can be forgotten, and a release that does not know of it changes nothing.

import type { QueueId } from '#base/id.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { Tx } from '../cell.ts';
import type { KeptEntries } from './kept-entries.ts';
import type { Horizon, OpenEntry } from './open-entry.ts';
import { plannedColumns, toPlannedEntry, type PlannedRow } from '../row.ts';
import { statement } from '../statement.ts';
import { type StoredItemRow, toStoredItem } from '../stored-item.ts';

type OpenRow = PlannedRow & {
  plan: StoredItemRow | null;
  probed_tip: string | null;
  tested_on_tip: string | null;
  line_rank: number | null;
  line_major: number | null;
  line_minor: number | null;
  targets_at: Date | null;
  impacts_all: boolean | null;
  status_comment_due: OpenEntry['statusCommentDue'];
  is_state_posted: boolean;
};

const isOpen = '(e.line_rank is not null or e.plan is not null)';

const columns = `${plannedColumns}, e.plan, e.probed_tip, e.tested_on_tip, e.line_rank, e.line_major, e.line_minor,
    i.uploaded_at as targets_at, i.impacts_all, coalesce(l.posted_state_at = e.state_changed_at, false) as is_state_posted,
    case when l.posted_state_at is null then 'soon'
      when l.posted_state_at = e.state_changed_at then case e.state when 'not_ready' then 'later' else 'not' end
      when e.concluded_at is not null then 'soon' else 'later' end as status_comment_due
  from queue_entry e join queue q on q.id = e.queue_id
  left join status_comment l on l.queue_id = e.queue_id and l.pr_number = e.pr_number
  left join impacted_targets i on i.repository_id = q.repository_id and i.pr_number = e.pr_number
    and i.head_sha = e.pr_sha`;

const selectOpen = statement<[queueId: string], OpenRow>(`
  select ${columns} where e.queue_id = $1 and ${isOpen} order by e.seniority`);

const selectSome = statement<[queueId: string, numbers: readonly number[]], OpenRow>(`
  select ${columns} where e.queue_id = $1 and e.pr_number = any ($2::bigint[]) and ${isOpen} order by e.seniority`);

const selectNumbers = statement<[queueId: string], { numbers: number[] | null }>(`
  select array_agg(e.pr_number) as numbers from queue_entry e where e.queue_id = $1 and ${isOpen}`);

/** A restored or copied database, or another server, counts differently: kept entries are then invalid. */
export const horizonColumns = `pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
    extract(epoch from pg_postmaster_start_time()) || ' ' || (select oid from pg_database where datname = current_database())
      as incarnation`;

type ChangedRow = Horizon & { count: number; changed: number[] | null };

// A transaction number in a row has 32 bits: `age` compares them by their distance from the present.
const selectChanged = statement<[queueId: string, since: string], ChangedRow>(`
  select ${horizonColumns}, count(*) as count,
    array_agg(e.pr_number) filter (where age(e.xmin) <= age($2::xid)) as changed
  from queue_entry e where e.queue_id = $1 and ${isOpen}`);

export const readOpenEntries = async (tx: Tx, queueId: QueueId): Promise<readonly OpenEntry[]> =>
  (await selectOpen(tx, queueId)).map(toOpenEntry);

/** How many unreported entries each reconcile reads again: status comments are posted one after the other. */
const unreportedMax = 50;

const transactionNumber = (horizon: string): string => String(BigInt(horizon) % 2n ** 32n);

/** Updates the kept entries of a queue; null: that is not possible, and the queue must be read whole. */
export async function renewOpenEntries(
  tx: Tx,
  queueId: QueueId,
  kept: KeptEntries,
): Promise<readonly OpenEntry[] | null> {
  const [found] = await selectChanged(tx, queueId, transactionNumber(kept.horizon));
  if (found?.incarnation !== kept.incarnation) return null;
  const again = new Set([
    ...(found.changed ?? []),
    ...kept.closing,
    ...kept.listDueStatusComments(unreportedMax),
  ]);
  const rows = again.size === 0 ? [] : await selectSome(tx, queueId, [...again]);
  kept.renew([...again], rows.map(toOpenEntry), found.horizon);
  if (kept.size !== found.count) {
    // Another worker reconciled the queue, and the entries that it concluded are not open any more.
    const [open] = await selectNumbers(tx, queueId);
    kept.keepOnly(open?.numbers ?? []);
  }
  return kept.size === found.count ? kept.inOrder() : null;
}

function toOpenEntry(row: OpenRow): OpenEntry {
  const { line_rank: rank, line_major: major, line_minor: minor } = row;
  return {
    shown: {
      entry: toPlannedEntry(row),
      stored: toStoredItem(row.plan),
      targets: row.targets_at === null ? null : { at: row.targets_at.getTime(), set: 'ALL' },
      probedTip: row.probed_tip,
      testedOnTip: row.tested_on_tip,
    },
    place:
      rank === null || major === null || minor === null
        ? null
        : { rank: rank as LinePlace['rank'], major, minor },
    statusCommentDue: row.status_comment_due,
    isStatePosted: row.is_state_posted,
    hasTargets: row.targets_at !== null && row.impacts_all === false,
  };
}

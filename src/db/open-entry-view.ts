// The open entries of a queue as a reconcile reads them: those that are in the queue, and those that the planner still
// remembers because they ended since it last looked.
//
// A queue is read whole, unless it is long. Reading 10,000 rows takes longer than everything else in a reconcile, and hardly
// any of them has changed since the reconcile before. So the worker keeps the entries of long queues (kept-entries.ts) and
// reads those that changed. Which ones did, PostgreSQL knows: every version of a row carries the number of the transaction
// that wrote it (`xmin`). Whatever was written since the last read was written by a transaction that had not ended at that
// time, and no number of such a transaction is below the `horizon` of that read, the oldest one that was under way. No
// writer has to take part in this, so none can be forgotten, and a release that does not know of it changes nothing.

import type { QueueId } from '#base/id.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { PictureEntry } from '#core/queue/engine/picture.ts';
import type { StoredItem } from '#core/queue/engine/stored.ts';
import type { Tx } from './cell.ts';
import type { KeptEntries } from './kept-entries.ts';
import { plannedColumns, plannedEntryOf, type PlannedRow } from './row.ts';
import { statement } from './statement.ts';

type OpenRow = PlannedRow & {
  plan: StoredItem | null;
  probed_tip: string | null;
  tested_on_tip: string | null;
  line_rank: number | null;
  line_major: number | null;
  line_minor: number | null;
  targets_at: Date | null;
  impacts_all: boolean | null;
  untold: OpenEntry['untold'];
  is_told: boolean;
};

/** An entry, with what a reconcile needs of it beside the picture. */
export type OpenEntry = {
  readonly shown: PictureEntry;
  /** As the row holds it now; null: it is not in the queue. */
  readonly place: LinePlace | null;
  /** Whether its pull request is to be told where it stands; soon, if its attempt begins or has ended. */
  readonly untold: 'not' | 'soon' | 'later';
  /** It was told of its present state. */
  readonly isTold: boolean;
  /** Impacted targets that are read by their own way, where the queue has lanes. */
  readonly hasTargets: boolean;
};

const isOpen = '(e.line_rank is not null or e.plan is not null)';

const columns = `${plannedColumns}, e.plan, e.probed_tip, e.tested_on_tip, e.line_rank, e.line_major, e.line_minor,
    i.uploaded_at as targets_at, i.impacts_all, coalesce(l.told_at = e.state_changed_at, false) as is_told,
    case when l.told_at is null then 'soon'
      when l.told_at = e.state_changed_at then case e.state when 'not_ready' then 'later' else 'not' end
      when e.concluded_at is not null then 'soon' else 'later' end as untold
  from entry e join queue q on q.id = e.queue_id
  left join telling l on l.queue_id = e.queue_id and l.pr_number = e.pr_number
  left join impacted_targets i on i.repository_id = q.repository_id and i.pr_number = e.pr_number
    and i.head_sha = e.pr_sha`;

const selectOpen = statement<[queueId: string], OpenRow>(`
  select ${columns} where e.queue_id = $1 and ${isOpen} order by e.seniority`);

const selectSome = statement<[queueId: string, numbers: readonly number[]], OpenRow>(`
  select ${columns} where e.queue_id = $1 and e.pr_number = any ($2::bigint[]) and ${isOpen} order by e.seniority`);

const selectNumbers = statement<[queueId: string], { numbers: number[] | null }>(`
  select array_agg(e.pr_number) as numbers from entry e where e.queue_id = $1 and ${isOpen}`);

/** Another server, a restored database and a copy of one count transactions anew: nothing that was kept is about them. */
export const horizonColumns = `pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
    extract(epoch from pg_postmaster_start_time()) || ' ' || (select oid from pg_database where datname = current_database())
      as incarnation`;

export type Horizon = { readonly horizon: string; readonly incarnation: string };

type ChangedRow = Horizon & { count: number; changed: number[] | null };

// A transaction number in a row has 32 bits: `age` compares them by their distance from the present.
const selectChanged = statement<[queueId: string, since: string], ChangedRow>(`
  select ${horizonColumns}, count(*) as count,
    array_agg(e.pr_number) filter (where age(e.xmin) <= age($2::xid)) as changed
  from entry e where e.queue_id = $1 and ${isOpen}`);

export const readOpenEntries = async (tx: Tx, queueId: QueueId): Promise<readonly OpenEntry[]> =>
  (await selectOpen(tx, queueId)).map(openEntryOf);

/** How many of those that were not told are looked at again each time: they are told one after the other. */
const untoldMax = 50;

const transactionNumber = (horizon: string): string => String(BigInt(horizon) % 2n ** 32n);

/** Brings what is kept of a queue up to the present; null: it cannot be, and the queue is to be read whole. */
export async function renewOpenEntries(
  tx: Tx,
  queueId: QueueId,
  kept: KeptEntries,
): Promise<readonly OpenEntry[] | null> {
  const [found] = await selectChanged(tx, queueId, transactionNumber(kept.horizon));
  if (found?.incarnation !== kept.incarnation) return null;
  const again = new Set([...(found.changed ?? []), ...kept.closing, ...kept.untold(untoldMax)]);
  const rows = again.size === 0 ? [] : await selectSome(tx, queueId, [...again]);
  kept.renew([...again], rows.map(openEntryOf), found.horizon);
  if (kept.size !== found.count) {
    // Another worker was here, and what it ended is not open any more.
    const [open] = await selectNumbers(tx, queueId);
    kept.keepOnly(open?.numbers ?? []);
  }
  return kept.size === found.count ? kept.inOrder() : null;
}

function openEntryOf(row: OpenRow): OpenEntry {
  const { line_rank: rank, line_major: major, line_minor: minor } = row;
  return {
    shown: {
      entry: plannedEntryOf(row),
      stored: row.plan,
      targets: row.targets_at === null ? null : { at: row.targets_at.getTime(), set: 'ALL' },
      probedTip: row.probed_tip,
      testedOnTip: row.tested_on_tip,
    },
    place:
      rank === null || major === null || minor === null
        ? null
        : { rank: rank as LinePlace['rank'], major, minor },
    untold: row.untold,
    isTold: row.is_told,
    hasTargets: row.targets_at !== null && row.impacts_all === false,
  };
}

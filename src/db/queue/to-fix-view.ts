// Pull requests of an organization that only a person can bring further: those that failed lately and were not submitted
// again, and those that are not ready. What is read of a queue is bounded by these, not by its history.

import type { OrganizationId } from '#base/id.ts';
import type { Queue } from '#core/queue/model.ts';
import type { EntryStatus } from '#core/queue/text/entry-status.ts';
import type { RepositoryName } from '#core/repository.ts';
import {
  hasTargetsColumn,
  positionColumn,
  statusColumns,
  type StatusRow,
  toEntryStatus,
} from '../account/scope-view.ts';
import type { Tx } from '../cell.ts';
import { entryColumns, type EntryRow, queueColumns, type QueueRow, toQueue } from '../row.ts';
import { statement } from '../statement.ts';

type ToFixRow = QueueRow & EntryRow & StatusRow & { host: string; owner: string; name: string };

const candidate = 'c.queue_id, c.pr_number, c.state_changed_at';
const isOfAuthor = '($2::text is null or lower(c.pr_author) = lower($2))';

// The few that are answered are chosen before anything else is read of them.
const selectToFix = statement<
  [organizationId: string, author: string | null, failedSince: Date, take: number],
  ToFixRow
>(`
  with chosen as materialized (
    select c.queue_id, c.pr_number from repository r
    join queue q on q.repository_id = r.id and q.deleted_at is null
    cross join lateral (
      (select ${candidate} from queue_entry c
        where c.queue_id = q.id and c.concluded_at >= $3 and c.state = 'failed' and ${isOfAuthor}
        order by c.concluded_at desc limit $4)
      union all
      (select ${candidate} from queue_entry c
        where c.queue_id = q.id and c.line_rank = 2 and ${isOfAuthor}
        order by c.state_changed_at desc limit $4)
    ) c
    where r.organization_id = $1
    order by c.state_changed_at desc, c.pr_number limit $4
  )
  select r.host, r.owner, r.name, ${queueColumns}, ${entryColumns}, ${hasTargetsColumn}, ${positionColumn}, ${statusColumns}
  from chosen c
  join queue_entry e on e.queue_id = c.queue_id and e.pr_number = c.pr_number
  join queue q on q.id = e.queue_id join repository r on r.id = q.repository_id
  order by e.state_changed_at desc, e.pr_number`);

type ToFixFilter = {
  readonly organizationId: OrganizationId;
  /** Null: of all authors. */
  readonly author: string | null;
  readonly failedSince: Date;
};

export type ListedToFix = {
  readonly repository: RepositoryName;
  readonly queue: Queue;
  readonly status: EntryStatus;
};

/** Latest change first; never of another organization. */
export async function listToFix(
  db: Tx,
  { organizationId, author, failedSince }: ToFixFilter,
  take: number,
): Promise<readonly ListedToFix[]> {
  const rows = await selectToFix(db, organizationId, author, failedSince, take);
  return rows.map((row) => ({
    repository: { host: row.host, owner: row.owner, name: row.name },
    queue: toQueue(row),
    status: toEntryStatus(row),
  }));
}

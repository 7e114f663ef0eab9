// Reads and writes queue_diagnosis: what the doctor found for a queue last.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** Finding: host/finding.ts, as the contract shows it. */
type StoredFinding = {
  readonly verdict: 'right' | 'wrong' | 'warning';
  readonly what: string;
  readonly fix: string | null;
};

export type StoredDiagnosis = {
  readonly findings: readonly StoredFinding[];
  readonly untriggered: readonly string[];
};

const upsert = statement<[queueId: string, at: Date, findings: string, untriggered: string]>(`
  insert into queue_diagnosis (queue_id, checked_at, findings, untriggered) values ($1, $2, $3, $4)
  on conflict (queue_id) do update
    set checked_at = excluded.checked_at, findings = excluded.findings, untriggered = excluded.untriggered
    where queue_diagnosis.checked_at <= excluded.checked_at`);

/** Keeps a later one. */
export const saveDiagnosis = (
  tx: Tx,
  queueId: QueueId,
  { findings, untriggered }: StoredDiagnosis,
  at: Date,
): Promise<unknown> => upsert(tx, queueId, at, JSON.stringify(findings), JSON.stringify(untriggered));

const select = statement<[queueId: string], StoredDiagnosis & { readonly checked_at: Date }>(
  `select checked_at, findings, untriggered from queue_diagnosis where queue_id = $1`,
);

/** Null: the doctor has not checked the queue yet. */
export async function findDiagnosis(
  db: Tx,
  queueId: QueueId,
): Promise<(StoredDiagnosis & { readonly checkedAt: Date }) | null> {
  const [row] = await select(db, queueId);
  return row === undefined
    ? null
    : { findings: row.findings, untriggered: row.untriggered, checkedAt: row.checked_at };
}

const selectStale = statement<[before: Date, take: number], { id: string }>(`
  select q.repository_id as id from queue q left join queue_diagnosis d on d.queue_id = q.id
  where q.deleted_at is null and (d.checked_at is null or d.checked_at < $1)
  group by q.repository_id order by min(d.checked_at) nulls first, q.repository_id limit $2`);

/** Repositories with a queue that was not checked since then, the longest ago first. */
export async function listStaleRepositories(
  db: Tx,
  before: Date,
  take: number,
): Promise<readonly RepositoryId[]> {
  return (await selectStale(db, before, take)).map(({ id }) => id as RepositoryId);
}

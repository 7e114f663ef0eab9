// Writes and reads repository_mirror: which worker has which repository on its disk, and the progress of
// first fetches. Only the database's clock is compared.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** The progress of the first fetch of a repository. */
export type RepositoryFetch = {
  /** Null: unknown yet. */
  readonly percent: number | null;
  readonly receivedBytes: number;
};

type MirrorProgressArgs = [
  repositoryId: string,
  workerId: string,
  isReady: boolean,
  percent: number | null,
  bytes: number,
];

const upsertMirror = statement<MirrorProgressArgs>(`
  insert into repository_mirror (repository_id, worker_id, is_ready, percent, received_bytes)
  values ($1, $2, $3, $4, $5)
  on conflict (repository_id, worker_id) do update set is_ready = excluded.is_ready, percent = excluded.percent,
    received_bytes = excluded.received_bytes, seen_at = now()`);

export async function recordFetching(
  db: Tx,
  repositoryId: RepositoryId,
  workerId: string,
  { percent, receivedBytes }: RepositoryFetch,
): Promise<void> {
  await upsertMirror(db, repositoryId, workerId, false, percent, Math.round(receivedBytes));
}

export async function recordReady(db: Tx, repositoryId: RepositoryId, workerId: string): Promise<void> {
  await upsertMirror(db, repositoryId, workerId, true, null, 0);
}

const touchRows = statement<[workerId: string]>(
  `update repository_mirror set seen_at = now() where worker_id = $1 and is_ready`,
);
const deleteLongUnseen = statement<[]>(
  `delete from repository_mirror where seen_at < now() - interval '1 day'`,
);

/** Confirms the mirrors of this worker, and removes those of workers that ended long ago. */
export async function touchMirrors(db: Tx, workerId: string): Promise<void> {
  await touchRows(db, workerId);
  await deleteLongUnseen(db);
}

const deleteOne = statement<[repositoryId: string, workerId: string]>(
  `delete from repository_mirror where repository_id = $1 and worker_id = $2`,
);
const deleteAll = statement<[workerId: string]>(`delete from repository_mirror where worker_id = $1`);

export async function forgetMirror(db: Tx, repositoryId: RepositoryId, workerId: string): Promise<void> {
  await deleteOne(db, repositoryId, workerId);
}

export async function forgetWorker(db: Tx, workerId: string): Promise<void> {
  await deleteAll(db, workerId);
}

const seen = `seen_at > now() - interval '1 minute'`;

const selectElsewhere = statement<[repositoryId: string, workerId: string], { is_there: boolean }>(`
  select exists (select from repository_mirror
    where repository_id = $1 and worker_id <> $2 and is_ready and ${seen}) as is_there`);

/** Whether another running worker has the repository. */
export async function isReadyElsewhere(
  db: Tx,
  repositoryId: RepositoryId,
  workerId: string,
): Promise<boolean> {
  return (await selectElsewhere(db, repositoryId, workerId))[0]?.is_there === true;
}

const selectFetch = statement<[repositoryId: string], { percent: number | null; received_bytes: string }>(`
  select percent, received_bytes from repository_mirror m where repository_id = $1 and not is_ready and ${seen}
    and not exists (select from repository_mirror
      where repository_id = $1 and is_ready and ${seen})
  order by percent desc nulls last limit 1`);

/** Null unless the repository is being fetched for the first time, and no worker has it yet. */
export async function readRepositoryFetch(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<RepositoryFetch | null> {
  const [row] = await selectFetch(db, repositoryId);
  return row === undefined ? null : { percent: row.percent, receivedBytes: Number(row.received_bytes) };
}

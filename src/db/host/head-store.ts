// Writes pull_request_head: the heads of pull requests, and since when each was the head.

import type { RepositoryId } from '#base/id.ts';
import type { KnownHead } from '#core/queue/rule/authority.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

// The earlier time is kept: a webhook may be sent twice.
const upsertHead = statement<[repositoryId: string, number: number, sha: string, since: Date | null]>(`
  insert into pull_request_head (repository_id, pr_number, head_sha, since) values ($1, $2, $3, $4)
  on conflict (repository_id, pr_number, head_sha) do update
    set since = least(pull_request_head.since, excluded.since)`);

export const recordHead = (
  tx: Tx,
  repositoryId: RepositoryId,
  number: number,
  { sha, since }: KnownHead,
): Promise<unknown> => upsertHead(tx, repositoryId, number, sha, since === null ? null : new Date(since));

const selectHeads = statement<
  [repositoryId: string, number: number],
  { head_sha: string; since: Date | null }
>(`
  select head_sha, since from pull_request_head where repository_id = $1 and pr_number = $2
  order by seen_at desc limit 100`);

/** The newest hundred. */
export async function listHeads(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<readonly KnownHead[]> {
  const rows = await selectHeads(db, repositoryId, number);
  return rows.map(({ head_sha, since }) => ({ sha: head_sha, since: since?.getTime() ?? null }));
}

const deleteOld = statement<[before: Date]>('delete from pull_request_head where seen_at < $1');

/** Heads that were deleted are read from the host again. */
export async function forgetHeads(tx: Tx, before: Date): Promise<void> {
  await deleteOld(tx, before);
}

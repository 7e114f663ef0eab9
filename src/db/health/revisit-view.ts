// Tests that time alone can change: with an active monitor, not healthy, quarantined, or with an override that ends.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

const selectRepositories = statement<[now: Date], { repository_id: RepositoryId }>(`
  select repository_id from test_history where active_monitors <> '{}' group by repository_id
  union
  select repository_id from test_case where status <> 'healthy' group by repository_id
  union
  select repository_id from test_case where quarantined_at is not null group by repository_id
  union
  select repository_id from test_case where quarantine_expires_at <= $1 group by repository_id`);

export async function listRepositoriesToRevisit(db: Tx, now: Date): Promise<readonly RepositoryId[]> {
  return (await selectRepositories(db, now)).map((row) => row.repository_id);
}

const selectTests = statement<
  [repositoryId: string, now: Date, after: string, limit: number],
  { id: string }
>(`
  select id from (
    select test_case_id as id from test_history
    where repository_id = $1 and active_monitors <> '{}'
    union
    select id from test_case where repository_id = $1 and status <> 'healthy'
    union
    select id from test_case where repository_id = $1 and quarantined_at is not null
    union
    select id from test_case where repository_id = $1 and quarantine_expires_at <= $2) due
  where id > $3 order by id limit $4`);

/** In the order of their ids, after the given one. */
export async function listTestsToRevisit(
  db: Tx,
  repositoryId: RepositoryId,
  now: Date,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  return (await selectTests(db, repositoryId, now, after, limit)).map((row) => row.id);
}

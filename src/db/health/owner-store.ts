// Writes the owners of tests (test_case.codeowners), and the CODEOWNERS file they come from.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';

const selectFiles = statement<[repositoryId: string, firstOrdinal: number], { file_path: string }>(`
  select distinct file_path from test_case where repository_id = $1 and ordinal >= $2 and file_path is not null`);

/** Files of the tests from a number on. */
export async function listTestFiles(
  db: Tx,
  repositoryId: RepositoryId,
  firstOrdinal: number,
): Promise<readonly string[]> {
  return (await selectFiles(db, repositoryId, firstOrdinal)).map((row) => row.file_path);
}

export type FileOwners = { readonly file: string; readonly owners: readonly string[] };

const updateOwners = statement<[repositoryId: string, firstOrdinal: number, rows: string]>(`
  update test_case c set codeowners = r.owners
  from jsonb_to_recordset($3::jsonb) as r (file text, owners text[])
  where c.repository_id = $1 and c.ordinal >= $2 and c.file_path = r.file and c.codeowners is distinct from r.owners`);

export const putOwners = (
  tx: Tx,
  { repositoryId }: TestsLock,
  firstOrdinal: number,
  rows: readonly FileOwners[],
): Promise<unknown> => updateOwners(tx, repositoryId, firstOrdinal, JSON.stringify(rows));

const updateHash = statement<[repositoryId: string, hash: Buffer]>(
  'update test_numbering set codeowners_hash = $2 where repository_id = $1',
);

export const putOwnersHash = (tx: Tx, { repositoryId }: TestsLock, hash: Buffer): Promise<unknown> =>
  updateHash(tx, repositoryId, hash);

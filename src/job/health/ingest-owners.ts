// Owners of tests, by the CODEOWNERS file that came with the reports. The file may come after the reports in
// a bundle, so owners are written once everything was read: for new tests, and for all tests if the file has
// changed. The file of the default branch counts; until there is one, any trusted file.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RepositoryId } from '#base/id.ts';
import type { Cell } from '#db/cell.ts';
import type { Numbering } from '#db/health/numbering-store.ts';
import { listTestFiles, putOwners, putOwnersHash } from '#db/health/owner-store.ts';
import { withTestsLock } from '#db/transaction.ts';
import type { ReadUpload } from './ingest-read.ts';

/** Time after which other work gets a turn: owners of all tests of a repository are looked up at once. */
const turnMs = 20;

/** `before`: the numbering before the uploads were read. */
export async function writeOwners(
  cell: Cell,
  repositoryId: RepositoryId,
  before: Pick<Numbering, 'nextOrdinal' | 'codeownersHash'>,
  reads: readonly ReadUpload[],
): Promise<void> {
  const { nextOrdinal, codeownersHash } = before;
  const uploadWithOwners = reads.findLast(
    ({ codeowners, upload, about }) =>
      codeowners !== null &&
      upload.trust === 'full' &&
      (about.branchClass === 'default' || codeownersHash === null || codeowners.hash.equals(codeownersHash)),
  );
  const codeowners = uploadWithOwners?.codeowners ?? null;
  if (codeowners === null) return;
  const isSame = codeownersHash !== null && codeowners.hash.equals(codeownersHash);
  const firstOrdinal = isSame ? nextOrdinal : 0;
  const files = await listTestFiles(cell.db, repositoryId, firstOrdinal);
  if (files.length === 0) return;
  const rows: { readonly file: string; readonly owners: readonly string[] }[] = [];
  let turnAt = performance.now();
  for (const file of files) {
    rows.push({ file, owners: codeowners.ownersOf(file) });
    if (performance.now() - turnAt < turnMs) continue;
    await nextTurn();
    turnAt = performance.now();
  }
  await withTestsLock(cell, repositoryId, async (tx, lock) => {
    await putOwners(tx, lock, firstOrdinal, rows);
    await putOwnersHash(tx, lock, codeowners.hash);
  });
}

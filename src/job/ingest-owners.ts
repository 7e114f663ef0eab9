// Who owns which test, by the CODEOWNERS that came with the reports. The file may come after them in a bundle, so owners
// are written once all of it was read: of the tests that are new, and of all tests when the file is another than before.
// The default branch's file counts; while none has come from there, any that may be believed.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RepositoryId } from '#base/id.ts';
import type { Cell } from '#db/cell.ts';
import type { Numbering } from '#db/numbering-store.ts';
import { listTestFiles, putOwners, putOwnersHash } from '#db/owner-store.ts';
import { withTestsLock } from '#db/transaction.ts';
import type { ReadUpload } from './ingest-read.ts';

/** Time after which others have a turn: owners of all tests of a repository are looked up at once. */
const turnMs = 20;

/** `before`: the numbers as they were before the uploads were read. */
export async function writeOwners(
  cell: Cell,
  repositoryId: RepositoryId,
  before: Pick<Numbering, 'nextOrdinal' | 'codeownersHash'>,
  reads: readonly ReadUpload[],
): Promise<void> {
  const { nextOrdinal, codeownersHash } = before;
  const told = reads.findLast(
    ({ codeowners, upload, about }) =>
      codeowners !== null &&
      upload.trust === 'full' &&
      (about.branchClass === 'default' || codeownersHash === null || codeowners.hash.equals(codeownersHash)),
  );
  const codeowners = told?.codeowners ?? null;
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

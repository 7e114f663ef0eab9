// Once a day: removes tests that no upload names any more, and results that are too old to matter.

import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import type { Cell } from '#db/cell.ts';
import { noteWatchChange, readNumbering } from '#db/health/numbering-store.ts';
import {
  forgetOld,
  listNumberedRepositories,
  listShapePage,
  noteRemoval,
  removeTests,
  unwatchQuiet,
} from '#db/health/retention-store.ts';
import { ordinalsOfBody } from '#db/health/segment-store.ts';
import { withTestsLock } from '#db/transaction.ts';

/**
 * A test that no upload named for this many days is removed; one that did not fail for as long is not
 * watched.
 */
const unseenDays = 45;
const quietDays = 45;
/** Tests removed by one transaction. */
const removedMax = 5_000;

export async function forgetTests(cell: Cell, now: Date): Promise<void> {
  const ago = (days: number) => new Date(now.getTime() - days * dayMs);
  await forgetOld(cell.maintenance.db, {
    shapeHours: ago(15),
    testHours: ago(8),
    // Longer than any segment of a shape is kept.
    shapes: ago(125),
    texts: ago(30),
    mutes: ago(30),
    splits: ago(30),
    groups: ago(125),
  });
  for (const repositoryId of await listNumberedRepositories(cell.db)) {
    await withTestsLock(cell, repositoryId, async (tx, lock) => {
      if ((await unwatchQuiet(tx, lock, ago(quietDays))) > 0) await noteWatchChange(tx, lock);
    });
    await removeUnseen(cell, repositoryId, ago(unseenDays));
  }
}

/** A test that is in no shape since then was not named since then. */
async function removeUnseen(cell: Cell, repositoryId: RepositoryId, since: Date): Promise<void> {
  const { nextOrdinal } = await readNumbering(cell.db, repositoryId);
  const seen = new Uint8Array(nextOrdinal);
  for (let after: Buffer | undefined = Buffer.alloc(0); after !== undefined;) {
    const page = await listShapePage(cell.db, repositoryId, since, after);
    for (const { body } of page) for (const ordinal of ordinalsOfBody(body)) seen[ordinal] = 1;
    after = page.at(-1)?.hash;
  }
  const unseen: number[] = [];
  for (let ordinal = 0; ordinal < nextOrdinal; ordinal++) if (seen[ordinal] === 0) unseen.push(ordinal);
  for (let at = 0; at < unseen.length; at += removedMax)
    await withTestsLock(cell, repositoryId, async (tx, lock) => {
      if ((await removeTests(tx, lock, unseen.slice(at, at + removedMax), since)) > 0)
        await noteRemoval(tx, lock);
    });
}

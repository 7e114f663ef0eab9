// Which tests the default branch has never seen: those in no recent report of it, nor of a run of the queue that landed. What
// a pull request reported does not count, so that a test is new until it has merged.

import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { binarySearch } from '#core/health/segment.ts';
import type { Cell } from '#db/cell.ts';
import { findOrdinals } from '#db/health/numbering-store.ts';
import { listSharedShapes, readShapes } from '#db/health/segment-store.ts';

/** A test that no report names for so long is removed, and would be new again. */
const recentMs = 45 * dayMs;
/** Shapes that are read by one statement, and the tests in them that one request may cost. */
const pageSize = 20;
const comparedMax = 20_000_000;

export type NewTests = {
  /** Of the ids. */
  readonly newIds: ReadonlySet<string>;
  /** False: there is no report to compare with. */
  readonly isBranchKnown: boolean;
};

export async function findNewTests(
  { reader }: Cell,
  repositoryId: RepositoryId,
  ids: readonly string[],
  now: Date,
): Promise<NewTests> {
  const shapes = await listSharedShapes(reader, repositoryId, new Date(now.getTime() - recentMs));
  if (shapes.length === 0) return { newIds: new Set(), isBranchKnown: false };
  const known = await findOrdinals(reader, repositoryId, ids);
  const newIds = new Set(ids.filter((id) => !known.has(id)));
  const unseen = new Map([...known].flatMap(([id, ordinal]) => (ordinal === null ? [] : [[ordinal, id]])));
  // Tests are numbered as they appear: only the newest shapes can contain a new one.
  let compared = 0;
  for (let at = 0; at < shapes.length && unseen.size > 0 && compared < comparedMax; at += pageSize) {
    const ordinals = [...unseen.keys()];
    const first = ordinals.reduce((least, ordinal) => Math.min(least, ordinal), Infinity);
    const last = ordinals.reduce((most, ordinal) => Math.max(most, ordinal), 0);
    const page = shapes
      .slice(at, at + pageSize)
      .filter((shape) => shape.first_ordinal <= last && shape.last_ordinal >= first);
    for (const shape of await readShapes(reader, repositoryId, page)) {
      compared += shape.length;
      for (const ordinal of unseen.keys()) if (binarySearch(shape, ordinal) !== -1) unseen.delete(ordinal);
    }
  }
  // What could not be compared with everything is not called new.
  if (compared < comparedMax) for (const id of unseen.values()) newIds.add(id);
  return { newIds, isBranchKnown: true };
}

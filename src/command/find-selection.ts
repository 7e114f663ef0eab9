// Which tests a CI job runs on a commit: those that failed, on a run of the queue that looks for a culprit; one, on a run that
// verifies its fix; else all.

import type { RepositoryId } from '#base/id.ts';
import { binarySearch } from '#core/health/segment.ts';
import type { Tx } from '#db/cell.ts';
import { findFixSelection } from '#db/run/fix-view.ts';
import { findShape } from '#db/health/segment-store.ts';
import { findTestJobs, usualAgreedMin } from '#db/health/test-job-store.ts';
import { findTestSelection } from '#db/health/test-selection-view.ts';

type TestToRun = {
  readonly name: string;
  readonly classname: string;
  readonly parent: string;
  readonly file: string;
};

export type FoundSelection = {
  /** Null: all. */
  readonly tests: readonly TestToRun[] | null;
  /** How often to run them. */
  readonly repeats: number;
};

/** `job` empty: of any job. */
export async function findSelection(
  db: Tx,
  repositoryId: RepositoryId,
  sha: string,
  job: string,
): Promise<FoundSelection> {
  // Both at once: for most commits there is neither.
  const [tests, fix] = await Promise.all([
    findTestSelection(db, repositoryId, sha, job),
    findFixSelection(db, repositoryId, sha),
  ]);
  if (fix === null) return { tests, repeats: 1 };
  if (fix.isOver || (job !== '' && (await isOfOtherJobs(db, repositoryId, fix.ordinal, job))))
    return { tests: [], repeats: 1 };
  const { name, classname, parent, file, repeats } = fix;
  return { tests: [{ name, classname, parent, file }], repeats };
}

/** The job is known to run other tests. */
async function isOfOtherJobs(
  db: Tx,
  repositoryId: RepositoryId,
  ordinal: number,
  job: string,
): Promise<boolean> {
  let isKnown = false;
  for (const { usualShape, usualAgreed } of await findTestJobs(db, repositoryId, [job])) {
    // Not known well enough: shards, for example, may have one name.
    if (usualShape === null || usualAgreed < usualAgreedMin) return false;
    const ordinals = await findShape(db, repositoryId, usualShape);
    if (ordinals === null || binarySearch(ordinals, ordinal) !== -1) return false;
    isKnown = true;
  }
  return isKnown;
}

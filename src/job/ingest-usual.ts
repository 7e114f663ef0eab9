// What is usual for the job of an upload: how much of it fails (the mass-failure guard), and which tests it runs (the
// completeness guard). Both are learned from what is uploaded, upload by upload, and kept per job, variant and class of
// branch.
//
// The usual tests are those of one earlier upload. An upload that has all of them takes its place, so new tests are
// usual at once. One that lacks some is compared, and if several in a row lack tests, these are gone, and the newest of
// them is what is usual. A name that stands for ever other tests (shards without a name of their own) never agrees with
// itself three times, and then nothing is said to be missing.

import type { RepositoryId } from '#base/id.ts';
import { isMassFailure, nextBaseline } from '#core/health/guard.ts';
import { countMissing } from '#core/health/segment.ts';
import type { Tx } from '#db/cell.ts';
import { findShapes, type Shape } from '#db/segment-store.ts';
import { findTestJobs, type JobKey, type TestJob } from '#db/test-job-store.ts';
import type { ReadUpload } from './ingest-read.ts';

/** Uploads that must agree before anything counts as missing. */
const agreedMin = 3;
/** Uploads in a row that lack tests, after which these are gone. */
const missedMax = 5;
/** An upload that lacks at most this share of the usual tests agrees with it. */
const agreeingShare = 0.05;

export type Usual = {
  readonly isSuspect: boolean;
  /** Null: it is not known what is usual. */
  readonly usualTests: number | null;
  readonly missingTests: number | null;
};

export type UsualJobs = {
  /** How an upload compares; one that is trusted is learned from. */
  readonly compare: (read: ReadUpload, shape: Shape) => Promise<Usual>;
  /** What is to be stored. */
  readonly changed: () => readonly TestJob[];
};

const keyOf = ({ job, variant, branchClass }: JobKey): string => JSON.stringify([job, variant, branchClass]);

export async function loadUsualJobs(
  tx: Tx,
  repositoryId: RepositoryId,
  reads: readonly ReadUpload[],
): Promise<UsualJobs> {
  const names = [...new Set(reads.map(({ about }) => about.job))];
  const jobs = new Map((await findTestJobs(tx, repositoryId, names)).map((job) => [keyOf(job), job]));
  const changed = new Map<string, TestJob>();
  const shapes = new Map<string, Int32Array>();

  const ordinalsOf = async (hash: Buffer): Promise<Int32Array> => {
    const name = hash.toString('hex');
    const known =
      shapes.get(name) ??
      (await findShapes(tx, repositoryId, [hash])).get(name)?.ordinals ??
      new Int32Array();
    shapes.set(name, known);
    return known;
  };

  /** What a job's usual tests are, and how many of them are not there. */
  const measure = async (job: TestJob | undefined, { runs }: ReadUpload, shape: Shape) => {
    if (job?.usualShape == null) return null;
    if (job.usualShape.equals(shape.hash)) return { usual: shape.ordinals.length, missing: 0 };
    const usual = await ordinalsOf(job.usualShape);
    // A test that is skipped now is not missing.
    const present = runs.skipped.length === 0 ? shape.ordinals : merged(shape.ordinals, runs.skipped);
    return { usual: usual.length, missing: countMissing(usual, present) };
  };

  return {
    changed: () => [...changed.values()],
    compare: async (read, shape) => {
      const { about, runs, upload } = read;
      shapes.set(shape.hash.toString('hex'), shape.ordinals);
      const key: JobKey = { job: about.job, variant: about.variant, branchClass: about.branchClass };
      const own = jobs.get(keyOf(key));
      const failing = runs.outcomes.reduce((sum, code) => sum + (code === 0 ? 0 : 1), 0);
      const isSuspect = isMassFailure(own?.baseline ?? null, failing, runs.ordinals.length);
      const measured = await measure(own, read, shape);
      const onDefault = jobs.get(keyOf({ ...key, branchClass: 'default' }));
      const known = [own, onDefault].find((job) => job !== undefined && job.usualAgreed >= agreedMin);
      const compared = known === own ? measured : await measure(known, read, shape);
      if (upload.trust === 'full' && !isSuspect && runs.ordinals.length > 0) {
        const next: TestJob = {
          ...key,
          baseline: nextBaseline(own?.baseline ?? null, failing),
          ...nextUsual(own, measured, read.isComplete ? shape.hash : null),
        };
        jobs.set(keyOf(key), next);
        changed.set(keyOf(key), next);
      }
      return {
        isSuspect,
        usualTests: known === undefined ? null : (compared?.usual ?? null),
        missingTests: known === undefined ? null : (compared?.missing ?? null),
      };
    },
  };
}

type UsualPart = Pick<TestJob, 'usualShape' | 'usualAgreed' | 'usualMissed'>;

/** What is usual after one more upload; `shape` null: it is not complete, and nothing is learned from it. */
export function nextUsual(
  before: UsualPart | undefined,
  measured: { readonly usual: number; readonly missing: number } | null,
  shape: Buffer | null,
): UsualPart {
  const kept = before ?? { usualShape: null, usualAgreed: 0, usualMissed: 0 };
  const { usualShape, usualAgreed, usualMissed } = kept;
  if (shape === null) return { usualShape, usualAgreed, usualMissed };
  if (measured === null || usualShape === null) return { usualShape: shape, usualAgreed: 1, usualMissed: 0 };
  const { usual, missing } = measured;
  if (missing === 0) return { usualShape: shape, usualAgreed: usualAgreed + 1, usualMissed: 0 };
  const agrees = missing <= usual * agreeingShare;
  const isGone = usualMissed + 1 >= missedMax || (!agrees && usualAgreed < agreedMin);
  if (isGone) return { usualShape: shape, usualAgreed: agrees ? usualAgreed + 1 : 1, usualMissed: 0 };
  return { usualShape, usualAgreed: usualAgreed + (agrees ? 1 : 0), usualMissed: usualMissed + 1 };
}

/** Two ascending lists as one. */
function merged(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both.sort();
}

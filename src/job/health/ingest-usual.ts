// The baseline for the job of an upload: how much of it usually fails (the mass-failure guard), and which
// tests it runs (the completeness guard). Both are learned upload by upload, and stored per job, variant and
// class of branch.
//
// The usual tests are those of one earlier upload. An upload that has all of them replaces it, so new tests
// are usual at once. One that lacks some is compared; if several in a row lack tests, these tests are gone,
// and the newest upload becomes the baseline. A job name that runs different tests each time (shards without
// their own names) never agrees with itself three times, and then nothing is reported as missing.

import type { RepositoryId } from '#base/id.ts';
import { isMassFailure, isUnusual, nextBaseline } from '#core/health/guard.ts';
import { countMissing } from '#core/health/segment.ts';
import type { Tx } from '#db/cell.ts';
import { findShape, type Shape } from '#db/health/segment-store.ts';
import { findTestJobs, type JobKey, type TestJob, usualAgreedMin } from '#db/health/test-job-store.ts';
import type { ReadUpload } from './ingest-read.ts';

/** After this many uploads in a row that lack tests, these tests are gone. */
const missedMax = 5;
/** An upload that lacks at most this share of the usual tests agrees with the baseline. */
const agreeingShare = 0.05;

export type Usual = {
  readonly isSuspect: boolean;
  /** More failed than usual: guard.ts. */
  readonly isUnusual: boolean;
  /** Null: there is no baseline yet. */
  readonly usualTests: number | null;
  readonly missingTests: number | null;
  /** Usual tests are gone and others are there, or they were in the upload before: tests may have been renamed. */
  readonly isReplacing: boolean;
};

export type UsualJobs = {
  /**
   * Compares an upload with the baseline; a trusted upload updates it. `selectedTests`: how many tests its run was asked for; null:
   * all. One of some tests says nothing about what its job usually runs.
   */
  readonly compare: (read: ReadUpload, shape: Shape, selectedTests: number | null) => Promise<Usual>;
  /** The baselines to store. */
  readonly changed: () => readonly TestJob[];
};

const formatJobKey = ({ job, variant, branchClass }: JobKey): string =>
  JSON.stringify([job, variant, branchClass]);

export async function loadUsualJobs(
  tx: Tx,
  repositoryId: RepositoryId,
  reads: readonly ReadUpload[],
): Promise<UsualJobs> {
  const names = [...new Set(reads.map(({ about }) => about.job))];
  const jobs = new Map((await findTestJobs(tx, repositoryId, names)).map((job) => [formatJobKey(job), job]));
  const changed = new Map<string, TestJob>();
  const shapes = new Map<string, Int32Array>();

  const loadShapeOrdinals = async (hash: Buffer): Promise<Int32Array> => {
    const name = hash.toString('hex');
    const known = shapes.get(name) ?? (await findShape(tx, repositoryId, hash)) ?? new Int32Array();
    shapes.set(name, known);
    return known;
  };

  /** The number of a job's usual tests, and how many of them are missing. */
  const measure = async (job: TestJob | undefined, { runs }: ReadUpload, shape: Shape) => {
    if (job?.usualShape == null) return null;
    if (job.usualShape.equals(shape.hash)) return { usual: shape.ordinals.length, missing: 0 };
    const usual = await loadShapeOrdinals(job.usualShape);
    // A skipped test is not missing.
    const present = runs.skipped.length === 0 ? shape.ordinals : merged(shape.ordinals, runs.skipped);
    return { usual: usual.length, missing: countMissing(usual, present) };
  };

  return {
    changed: () => [...changed.values()],
    compare: async (read, shape, selectedTests) => {
      const { about, runs, upload } = read;
      shapes.set(shape.hash.toString('hex'), shape.ordinals);
      const key: JobKey = { job: about.job, variant: about.variant, branchClass: about.branchClass };
      const own = jobs.get(formatJobKey(key));
      const failing = runs.outcomes.reduce((sum, code) => sum + (code === 0 ? 0 : 1), 0);
      const isSuspect = isMassFailure(own?.baseline ?? null, failing, runs.ordinals.length);
      // All of the selected tests failed together before, which was no mass failure.
      if (selectedTests !== null)
        return {
          isSuspect: isSuspect && failing > selectedTests,
          isUnusual: false,
          usualTests: null,
          missingTests: null,
          isReplacing: false,
        };
      const measured = await measure(own, read, shape);
      const onDefault = jobs.get(formatJobKey({ ...key, branchClass: 'default' }));
      const known = [own, onDefault].find((job) => job !== undefined && job.usualAgreed >= usualAgreedMin);
      const compared = known === own ? measured : await measure(known, read, shape);
      if (upload.trust === 'full' && !isSuspect && runs.ordinals.length > 0) {
        const next: TestJob = {
          ...key,
          baseline: nextBaseline(own?.baseline ?? null, failing),
          ...nextUsual(own, measured, read.isComplete ? shape.hash : null),
        };
        jobs.set(formatJobKey(key), next);
        changed.set(formatJobKey(key), next);
      }
      return {
        isSuspect,
        isUnusual: isUnusual(own?.baseline ?? null, failing),
        usualTests: known === undefined ? null : (compared?.usual ?? null),
        missingTests: known === undefined ? null : (compared?.missing ?? null),
        isReplacing:
          own !== undefined &&
          own.usualAgreed >= usualAgreedMin &&
          (own.usualMissed > 0 || isReplacing(measured, shape)),
      };
    },
  };
}

/** More tests than are left of the usual ones. */
const isReplacing = (
  measured: { readonly usual: number; readonly missing: number } | null,
  { ordinals }: Shape,
): boolean =>
  measured !== null && measured.missing > 0 && ordinals.length > measured.usual - measured.missing;

type UsualPart = Pick<TestJob, 'usualShape' | 'usualAgreed' | 'usualMissed'>;

/**
 * The baseline after one more upload; `shape` null: the upload is incomplete, and nothing is learned from it.
 */
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
  const isGone = usualMissed + 1 >= missedMax || (!agrees && usualAgreed < usualAgreedMin);
  if (isGone) return { usualShape: shape, usualAgreed: agrees ? usualAgreed + 1 : 1, usualMissed: 0 };
  return { usualShape, usualAgreed: usualAgreed + (agrees ? 1 : 0), usualMissed: usualMissed + 1 };
}

/** Merges two ascending lists. */
function merged(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both.sort();
}

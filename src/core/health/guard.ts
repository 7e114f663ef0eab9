// An upload in which far more fails than its job ever shows is most often an outage: of a registry, a database, a
// runner. It is kept and shown, and its failures are marked as suspect: what detection does with those is in
// history.ts and monitor.ts.
//
// Example. A job of 2,000 tests shows 3 failures on average. Up to 15 are usual for it, and up to 20 (1 %) are too few
// to be an outage. With 21 or more it is suspect. Suspect uploads do not move the average.

/** What a job (its name and variant) usually shows. */
export type JobBaseline = {
  /** Failing tests in an upload, on average; the newest counts for a tenth. */
  readonly mean: number;
  /** Uploads that the average was made of. */
  readonly uploads: number;
};

/** Fewer failing tests than this are never a mass failure. */
const failingMin = 10;
const shareMin = 0.01;
const newestWeight = 0.1;

/** Until a job has a history, a tenth of its tests is taken to be unusual. */
const unknownShare = 0.1;

export function isMassFailure(baseline: JobBaseline | null, failing: number, tests: number): boolean {
  if (failing <= tests * shareMin) return false;
  if (baseline === null || baseline.uploads === 0)
    return failing > Math.max(failingMin, tests * unknownShare);
  return failing > Math.max(failingMin, baseline.mean + 6 * Math.sqrt(baseline.mean + 1));
}

/** Fewer failing tests than this are never unusual. */
const unusualMin = 3;

/**
 * More tests fail than is usual for the job, though too few for a mass failure: perhaps something is unreachable that some
 * tests need. By chance so many fail in some of a hundred uploads.
 */
export function isUnusual(baseline: JobBaseline | null, failing: number): boolean {
  const mean = baseline?.mean ?? 0;
  return failing >= unusualMin && failing > mean + 2 * Math.sqrt(mean + 1);
}

/** Of an upload that is not suspect. */
export function nextBaseline(baseline: JobBaseline | null, failing: number): JobBaseline {
  if (baseline === null || baseline.uploads === 0) return { mean: failing, uploads: 1 };
  return {
    mean: baseline.mean + newestWeight * (failing - baseline.mean),
    uploads: baseline.uploads + 1,
  };
}

// Into what parts a range of the history of a queue falls.

export const bucketSizes = ['hour', 'day', 'week'] as const;
export type BucketSize = (typeof bucketSizes)[number];

export const rangeDaysMax = 400;
/** More than these nobody can tell apart on a page. */
export const bucketsMax = 500;

const hourMs = 3_600_000;
const spanMs: Readonly<Record<BucketSize, number>> = { hour: hourMs, day: 24 * hourMs, week: 168 * hourMs };

/** Whether a range has no more of them than can be shown. */
export const fits = (size: BucketSize, rangeMs: number): boolean => rangeMs / spanMs[size] <= bucketsMax;

/** The size of which a range has at least some tens, where it can. */
export function sizeFor(rangeMs: number): BucketSize {
  if (rangeMs <= 3 * spanMs.day) return 'hour';
  return rangeMs <= 120 * spanMs.day ? 'day' : 'week';
}

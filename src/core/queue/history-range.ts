// How a range of a queue's history is divided into buckets.

import { hourMs } from '#base/duration.ts';

export const bucketSizes = ['hour', 'day', 'week'] as const;
export type BucketSize = (typeof bucketSizes)[number];

export const rangeDaysMax = 400;
/** More buckets than this cannot be distinguished on a page. */
export const bucketsMax = 500;

const spanMs: Readonly<Record<BucketSize, number>> = { hour: hourMs, day: 24 * hourMs, week: 168 * hourMs };

/** Whether a range has no more buckets than can be shown. */
export const fits = (size: BucketSize, rangeMs: number): boolean => rangeMs / spanMs[size] <= bucketsMax;

/** The size that divides a range into at least some tens of buckets, if possible. */
export function sizeFor(rangeMs: number): BucketSize {
  if (rangeMs <= 3 * spanMs.day) return 'hour';
  return rangeMs <= 120 * spanMs.day ? 'day' : 'week';
}

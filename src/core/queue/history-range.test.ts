import { expect, it } from 'vitest';
import { bucketSizes, bucketsMax, fits, rangeDaysMax, sizeFor } from './history-range.ts';

const hours = (count: number): number => count * 3_600_000;
const days = (count: number): number => hours(24 * count);

it('a range is divided into hours, days or weeks, and has at most 400 days', () => {
  expect(bucketSizes).toEqual(['hour', 'day', 'week']);
  expect(rangeDaysMax).toBe(400);
});

it.each([
  [hours(1), 'hour'],
  [days(3), 'hour'],
  [days(3) + 1, 'day'],
  [days(120), 'day'],
  [days(120) + 1, 'week'],
  [days(rangeDaysMax), 'week'],
])('a range of %i ms is divided into buckets of a %s', (rangeMs, size) => {
  expect(sizeFor(rangeMs)).toBe(size);
});

it.each([
  ['hour', hours(1)],
  ['day', days(1)],
  ['week', days(7)],
] as const)('a range of 500 times a %s fits, and nothing longer', (size, spanMs) => {
  expect(fits(size, bucketsMax * spanMs)).toBe(true);
  expect(fits(size, bucketsMax * spanMs + 1)).toBe(false);
});

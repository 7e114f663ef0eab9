import { describe, expect, it } from 'vitest';
import { durationByte } from '../segment.ts';
import { createFileSums, findTypicalDurations, type UploadDurations } from './typical-duration.ts';

const upload = (tests: Readonly<Record<number, number | null>>): UploadDurations => ({
  ordinals: Int32Array.from(Object.keys(tests).map(Number)),
  durations: Uint8Array.from(Object.values(tests).map(durationByte)),
});

const typical = (uploads: readonly UploadDurations[]) => {
  const { ordinals, durationMs } = findTypicalDurations(uploads);
  return Object.fromEntries(
    [...ordinals].map((ordinal, place) => {
      const ms = durationMs(place);
      return [ordinal, ms === null ? null : Math.round(ms / 100) * 100];
    }),
  );
};

describe('the typical duration of a test', () => {
  it('is the median of its newest durations', () => {
    const uploads = [1_000, 1_000, 30_000, 1_000, 0, 60_000, 60_000, 60_000].map((ms) => upload({ 7: ms }));
    expect(typical(uploads)).toEqual({ 7: 1_000 });
  });

  it('joins the tests of all uploads, in which each may be missing', () => {
    expect(typical([upload({ 3: 1_000, 9: 4_100 }), upload({ 2: 500, 3: 1_000, 5: null })])).toEqual({
      2: 500,
      3: 1_000,
      5: null,
      9: 4_100,
    });
  });

  it('is of nothing without an upload', () => {
    expect(typical([])).toEqual({});
  });
});

describe('the duration of a file', () => {
  it('is the sum of its tests, in the wanted variant or in the mean of all', () => {
    const sums = createFileSums(3);
    sums.add(0, 'linux', 100);
    sums.add(0, 'linux', 200);
    sums.add(0, 'windows', 900);
    sums.add(2, '', 40.4);
    expect(sums.durations('windows')).toEqual([900, null, 40]);
    expect(sums.durations('')).toEqual([600, null, 40]);
  });
});

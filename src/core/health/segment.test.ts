import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countMissing,
  durationByte,
  durationOfByte,
  packDurations,
  packNumbers,
  binarySearch,
  unpackDurations,
  unpackNumbers,
} from './segment.ts';

const numbers = fc
  .uniqueArray(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { maxLength: 200 })
  .map((list) => list.toSorted((a, b) => a - b));

describe('a set of tests', () => {
  it('is read as it was packed', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        expect([...unpackNumbers(packNumbers(list))]).toEqual(list);
      }),
    );
  });

  it('takes a byte for each test where they lie close', () => {
    const all = Array.from({ length: 10_000 }, (_, index) => index * 3);
    expect(packNumbers(all).length).toBe(10_002);
  });

  it('is searched for one of them', () => {
    fc.assert(
      fc.property(numbers, fc.nat(), (list, wanted) => {
        expect(binarySearch(list, wanted)).toBe(list.indexOf(wanted));
        for (const [index, number] of list.entries()) expect(binarySearch(list, number)).toBe(index);
      }),
    );
  });

  it('is compared with what is usual', () => {
    fc.assert(
      fc.property(numbers, numbers, (usual, present) => {
        const among = new Set(present);
        expect(countMissing(usual, present)).toBe(usual.filter((number) => !among.has(number)).length);
        expect(countMissing(usual, usual)).toBe(0);
      }),
    );
  });
});

describe('how long a test took', () => {
  it('is known within a tenth for what takes a while, and unknown stays unknown', () => {
    expect(durationOfByte(durationByte(null))).toBeNull();
    expect(durationByte(Number.NaN)).toBe(0);
    expect(durationOfByte(durationByte(0))).toBe(0);
    fc.assert(
      fc.property(fc.double({ min: 20, max: 86_400_000, noNaN: true }), (ms) => {
        expect(Math.abs(durationOfByte(durationByte(ms))! / ms - 1)).toBeLessThan(0.1);
      }),
    );
    expect(durationByte(1e300)).toBe(255);
  });
});

describe('the durations of an upload', () => {
  it('are read as they were packed, whatever the shape took before, also from a longer segment of an earlier release', () => {
    const bytes = fc.uint8Array({ minLength: 100, maxLength: 100 });
    fc.assert(
      fc.property(bytes, bytes, fc.uint8Array(), (durations, typical, earlier) => {
        const packed = packDurations(durations, typical);
        expect(unpackDurations(packed, typical, 100)).toEqual(durations);
        expect(unpackDurations(Uint8Array.of(...earlier, ...packed), typical, 100)).toEqual(durations);
      }),
    );
  });
});

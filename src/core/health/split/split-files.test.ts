import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SplitFile, splitFiles } from './split-files.ts';

const durations = fc.oneof(
  fc.integer({ min: 0, max: 20 }),
  fc.integer({ min: 0, max: 600_000 }),
  fc.constant(null),
);
const suites = (maxLength: number) =>
  fc
    .array(durations, { minLength: 1, maxLength })
    .map((list) => list.map((durationMs, index): SplitFile => ({ name: `f${index}`, durationMs })));

const longest = (loads: readonly number[]) => Math.max(...loads);

/** The longest shard of the best division, by trying all. */
function best(weights: readonly number[], shardCount: number): number {
  const loads = Array.from({ length: shardCount }, () => 0);
  let least = Infinity;
  const place = (index: number): void => {
    if (Math.max(...loads) >= least) return;
    if (index === weights.length) {
      least = Math.max(...loads);
      return;
    }
    for (let shard = 0; shard < shardCount; shard++) {
      loads[shard]! += weights[index]!;
      place(index + 1);
      loads[shard]! -= weights[index]!;
      // Empty shards are all alike.
      if (loads[shard] === 0) break;
    }
  };
  place(0);
  return least;
}

describe('the division of files among shards', () => {
  it('puts each file into exactly one shard', () => {
    fc.assert(
      fc.property(suites(200), fc.integer({ min: 1, max: 40 }), (files, shardCount) => {
        const { shards } = splitFiles(files, shardCount);
        expect(shards).toHaveLength(shardCount);
        expect(shards.flat().toSorted((a, b) => a - b)).toEqual(files.map((_, index) => index));
      }),
    );
  });

  it('has a longest shard of at most 4/3 of the best, and never longer than by count', () => {
    fc.assert(
      fc.property(suites(9), fc.integer({ min: 1, max: 4 }), (files, shardCount) => {
        const { loads, medianMs, evenLongest } = splitFiles(files, shardCount);
        const weights = files.map(({ durationMs }) => (medianMs === null ? 1 : (durationMs ?? medianMs)));
        expect(longest(loads)).toBeLessThanOrEqual((best(weights, shardCount) * 4) / 3 + 1e-6);
        expect(longest(loads)).toBeLessThanOrEqual(evenLongest);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same in whatever order the files are listed', () => {
    const named = (files: readonly SplitFile[], shardCount: number) =>
      splitFiles(files, shardCount).shards.map((shard) =>
        shard.map((index) => files[index]!.name).toSorted(),
      );
    fc.assert(
      fc.property(
        suites(60).chain((files) =>
          fc.tuple(fc.constant(files), fc.shuffledSubarray([...files], { minLength: files.length })),
        ),
        fc.integer({ min: 1, max: 8 }),
        ([files, shuffled], shardCount) => {
          expect(named(shuffled, shardCount)).toEqual(named(files, shardCount));
        },
      ),
    );
  });

  it('counts a file without a duration as the median of the others', () => {
    const files = [
      { name: 'a', durationMs: 100 },
      { name: 'b', durationMs: 30 },
      { name: 'c', durationMs: 20 },
      { name: 'new', durationMs: null },
    ];
    expect(splitFiles(files, 2)).toEqual({
      shards: [[0], [1, 2, 3]],
      loads: [100, 80],
      evenLongest: 120,
      unknown: 1,
      medianMs: 30,
    });
  });

  it('is by count if no duration is known, or if all are zero', () => {
    for (const durationMs of [null, 0]) {
      const files = ['e', 'a', 'd', 'b', 'c'].map((name) => ({ name, durationMs }));
      const { shards } = splitFiles(files, 2);
      expect(shards.map((shard) => shard.map((index) => files[index]!.name).toSorted())).toEqual([
        ['a', 'c', 'e'],
        ['b', 'd'],
      ]);
    }
  });

  it('leaves shards empty if there are fewer files', () => {
    expect(splitFiles([{ name: 'a', durationMs: 1 }], 3).shards).toEqual([[0], [], []]);
  });

  it('divides 20,000 files among 1,000 shards', () => {
    const files = Array.from({ length: 20_000 }, (_, index) => ({
      name: `f${index}`,
      durationMs: (index * 7919) % 10_000,
    }));
    const { shards, loads, evenLongest } = splitFiles(files, 1_000);
    expect(new Set(shards.flat()).size).toBe(20_000);
    expect(longest(loads)).toBeLessThan(evenLongest);
  });
});

import { expect, it, vi } from 'vitest';
import { createLoader } from './loader.ts';

it('reads that are requested together are one call, and each gets its own answer', async () => {
  const read = vi.fn(async (keys: readonly number[]) => keys.map((key) => key * 10));
  const { load } = createLoader(50, 0, read);
  expect(await Promise.all([load(3), load(1), load(2)])).toEqual([30, 10, 20]);
  expect(await load(4)).toBe(40);
  expect(read.mock.calls).toEqual([[[3, 1, 2]], [[4]]]);
});

it('a call has at most the maximum number of reads', async () => {
  const read = vi.fn(async (keys: readonly number[]) => keys);
  const { load } = createLoader(2, 0, read);
  expect(await Promise.all([1, 2, 3, 4, 5].map(load))).toEqual([1, 2, 3, 4, 5]);
  expect(read.mock.calls).toEqual([[[1, 2]], [[3, 4]], [[5]]]);
});

it('a failed call fails only the reads that were in it', async () => {
  const { load } = createLoader(1, 0, async (keys: readonly number[]) => {
    if (keys[0] === 1) throw new Error('unreachable');
    return keys;
  });
  const [first, second] = await Promise.allSettled([load(1), load(2)]);
  expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
  expect(await load(3)).toBe(3);
});

import { describe, expect, it } from 'vitest';
import { createShelf } from './shelf.ts';

describe('what rarely changes', () => {
  it('is asked for once for all who ask at the same time, and anew after a while', async () => {
    let now = 0;
    let asked = 0;
    const shelf = createShelf<number>(() => now, 30_000, 10);
    const ask = () => Promise.resolve((asked += 1));
    expect(await Promise.all([shelf.recall('a', ask), shelf.recall('a', ask)])).toEqual([1, 1]);
    now = 29_999;
    expect(await shelf.recall('a', ask)).toBe(1);
    expect(await shelf.recall('b', ask)).toBe(2);
    now = 30_000;
    expect(await shelf.recall('a', ask)).toBe(3);
    shelf.forget('a');
    expect(await shelf.recall('a', ask)).toBe(4);
  });

  it('is asked for again by the next if it could not be had', async () => {
    const shelf = createShelf<number>(() => 0, 30_000, 10);
    await expect(shelf.recall('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await shelf.recall('a', () => Promise.resolve(1))).toBe(1);
  });

  it('is kept for as long as its answer says', async () => {
    const shelf = createShelf<number | null>(
      () => 0,
      (value) => (value === null ? 0 : 1_000),
    );
    expect(await shelf.recall('a', () => Promise.resolve(null))).toBeNull();
    expect(await shelf.recall('a', () => Promise.resolve(7))).toBe(7);
    expect(await shelf.recall('a', () => Promise.resolve(8))).toBe(7);
  });
});

import { describe, expect, it } from 'vitest';
import { createMemory, createShelf } from './memory.ts';

describe('what is remembered', () => {
  it('has an end: what nobody asked for longest goes first', () => {
    const memory = createMemory<number>(2);
    memory.set('a', 1);
    memory.set('b', 2);
    expect(memory.get('a')).toBe(1);
    memory.set('c', 3);
    expect([memory.get('a'), memory.get('b'), memory.get('c')]).toEqual([1, undefined, 3]);
    memory.delete('a');
    expect(memory.get('a')).toBeUndefined();
  });
});

describe('what rarely changes', () => {
  it('is asked for once for all who ask at the same time, and anew after a while', async () => {
    let now = 0;
    let asked = 0;
    const shelf = createShelf<number>(30_000, 10, () => now);
    const ask = () => Promise.resolve((asked += 1));
    expect(await Promise.all([shelf('a', ask), shelf('a', ask)])).toEqual([1, 1]);
    now = 29_999;
    expect(await shelf('a', ask)).toBe(1);
    expect(await shelf('b', ask)).toBe(2);
    now = 30_000;
    expect(await shelf('a', ask)).toBe(3);
  });

  it('is asked for again by the next if it could not be had', async () => {
    const shelf = createShelf<number>(30_000, 10, () => 0);
    await expect(shelf('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await shelf('a', () => Promise.resolve(1))).toBe(1);
  });
});

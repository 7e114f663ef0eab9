import { describe, expect, it } from 'vitest';
import { createMemory } from './memory.ts';

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

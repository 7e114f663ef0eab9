import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createTestIndex } from './test-index.ts';

const idOf = (number: number): Buffer => createHash('sha1').update(String(number)).digest();

describe('the index of tests', () => {
  it('finds every test that was added, and no other', () => {
    const index = createTestIndex();
    for (let number = 0; number < 50_000; number++) index.add(idOf(number), number);
    expect(index.size()).toBe(50_000);
    const found = Array.from({ length: 60_000 }, (_, number) => index.find(idOf(number)));
    expect(found).toEqual(Array.from({ length: 60_000 }, (_, number) => (number < 50_000 ? number : -1)));
  });

  it('tells ids apart that begin alike', () => {
    const index = createTestIndex();
    const a = Buffer.alloc(16, 255);
    const b = Buffer.alloc(16, 255);
    b[15] = 0;
    index.add(a, 0);
    expect(index.find(b)).toBe(-1);
    index.add(b, 1);
    expect([index.find(a), index.find(b)]).toEqual([0, 1]);
  });
});

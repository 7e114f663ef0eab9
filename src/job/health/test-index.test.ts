import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { uuidText } from './test-identity.ts';
import { createTestIndex } from './test-index.ts';

const idOf = (number: number): string => createHash('sha1').update(String(number)).digest('binary');

describe('the index of tests', () => {
  it('finds every test that was added, and no other', () => {
    const index = createTestIndex();
    for (let number = 0; number < 50_000; number++) index.add(idOf(number), number);
    expect(index.size()).toBe(50_000);
    const found = Array.from({ length: 60_000 }, (_, number) => index.find(idOf(number)));
    expect(found).toEqual(Array.from({ length: 60_000 }, (_, number) => (number < 50_000 ? number : -1)));
  });

  it('distinguishes ids with the same beginning', () => {
    const index = createTestIndex();
    const a = '\u00ff'.repeat(16);
    const b = `${'\u00ff'.repeat(15)}\0`;
    index.add(a, 0);
    expect(index.find(b)).toBe(-1);
    index.add(b, 1);
    expect([index.find(a), index.find(b)]).toEqual([0, 1]);
  });

  it('finds by a digest what was added by the UUID that it makes, and the other way round', () => {
    const index = createTestIndex();
    for (let number = 0; number < 1_000; number++)
      index.add(Buffer.from(uuidText(idOf(number)).replaceAll('-', ''), 'hex').toString('latin1'), number);
    const found = Array.from({ length: 1_000 }, (_, number) => index.find(idOf(number)));
    expect(found).toEqual(Array.from({ length: 1_000 }, (_, number) => number));
  });
});

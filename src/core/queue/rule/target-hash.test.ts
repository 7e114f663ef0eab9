import { describe, expect, it } from 'vitest';
import { hashTarget } from './target-hash.ts';

describe('the hash of a target', () => {
  it('is a whole number of at most 52 bits, and always the same', () => {
    for (const name of ['', 'a', '//lib:core', 'x'.repeat(1_024), '标签']) {
      const hash = hashTarget(name);
      expect(Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 52).toBe(true);
      expect(hashTarget(name)).toBe(hash);
    }
    expect(hashTarget('//lib:core')).not.toBe(hashTarget('//lib:cord'));
  });

  it('distinguishes a million similar names', () => {
    const names = Array.from(
      { length: 1_000_000 },
      (_, index) => `//services/area-${index % 97}/package-${index % 4_001}:target_${index}`,
    );
    // By chance alone two of a million would hash alike once in ten thousand such sets.
    expect(new Set(names.map(hashTarget)).size).toBe(names.length);
  });

  it('spreads names evenly over its whole range, by upper and by lower bits', () => {
    const count = 64_000;
    const upper = Array.from({ length: 64 }, () => 0);
    const lower = Array.from({ length: 64 }, () => 0);
    for (let index = 0; index < count; index++) {
      const hash = hashTarget(`//app/module-${index}:test`);
      upper[Math.floor(hash / 2 ** 46)]!++;
      lower[hash % 64]!++;
    }
    // 1,000 are expected in each of the 64 bins, with a standard deviation of about 31.
    for (const bin of [...upper, ...lower]) expect(Math.abs(bin - count / 64)).toBeLessThan(200);
  });
});

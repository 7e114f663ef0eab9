import { describe, expect, it } from 'vitest';
import { stableName } from './stable-name.ts';

describe('the stable part of a test name', () => {
  it.each([
    ['connects to 127.0.0.1:49152', 'connects to <*>'],
    ['connects to localhost:8080 twice', 'connects to <*> twice'],
    ['stores 0b1c2d3e-1111-4222-8333-444455556666', 'stores <*>'],
    ['prints <Server object at 0x7f3a2c1b9d10>', 'prints <Server object at <*>>'],
    ['toString gives Account@1b2c3d4e', 'toString gives Account<*>'],
    ['writes /tmp/pytest-of-ci/pytest-12/out.txt', 'writes <*>'],
    ['expires at 2026-03-01T10:20:30.123Z', 'expires at <*>'],
    ['job 1772360430123 ends', 'job <*> ends'],
  ])('masks what belongs to one run: %s', (name, stable) => {
    expect(stableName(name)).toBe(stable);
  });

  it.each(['adds 2 and 3', 'parses 2024-02-29', 'answers with 404', 'reads port 8080', 'test[12345678]'])(
    'keeps what an author may have written: %s',
    (name) => {
      expect(stableName(name)).toBe(name);
    },
  );

  it('takes time in proportion to the length', () => {
    const time = (length: number) => {
      const text = '1-/tmp/@0x'.repeat(length);
      const startedAt = performance.now();
      stableName(text);
      return performance.now() - startedAt;
    };
    time(1_000);
    expect(time(20_000)).toBeLessThan(Math.max(20, time(5_000) * 16));
  });
});

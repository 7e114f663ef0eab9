import { describe, expect, it } from 'vitest';
import { withoutShard } from './job-name.ts';

describe('a job without its shard', () => {
  it.each([
    ['test (3/8)', 'test (*)'],
    ['test 3 of 8', 'test *'],
    ['unit shard-12', 'unit *'],
    ['e2e (chunk 2, ubuntu)', 'e2e (*, ubuntu)'],
  ])('masks %s', (job, expected) => {
    expect(withoutShard(job)).toBe(expected);
  });

  it.each(['test (20)', 'windows-2022', 'node 18', 'build'])(
    'keeps %s, which may be another platform',
    (job) => {
      expect(withoutShard(job)).toBe(job);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { type FollowedRename, followRename, type SeenRun } from './follow-rename.ts';

const suspected: FollowedRename = {
  state: 'suspected',
  job: 'unit',
  variant: '',
  branch: 'main',
  agreed: 0,
  returned: 0,
  lastSha: 'c1',
};

const run = (
  sha: string,
  has: 'former' | 'test' | 'both' | 'neither',
  job = 'unit',
  branch = 'main',
): SeenRun => ({
  job,
  variant: '',
  branch,
  sha,
  hasFormer: has === 'former' || has === 'both',
  hasTest: has === 'test' || has === 'both',
});

function follow(rename: FollowedRename, runs: readonly SeenRun[]): string {
  let now = rename;
  for (const one of runs) {
    const next = followRename(now, one);
    if (next.state === 'refuted' || next.state === 'ended') return next.state;
    now = { ...now, ...next, state: next.state };
  }
  return now.state;
}

describe('a suspected rename', () => {
  it('is believed after two further commits', () => {
    expect(follow(suspected, [run('c2', 'test')])).toBe('suspected');
    expect(follow(suspected, [run('c2', 'test'), run('c3', 'test')])).toBe('active');
  });

  it('is not believed because one commit ran again and again, or because of other jobs', () => {
    expect(follow(suspected, [run('c1', 'test'), run('c2', 'test'), run('c2', 'test')])).toBe('suspected');
    expect(follow(suspected, [run('c2', 'neither', 'lint'), run('c3', 'test', 'e2e')])).toBe('suspected');
    expect(follow(suspected, [run('', 'test'), run('', 'test')])).toBe('suspected');
  });

  it('is refuted if the former test runs again, or neither does', () => {
    expect(follow(suspected, [run('c2', 'former')])).toBe('refuted');
    expect(follow(suspected, [run('c2', 'both')])).toBe('refuted');
    expect(follow(suspected, [run('c2', 'neither')])).toBe('refuted');
  });

  it('is refuted by another job that runs the former test on the same commit, not by one that is slower', () => {
    expect(follow(suspected, [run('c1', 'former', 'e2e')])).toBe('refuted');
    expect(follow(suspected, [run('c0', 'former', 'e2e')])).toBe('suspected');
  });
});

describe('an active rename', () => {
  const active: FollowedRename = { ...suspected, state: 'active', agreed: 2, lastSha: 'c3' };

  it('ends if both tests run: they are two', () => {
    expect(follow(active, [run('c4', 'both', 'e2e')])).toBe('ended');
  });

  it('ends when the rename is reverted: two commits in a row have the former name', () => {
    expect(follow(active, [run('c4', 'former')])).toBe('active');
    expect(follow(active, [run('c4', 'former'), run('c4', 'former')])).toBe('active');
    expect(follow(active, [run('c4', 'former'), run('c5', 'former')])).toBe('ended');
  });

  it('does not end because an old commit ran again', () => {
    expect(follow(active, [run('c0', 'former'), run('c4', 'test'), run('c0', 'former')])).toBe('active');
  });

  it('does not end because another branch still has the former name', () => {
    const release = ['c7', 'c8', 'c9'].map((sha) => run(sha, 'former', 'unit', 'release/1'));
    expect(follow(active, release)).toBe('active');
    expect(follow(suspected, release)).toBe('refuted');
    expect(follow(suspected, [run('c7', 'neither', 'unit', 'release/1')])).toBe('suspected');
    const agreed = ['c7', 'c8', 'c9'].map((sha) => run(sha, 'test', 'unit', 'release/1'));
    expect(follow(suspected, agreed)).toBe('suspected');
  });

  it('does not end while neither runs', () => {
    expect(follow(active, [run('c4', 'neither'), run('c5', 'neither')])).toBe('active');
  });
});

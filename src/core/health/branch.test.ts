import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyBranch, matchesBranch } from './branch.ts';

const classOf = (branch: string, prNumber: number | null = null, defaultBranches = ['main', 'release/*']) =>
  classifyBranch({ branch, prNumber, defaultBranches });

describe('the class of a branch', () => {
  it('is default for the branches of the settings', () => {
    expect(classOf('main')).toBe('default');
    expect(classOf('refs/heads/main')).toBe('default');
    expect(classOf('release/2026/11')).toBe('default');
    expect(classOf('maintenance')).toBe('other');
  });

  it('is that of a pull request, even if its branch is called main in a fork', () => {
    expect(classOf('fix', 7)).toBe('pull_request');
    expect(classOf('main', 7)).toBe('pull_request');
    expect(classOf('refs/pull/7/merge')).toBe('pull_request');
  });

  it('is queue for what a queue makes, whatever else is known', () => {
    expect(classOf('signalbox/main/3')).toBe('queue');
    expect(classOf('gh-readonly-queue/main/pr-7-1a2b3c4', 7)).toBe('queue');
  });

  it('is other where nothing is known', () => {
    expect(classOf('')).toBe('other');
    expect(classOf('feature')).toBe('other');
  });

  it('takes ten patterns and no more', () => {
    const many = Array.from({ length: 10 }, (_, at) => `v${at}`);
    expect(classOf('v9', null, many)).toBe('default');
    expect(classOf('main', null, [...many, 'main'])).toBe('other');
  });
});

describe('a pattern of branches', () => {
  it('takes a star for any text, slashes too, and a question mark for one character', () => {
    expect(matchesBranch('a*z', 'a/b/z')).toBe(true);
    expect(matchesBranch('a*z', 'a/b/y')).toBe(false);
    expect(matchesBranch('v?', 'v1')).toBe(true);
    expect(matchesBranch('v?', 'v12')).toBe(false);
    expect(matchesBranch('*', '')).toBe(true);
    expect(matchesBranch('', 'a')).toBe(false);
  });

  it('agrees with the same expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '?'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, letters, (glob, name) => {
        const expression = glob.replaceAll('*', '.*').replaceAll('?', '.');
        expect(matchesBranch(glob, name)).toBe(new RegExp(`^${expression}$`, 'u').test(name));
      }),
    );
  });

  it('is quick where many stars lead nowhere', () => {
    const begunAt = performance.now();
    expect(matchesBranch(`${'*a'.repeat(100)}b`, 'a'.repeat(20_000))).toBe(false);
    expect(performance.now() - begunAt).toBeLessThan(1_000);
  });
});

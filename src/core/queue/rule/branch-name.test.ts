import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBranchName } from './branch-name.ts';

/** What git itself says. Run outside of any repository, so that no `@{-1}` can be expanded. */
function gitAccepts(name: string): boolean {
  const { status, error } = spawnSync('git', ['check-ref-format', '--branch', name], {
    cwd: '/',
    env: { PATH: process.env['PATH'] },
  });
  if (error) throw error;
  return status === 0;
}

// prettier-ignore
const awkwardParts = [
  '/', '.', '..', '-', '@', '{', '}', '@{', '.lock', '~', '^', ':', '?', '*', '[', '\\', ' ', '\t', '\n',
  '\u007f', '//', './', '/.', '.lock/', '#', '%', '+', '=', '!', '"', "'", '$', '&', '(',
];

// prettier-ignore
const refusedNames = [
  '', ' ', 'a b', 'a..b', '.a', 'a/.b', 'a.', 'a/', '/a', 'a//b', '-a', '@{u}', 'a@{1}', 'a~1', 'a^', 'a:b', 'a?', 'a*',
  'a[b', 'a\\b', 'a.lock', 'a.lock/b', 'a\nb', 'a\tb', 'a\u007fb', '\u0001',
];

const awkward = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('a', 'B', '7', 'feature', 'é', '日', '_') },
      {
        weight: 4,
        arbitrary: fc.constantFrom(...awkwardParts),
      },
      { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 3, unit: 'grapheme' }) },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  // An argument of a process cannot hold NUL; that we refuse it is checked below.
  .filter((name) => !name.includes('\0'));

describe('a branch name', () => {
  it('that we accept, git accepts', () => {
    fc.assert(
      fc.property(awkward.filter(isBranchName), (name) => {
        expect(gitAccepts(name)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('that git accepts, we accept', () => {
    // `@` is what git takes for HEAD, never a branch.
    const refused = awkward.filter((name) => !isBranchName(name) && name !== '@');
    fc.assert(
      fc.property(refused, (name) => {
        expect(gitAccepts(name)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    'main',
    'release/2026.03',
    'feature/a-b_c',
    'dependabot/npm_and_yarn/@types/node-24',
    'a./b',
    'user@host',
    'x.locked',
    'größe',
    '{a}',
    'HEAD/x',
    'refs/heads/main',
  ])('may be %j', (name) => {
    expect([isBranchName(name), gitAccepts(name)]).toEqual([true, true]);
  });

  it.each(refusedNames)('may not be %j', (name) => {
    expect([isBranchName(name), gitAccepts(name)]).toEqual([false, false]);
  });

  it('may not hold NUL, nor be @, which git takes for HEAD', () => {
    expect(['a\0b', '\0', '@'].filter(isBranchName)).toEqual([]);
  });

  it('may have 255 characters and not one more', () => {
    expect([isBranchName('a'.repeat(255)), isBranchName('a'.repeat(256))]).toEqual([true, false]);
  });

  it('may not be HEAD', () => {
    expect(gitAccepts('HEAD')).toBe(false);
    expect(isBranchName('HEAD')).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { pathGlob } from './path-glob.ts';
import { requiredStatusesIn, targetRulesIn } from './repository-file.ts';

describe('.signalbox.yaml', () => {
  it('names targets, and by default all of them for a file in none', () => {
    expect(targetRulesIn('targets:\n  web: [web/**]\n')).toEqual({
      kind: 'said',
      value: { targets: { web: ['web/**'] }, unmatchedFiles: 'all' },
    });
    expect(targetRulesIn('targets: {a: [b]}\nunmatched_files: none')).toMatchObject({
      value: { unmatchedFiles: 'none' },
    });
  });

  it('may say nothing', () => {
    for (const text of ['', '# nothing', 'merge: {}', 'other: 1'])
      expect([targetRulesIn(text).kind, requiredStatusesIn(text).kind]).toEqual(['unsaid', 'unsaid']);
  });

  it('is read part by part: a mistake in one does not stop the other', () => {
    const text = 'merge: {required_statuses: [ci/test]}\ntargets: {web: web/**}\n';
    expect(requiredStatusesIn(text)).toEqual({ kind: 'said', value: ['ci/test'] });
    expect(targetRulesIn(text)).toMatchObject({
      kind: 'invalid',
      why: expect.stringContaining('targets.web') as string,
    });
  });

  it.each([
    ['nothing', ''],
    ['a comment', '# later\n'],
    ['other things', 'test:\n  owners: x\n'],
    ['a merge section without a list', 'merge:\n  other: 1\n'],
    ['an empty merge section', 'merge:\n'],
  ])('with %s says nothing about required checks', (_what, text) => {
    expect(requiredStatusesIn(text)).toEqual({ kind: 'unsaid' });
  });

  it('names required checks, also none', () => {
    const text = 'merge:\n  required_statuses:\n    - ci/test\n    - "ci: lint"\n';
    expect(requiredStatusesIn(text)).toEqual({ kind: 'said', value: ['ci/test', 'ci: lint'] });
    expect(requiredStatusesIn('merge: { required_statuses: [] }')).toEqual({ kind: 'said', value: [] });
  });

  it.each(['merge: [', 'a: b: c', '\tmerge:\n', `a: &a [x]\nb: [${'*a,'.repeat(200)}*a]`])(
    'that is not YAML, or makes itself large, is told apart (%#)',
    (text) => {
      expect(requiredStatusesIn(text)).toEqual({ kind: 'no-yaml' });
    },
  );

  it.each([
    'merge: { required_statuses: ci/test }',
    'merge: { required_statuses: [1] }',
    'merge: { required_statuses: [""] }',
    'just words',
    '- a list',
    `merge: { required_statuses: [${'a,'.repeat(100)}a] }`,
  ])('with something else where the list of required checks should be is told apart (%#)', (text) => {
    expect(requiredStatusesIn(text).kind).toBe('invalid');
  });

  it('is told apart from what is no YAML', () => {
    expect(targetRulesIn('a: [').kind).toBe('no-yaml');
    expect(targetRulesIn('targets: {web: []}').kind).toBe('invalid');
    expect(targetRulesIn('targets: {}\nunmatched_files: some').kind).toBe('invalid');
  });
});

describe('a pattern of paths', () => {
  it.each([
    ['web/**', 'web/a/b.ts', true],
    ['web/**', 'webs/a.ts', false],
    ['web/', 'web/a/b.ts', true],
    ['./web/*.ts', 'web/a.ts', true],
    ['web/*.ts', 'web/a/b.ts', false],
    ['**/*.md', 'a.md', true],
    ['**/*.md', 'a/b/c.md', true],
    ['**/test/**', 'src/test/x', true],
    ['**', '.github/workflows/ci.yaml', true],
    ['*.{json,yaml}', 'x.yaml', true],
    ['*.{json,yaml}', 'x.yml', false],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['a.c', 'abc', false],
    ['a(b', 'a(b', true],
    ['a{b', 'a{b', true],
  ])('%s and %s: %s', (pattern, path, isMatch) => {
    expect(pathGlob(pattern)(path)).toBe(isMatch);
  });

  it('takes no time worth naming, whatever it is', () => {
    const begunAt = performance.now();
    pathGlob('**/*a**/*a**/*a*b')('a/'.repeat(60) + 'c');
    expect(performance.now() - begunAt).toBeLessThan(2_000);
  });
});

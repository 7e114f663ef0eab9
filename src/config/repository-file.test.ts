import { describe, expect, it } from 'vitest';
import { pathGlob } from './path-glob.ts';
import { requiredStatusesIn, targetRulesIn } from './repository-file.ts';
import { parseYamlApart } from './yaml-apart.ts';

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

  it('may say nothing', async () => {
    for (const text of ['', '# nothing', 'merge: {}', 'other: 1'])
      expect([targetRulesIn(text).kind, (await requiredStatusesIn(text)).kind]).toEqual(['unsaid', 'unsaid']);
  });

  it('is read part by part: a mistake in one does not stop the other', async () => {
    const text = 'merge: {required_statuses: [ci/test]}\ntargets: {web: web/**}\n';
    expect(await requiredStatusesIn(text)).toEqual({ kind: 'said', value: ['ci/test'] });
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
  ])('with %s says nothing about required checks', async (_what, text) => {
    expect(await requiredStatusesIn(text)).toEqual({ kind: 'unsaid' });
  });

  it('names required checks, also none', async () => {
    const text = 'merge:\n  required_statuses:\n    - ci/test\n    - "ci: lint"\n';
    expect(await requiredStatusesIn(text)).toEqual({ kind: 'said', value: ['ci/test', 'ci: lint'] });
    expect(await requiredStatusesIn('merge: { required_statuses: [] }')).toEqual({ kind: 'said', value: [] });
  });

  it.each(['merge: [', 'a: b: c', '\tmerge:\n', `a: &a [x]\nb: [${'*a,'.repeat(200)}*a]`])(
    'that is not YAML, or makes itself large, is recognized (%#)',
    async (text) => {
      expect(await requiredStatusesIn(text)).toEqual({ kind: 'no-yaml' });
    },
  );

  it.each([
    'merge: { required_statuses: ci/test }',
    'merge: { required_statuses: [1] }',
    'merge: { required_statuses: [""] }',
    'just text',
    '- a list',
    `merge: { required_statuses: [${'a,'.repeat(100)}a] }`,
  ])('with something else where the list of required checks should be is recognized (%#)', async (text) => {
    expect((await requiredStatusesIn(text)).kind).toBe('invalid');
  });

  it('names required checks also in a long file, which is read in a process of its own', async () => {
    const targets = Array.from({ length: 500 }, (_, index) => `  t${index}: [src/${index}/**]`).join('\n');
    const text = `merge: {required_statuses: [ci/test]}\ntargets:\n${targets}\n`;
    expect(await requiredStatusesIn(text)).toEqual({ kind: 'said', value: ['ci/test'] });
  });

  it.each(['[', '&a ', '!a ', '{a: ', '? ', '- *a\n'])(
    'that is made to take long does not stop the event loop (%j)',
    // Processor time includes what else this process does, such as collecting garbage: what is too long is measured again.
    { retry: 2 },
    async (piece) => {
      const before = process.cpuUsage();
      const part = await requiredStatusesIn(piece.repeat(60_000 / piece.length));
      const { user, system } = process.cpuUsage(before);
      expect(part).toEqual({ kind: 'no-yaml' });
      // The loop cannot stop for longer than the process computes; waiting for a busy machine does not count.
      expect((user + system) / 1e3).toBeLessThan(300);
    },
  );

  it('that is made to need more memory than its process may have counts as invalid YAML', async () => {
    expect(await parseYamlApart('['.repeat(60_000), 65_536, 16)).toEqual({ kind: 'no-yaml' });
  });

  it('differs from invalid YAML', () => {
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

import { describe, expect, it } from 'vitest';
import { parseFile } from './required.ts';

const parsing = { kind: 'unknown', why: 'START_TEST_RUN_CONFIG_PARSING_FAILURE' };
const bad = { kind: 'unknown', why: 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES' };

describe('the repository’s file', () => {
  it.each([
    ['nothing', ''],
    ['a comment', '# later\n'],
    ['other things', 'test:\n  owners: x\n'],
    ['a merge section without a list', 'merge:\n  other: 1\n'],
    ['an empty merge section', 'merge:\n'],
  ])('with %s says nothing about required checks', (_what, text) => {
    expect(parseFile(text)).toBeNull();
  });

  it('names them', () => {
    const text = 'merge:\n  required_statuses:\n    - ci/test\n    - "ci: lint"\n';
    expect(parseFile(text)).toEqual({
      kind: 'known',
      names: ['ci/test', 'ci: lint'],
      source: 'repository_file',
    });
  });

  it('may require nothing', () => {
    expect(parseFile('merge: { required_statuses: [] }')).toMatchObject({ names: [] });
  });

  it.each(['merge: [', 'a: b: c', '\tmerge:\n', `a: &a [x]\nb: [${'*a,'.repeat(200)}*a]`])(
    'that is not YAML, or makes itself large, is told apart (%#)',
    (text) => {
      expect(parseFile(text)).toEqual(parsing);
    },
  );

  it.each([
    'merge: { required_statuses: ci/test }',
    'merge: { required_statuses: [1] }',
    'merge: { required_statuses: [""] }',
    'just words',
    '- a list',
    `merge: { required_statuses: [${'a,'.repeat(100)}a] }`,
  ])('with something else where the list should be is told apart (%#)', (text) => {
    expect(parseFile(text)).toEqual(bad);
  });
});

import { expect, it } from 'vitest';
import { isPattern, matchesPattern } from './glob.ts';

it.each([
  ['main', 'main', true],
  ['main', 'mainx', false],
  ['m*', 'main', true],
  ['m*', 'm/x', false],
  ['m**', 'm/x', true],
  ['signalbox/**', 'signalbox/main/pr-1/0', true],
  ['signalbox/*', 'signalbox/main/pr-1/0', false],
  ['release/v?', 'release/v1', true],
  ['release/v?', 'release/v10', false],
  ['release/v[0-9]', 'release/v7', true],
  ['release/v[!0-9]', 'release/v7', false],
  ['{main,dev/*}', 'dev/x', true],
  ['{main,dev/*}', 'dev', false],
  ['a.b', 'axb', false],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['c++ (push)', 'c++ (push)', true],
  ['a,b', 'a,b', true],
  // Not well-formed: it stands for itself.
  ['[', '[', true],
  ['{a', '{a', true],
  ['{a', 'a', false],
])('%s, with %s between slashes: %s', (pattern, text, matches) => {
  expect(matchesPattern(pattern, text, '/')).toBe(matches);
});

it('without a separator, a star matches anything', () => {
  expect(matchesPattern('ci / *', 'ci / test (push)')).toBe(true);
  expect(matchesPattern('*', 'a/b c')).toBe(true);
});

it('a name is no pattern', () => {
  expect(['ci / test (push)', 'a.b+c', '-'].some(isPattern)).toBe(false);
  expect(['*', 'a?', '[a]', '{a,b}', '\\'].every(isPattern)).toBe(true);
});

import { expect, it } from 'vitest';
import { matchingPositions } from './queue-filter.ts';

const entries = [
  { prNumber: 12, prTitle: 'Fix the Login page', prAuthor: 'ana' },
  { prNumber: 120, prTitle: 'Update images', prAuthor: 'ben' },
  { prNumber: 7, prTitle: 'Fix prices', prAuthor: 'ana' },
];

it('finds entries by number, title and author, and by several terms at once', () => {
  expect(matchingPositions(entries, '')).toEqual([0, 1, 2]);
  expect(matchingPositions(entries, '  ')).toEqual([0, 1, 2]);
  expect(matchingPositions(entries, '12')).toEqual([0, 1]);
  expect(matchingPositions(entries, '#7')).toEqual([2]);
  expect(matchingPositions(entries, 'login')).toEqual([0]);
  expect(matchingPositions(entries, 'ANA fix')).toEqual([0, 2]);
  expect(matchingPositions(entries, 'ben fix')).toEqual([]);
});

import { expect, it } from 'vitest';
import { matchingPlaces } from './line-filter.ts';

const line = [
  { prNumber: 12, prTitle: 'Fix the Login page', prAuthor: 'ana' },
  { prNumber: 120, prTitle: 'Update images', prAuthor: 'ben' },
  { prNumber: 7, prTitle: 'Fix prices', prAuthor: 'ana' },
];

it('finds by number, title and author, and by several words at once', () => {
  expect(matchingPlaces(line, '')).toEqual([0, 1, 2]);
  expect(matchingPlaces(line, '  ')).toEqual([0, 1, 2]);
  expect(matchingPlaces(line, '12')).toEqual([0, 1]);
  expect(matchingPlaces(line, '#7')).toEqual([2]);
  expect(matchingPlaces(line, 'login')).toEqual([0]);
  expect(matchingPlaces(line, 'ANA fix')).toEqual([0, 2]);
  expect(matchingPlaces(line, 'ben fix')).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import {
  median,
  formatPercent,
  formatDuration,
  humanizeCode,
  formatPosition,
  splitAtNumbers,
} from './format.ts';
import { queueKey, queueOfSearch, queueSearch, safeHref } from './name.ts';

describe('formatted values', () => {
  it('a duration has at most two units', () => {
    expect([0, 59, 60, 3_600, 3_720, 90_000].map(formatDuration)).toEqual([
      '0 s',
      '59 s',
      '1 min',
      '1 h',
      '1 h 2 min',
      '1 d 1 h',
    ]);
    expect(formatDuration(-5)).toBe('0 s');
  });

  it('a small percentage keeps a decimal', () => {
    expect([0, 0.004, 0.25, 1].map(formatPercent)).toEqual(['0 %', '0.4 %', '25 %', '100 %']);
  });

  it('a code becomes lower-case text', () => {
    expect(humanizeCode('PR_PUSHED_TO')).toBe('pr pushed to');
  });
});

describe('URLs', () => {
  it('keep owners and branches that contain slashes', () => {
    const queue = { repo: { host: 'h', owner: 'a/b', name: 'c' }, targetBranch: 'release/1' };
    expect(queueOfSearch(queueSearch(queue))).toEqual(queue);
    expect(queueKey(queue)).toBe('h/a/b/c@release/1');
  });

  it('become links only if they are http or https', () => {
    expect(safeHref('https://ci.example/1')).toBe('https://ci.example/1');
    for (const url of ['javascript:alert(1)', 'data:text/html,x', ' javascript:1', '', undefined])
      expect(safeHref(url)).toBeUndefined();
  });
});

it('computes the median', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNull();
});

it('splits a text at the numbers of pull requests, and not within other words', () => {
  expect(splitAtNumbers('behind #12, #13 and 2 more')).toEqual(['behind ', 12, ', ', 13, ' and 2 more']);
  expect(splitAtNumbers('#7 is next')).toEqual([7, ' is next']);
  expect(splitAtNumbers('the check build#3')).toEqual(['the check build#3']);
});

it('counts positions from 1', () => {
  expect([0, 1, 2].map(formatPosition)).toEqual(['1, next', '2', '3']);
});

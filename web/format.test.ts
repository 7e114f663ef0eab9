import { describe, expect, it } from 'vitest';
import { medianOf, percentOf, spanOf, wordsOf } from './format.ts';
import { queueKey, queueOfSearch, queueSearch, safeHref } from './name.ts';

describe('what people read', () => {
  it('is a span of at most two units', () => {
    expect([0, 59, 60, 3_600, 3_720, 90_000].map(spanOf)).toEqual([
      '0 s',
      '59 s',
      '1 min',
      '1 h',
      '1 h 2 min',
      '1 d 1 h',
    ]);
    expect(spanOf(-5)).toBe('0 s');
  });

  it('is a percentage that does not hide what is rare', () => {
    expect([0, 0.004, 0.25, 1].map(percentOf)).toEqual(['0 %', '0.4 %', '25 %', '100 %']);
  });

  it('is a reason in words', () => {
    expect(wordsOf('PR_PUSHED_TO')).toBe('pr pushed to');
  });
});

describe('addresses', () => {
  it('keep owners and branches that hold slashes', () => {
    const queue = { repo: { host: 'h', owner: 'a/b', name: 'c' }, targetBranch: 'release/1' };
    expect(queueOfSearch(queueSearch(queue))).toEqual(queue);
    expect(queueKey(queue)).toBe('h/a/b/c@release/1');
  });

  it('become links only where they lead to a page', () => {
    expect(safeHref('https://ci.example/1')).toBe('https://ci.example/1');
    for (const url of ['javascript:alert(1)', 'data:text/html,x', ' javascript:1', '', undefined])
      expect(safeHref(url)).toBeUndefined();
  });
});

it('finds the median', () => {
  expect(medianOf([3, 1, 2])).toBe(2);
  expect(medianOf([4, 1, 2, 3])).toBe(2.5);
  expect(medianOf([])).toBeNull();
});

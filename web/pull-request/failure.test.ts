import { expect, it } from 'vitest';
import { mergeFailedTests } from './failure.ts';

const failed = (testCaseId: string, verdict: 'new' | 'flaky') => ({
  testCaseId,
  name: testCaseId,
  verdict,
  isQuarantined: false,
});

it('lists a test that failed in several runs once, as the latest run shows it', () => {
  const latest = { count: 1, first: [failed('a', 'flaky')] };
  const earlier = { count: 2, first: [failed('b', 'new'), failed('a', 'new')] };
  expect(mergeFailedTests([latest, earlier])).toEqual({
    count: 2,
    first: [failed('a', 'flaky'), failed('b', 'new')],
  });
});

it('counts tests that a list does not name', () => {
  expect(mergeFailedTests([{ count: 30, first: [failed('a', 'new')] }]).count).toBe(30);
  expect(mergeFailedTests([])).toEqual({ count: 0, first: [] });
});

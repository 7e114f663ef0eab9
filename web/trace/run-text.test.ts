import { expect, it } from 'vitest';
import { runBase, runTitle } from './run-text.ts';

const pullRequests = (...numbers: readonly number[]) =>
  numbers.map((prNumber) => ({ prNumber, prUrl: '', title: '' }));

const run = {
  queueType: 'main',
  testedPullRequests: pullRequests(1476),
  dependentPrs: pullRequests(),
  selectedTests: null,
} as const;

it.each([
  [run, 'Tested alone'],
  [{ ...run, testedPullRequests: pullRequests(1475, 1476, 1477) }, 'Tested with #1475, #1477'],
  [{ ...run, queueType: 'bisection' }, 'Bisection, alone'],
  [
    { ...run, queueType: 'bisection', testedPullRequests: pullRequests(1475, 1476), selectedTests: 2 },
    'Bisection, with #1475, only 2 tests',
  ],
  [{ ...run, selectedTests: 1 }, 'Tested alone, only 1 test'],
] as const)('names the other pull requests of a run (%#)', (each, title) => {
  expect(runTitle(each, 1476)).toBe(title);
});

it('names what a run is on top of, unless that is only the branch', () => {
  expect(runBase({ ...run, dependentPrs: pullRequests(4, 5) })).toBe('on top of #4, #5');
  expect(runBase(run)).toBeNull();
});

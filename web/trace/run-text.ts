// Which pull requests a run tests, as text.

import { formatCount, formatPullRequestNumbers } from '../format.ts';
import type { TestingResult } from '../queue/checks.tsx';

type TracedRun = Pick<TestingResult, 'queueType' | 'testedPullRequests' | 'dependentPrs' | 'selectedTests'>;

/** Who is tested together with this pull request. */
export function runTitle(
  { queueType, testedPullRequests, selectedTests }: TracedRun,
  number: number,
): string {
  const others = testedPullRequests.map(({ prNumber }) => prNumber).filter((each) => each !== number);
  const company = others.length === 0 ? 'alone' : `with ${formatPullRequestNumbers(others)}`;
  const selection = selectedTests === null ? '' : `, only ${formatCount(selectedTests, 'test')}`;
  return `${queueType === 'bisection' ? 'Bisection,' : 'Tested'} ${company}${selection}`;
}

/** What it is tested on top of; null: only the branch. */
export const runBase = ({ dependentPrs }: TracedRun): string | null =>
  dependentPrs.length === 0
    ? null
    : `on top of ${formatPullRequestNumbers(dependentPrs.map(({ prNumber }) => prNumber))}`;

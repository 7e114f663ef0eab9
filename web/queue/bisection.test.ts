import { expect, it } from 'vitest';
import {
  type QueueBisection,
  formatBisectionHeadline,
  describeBisectionProgress,
  formatBatchSpan,
  classifyBatchMember,
  describeRound,
} from './bisection.ts';

const all = [1, 2, 3, 4, 5, 6, 7, 8];
const run = (testedCount: number, status: QueueBisection['rounds'][number]['runs'][number]['status']) => ({
  testRunId: null,
  testedCount,
  status,
});
const bisection: QueueBisection = {
  pullRequests: all,
  baseSha: 'abc',
  failedTestRunId: null,
  failedChecks: [{ name: 'ci/test', url: '' }],
  cleared: [1, 2, 3, 4],
  suspects: [5, 6],
  undecided: [7, 8],
  rounds: [
    { suspects: all, runs: [run(4, 'passed')] },
    { suspects: [5, 6, 7, 8], runs: [run(6, 'failed')] },
    { suspects: [5, 6], runs: [run(5, 'under_way')] },
  ],
};

it('the headline names the batch and the failed checks', () => {
  expect(formatBisectionHeadline(bisection)).toBe('The batch #1 to #8 failed on ci/test');
  expect(formatBisectionHeadline({ ...bisection, failedChecks: [] })).toBe('The batch #1 to #8 failed');
});

it('the progress names the current runs and the remaining suspects', () => {
  expect(describeBisectionProgress(bisection)).toBe(
    'Testing now: #1 to #5. #1 to #4 pass without the others. 2 suspects left: #5, #6.',
  );
  const started = { ...bisection, cleared: [], suspects: all, undecided: [] };
  const rounds = [{ suspects: all, runs: [run(2, 'passed'), run(4, 'under_way'), run(6, 'under_way')] }];
  expect(describeBisectionProgress({ ...started, rounds })).toMatch(
    /^Testing now: #1 to #4; #1 to #6\. 8 suspects left/,
  );
  expect(describeBisectionProgress({ ...started, rounds: [] })).toMatch(
    /^The next test run is waiting for a free slot/,
  );
  expect(describeBisectionProgress({ ...bisection, suspects: [5] })).toMatch(/1 suspect left, #5/);
});

it('each pull request of the batch is cleared, a suspect or undecided', () => {
  expect([1, 5, 8].map((number) => classifyBatchMember(bisection, number))).toEqual([
    'cleared',
    'suspect',
    'undecided',
  ]);
});

it('a batch is named by its first and last pull request', () => {
  expect([[], [7], [7, 3], [7, 3, 9]].map(formatBatchSpan)).toEqual(['none', '#7', '#7 and #3', '#7 to #9']);
  expect(describeRound(bisection.rounds[1]!, 1)).toBe('Round 2: 4 suspects, 1 test run');
});

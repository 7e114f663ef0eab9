import { expect, it } from 'vitest';
import {
  type Bisection,
  headlineOf,
  progressOf,
  spanOfBatch,
  standingOf,
  wordsOfRound,
} from './bisection.ts';

const all = [1, 2, 3, 4, 5, 6, 7, 8];
const run = (testedCount: number, status: Bisection['rounds'][number]['runs'][number]['status']) => ({
  testRunId: null,
  testedCount,
  status,
});
const bisection: Bisection = {
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

it('says which batch failed on what', () => {
  expect(headlineOf(bisection)).toBe('The batch #1 to #8 failed on ci/test');
  expect(headlineOf({ ...bisection, failedChecks: [] })).toBe('The batch #1 to #8 failed');
});

it('says what is tested now and who is left', () => {
  expect(progressOf(bisection)).toBe(
    'Tested now: #1 to #5. #1 to #4 pass without the rest. 2 suspects left: #5, #6.',
  );
  const begun = { ...bisection, cleared: [], suspects: all, undecided: [] };
  const rounds = [{ suspects: all, runs: [run(2, 'passed'), run(4, 'under_way'), run(6, 'under_way')] }];
  expect(progressOf({ ...begun, rounds })).toMatch(/^Tested now: #1 to #4; #1 to #6\. 8 suspects left/);
  expect(progressOf({ ...begun, rounds: [] })).toMatch(/^The next test run waits for a free slot/);
  expect(progressOf({ ...bisection, suspects: [5] })).toMatch(/1 suspect is left, #5/);
});

it('says of each of the batch how it stands', () => {
  expect([1, 5, 8].map((number) => standingOf(bisection, number))).toEqual([
    'cleared',
    'suspect',
    'undecided',
  ]);
});

it('spells batches short', () => {
  expect([[], [7], [7, 3], [7, 3, 9]].map(spanOfBatch)).toEqual(['nobody', '#7', '#7 and #3', '#7 to #9']);
  expect(wordsOfRound(bisection.rounds[1]!, 1)).toBe('Round 2: 4 suspects, 1 test run');
});

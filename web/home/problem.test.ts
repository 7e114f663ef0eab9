import { expect, it } from 'vitest';
import { describeProblem } from './problem.ts';

const failed = {
  conclusionReason: 'TEST_RUN_REQUIRED_STATUS_FAILED' as const,
  waitingFor: [],
  failedTests: null,
};
const test = (name: string) => ({ testCaseId: name, name, verdict: 'new', isQuarantined: false }) as const;

it('names the failing test, and how many more there are', () => {
  const first = [test('refunds twice'), test('pays')];
  expect(describeProblem({ ...failed, failedTests: { count: 1, first: first.slice(0, 1) } })).toBe(
    'refunds twice failed',
  );
  expect(describeProblem({ ...failed, failedTests: { count: 12, first } })).toBe(
    'refunds twice failed, and 11 more',
  );
});

it('gives the reason where no report names a test, and of one that is not ready the sentence', () => {
  expect(describeProblem({ ...failed, failedTests: { count: 0, first: [] } })).toBe(
    'A required check failed',
  );
  expect(describeProblem({ conclusionReason: null, waitingFor: ['It is a draft.'], failedTests: null })).toBe(
    'It is a draft.',
  );
});

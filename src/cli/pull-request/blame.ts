// "Was it me?": what the verdicts on the failing tests of a pull request say together.

import type { SubmittedPullRequest } from '#contract/pull-request.ts';

export type Blame = {
  readonly answer: 'likely' | 'possible' | 'unlikely' | 'unknown' | 'nothing_failed';
  readonly why: string;
};

type Failed = NonNullable<SubmittedPullRequest['failedTests']>;

/** The service names those that tell most first, so that a new failure is among the first. */
export function blameOf(failed: Failed | null): Blame {
  if (failed === null) return { answer: 'nothing_failed', why: 'It has not failed in a test run.' };
  const { count, first } = failed;
  if (count === 0)
    return {
      answer: 'unknown',
      why: 'No test report names a failing test: the log of the failed check says more.',
    };
  const of = (verdict: Failed['first'][number]['verdict']) =>
    first.filter((test) => test.verdict === verdict).length;
  const fresh = of('new');
  if (fresh > 0)
    return { answer: 'likely', why: `${tests(fresh)} passed until now and ${fails(fresh)} with it.` };
  const unknown = of('unknown');
  if (unknown > 0)
    return { answer: 'possible', why: `${tests(unknown)} ${fails(unknown)} that nobody has seen before.` };
  return {
    answer: 'unlikely',
    why: 'Every failing test that is named is known to be flaky, or is broken on the branch already.',
  };
}

const tests = (count: number): string => `${count} test${count === 1 ? '' : 's'}`;
const fails = (count: number): string => (count === 1 ? 'fails' : 'fail');

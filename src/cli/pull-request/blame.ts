// "Was it me?": combines the verdicts on the failing tests of a pull request.

import { countText } from '#base/number-text.ts';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';

export type Blame = {
  readonly answer: 'likely' | 'possible' | 'unlikely' | 'unknown' | 'nothing_failed';
  readonly why: string;
};

type BlameEvidence = NonNullable<SubmittedPullRequest['failedTests']>;

/** The service lists the most informative failures first, so that a new failure is among the first. */
export function attributeBlame(failed: BlameEvidence | null): Blame {
  if (failed === null) return { answer: 'nothing_failed', why: 'It has not failed in a test run.' };
  const { count, first } = failed;
  if (count === 0)
    return {
      answer: 'unknown',
      why: 'No test report names a failing test. See the log of the failed check.',
    };
  const of = (verdict: BlameEvidence['first'][number]['verdict']) =>
    first.filter((test) => test.verdict === verdict).length;
  const fresh = of('new');
  if (fresh > 0)
    return {
      answer: 'likely',
      why: `${countText(fresh, 'test')} passed before and ${fails(fresh)} with this pull request.`,
    };
  const unknown = of('unknown');
  if (unknown > 0)
    return {
      answer: 'possible',
      why: `${countText(unknown, 'test')} without any history ${fails(unknown)}.`,
    };
  return {
    answer: 'unlikely',
    why: 'Every failing test in the reports is known to be flaky or is already broken on the branch.',
  };
}

const fails = (count: number): string => (count === 1 ? 'fails' : 'fail');

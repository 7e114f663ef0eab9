// What a person has to fix of a pull request, in one line.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { reasonText } from '#contract/text/reason-text.ts';

type Problem = Pick<
  ResponseOf<'listPullRequestsToFix'>['pullRequests'][number],
  'conclusionReason' | 'waitingFor' | 'failedTests'
>;

/** The failing test says more than that a check failed. */
export function describeProblem({ conclusionReason, waitingFor, failedTests }: Problem): string {
  const [test] = failedTests?.first ?? [];
  const more = (failedTests?.count ?? 0) - 1;
  if (test !== undefined) return `${test.name} failed${more > 0 ? `, and ${more} more` : ''}`;
  const [sentence = ''] = waitingFor;
  if (conclusionReason === null) return sentence;
  const text = reasonText[conclusionReason];
  return text.charAt(0).toUpperCase() + text.slice(1);
}

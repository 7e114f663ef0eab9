// "Was it me?": the tests that failed in a run, and what is known about each, as text.

/** flaky: known to fail without a change; broken: it fails on the branch already; new: it passed until now. */
export type FailedTest = {
  readonly testCaseId: string;
  readonly name: string;
  readonly verdict: 'flaky' | 'broken' | 'new' | 'unknown';
  readonly isQuarantined: boolean;
};

/** The failing tests in the reports on a run's commit: how many, and the first of them by relevance. */
export type FailedTests = { readonly count: number; readonly first: readonly FailedTest[] };

const verdictText: { readonly [Verdict in FailedTest['verdict']]: string } = {
  flaky: 'known to be flaky',
  broken: 'already broken on the branch',
  new: 'new with this change',
  unknown: 'never seen before',
};

export const failedTestLabel = ({ verdict, isQuarantined }: FailedTest): string =>
  isQuarantined ? `${verdictText[verdict]}, quarantined` : verdictText[verdict];

const listedMax = 3;

/** One sentence; null if no report names a failing test. */
export function explainFailedTests({ count, first }: FailedTests): string | null {
  if (count === 0) return null;
  const shown = first
    .slice(0, listedMax)
    .map((test) => `${test.name.slice(0, 120)} (${failedTestLabel(test)})`);
  const more = count - shown.length;
  return `Failing: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

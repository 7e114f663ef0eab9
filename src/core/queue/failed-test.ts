// "Was it me?" in words: the tests that failed in a run, and what is known of each.

/** flaky: known to fail without a change; broken: it fails on the branch already; new: it passed until now. */
export type FailedTest = {
  readonly testCaseId: string;
  readonly name: string;
  readonly verdict: 'flaky' | 'broken' | 'new' | 'unknown';
  readonly isQuarantined: boolean;
};

/** What reports say of the commit of a run: the first of its failing tests, those that tell most first, and how many they are. */
export type FailedTests = { readonly count: number; readonly first: readonly FailedTest[] };

const words: { readonly [Verdict in FailedTest['verdict']]: string } = {
  flaky: 'known to be flaky',
  broken: 'broken on the branch already',
  new: 'new with this change',
  unknown: 'never seen before',
};

export const wordsOf = ({ verdict, isQuarantined }: FailedTest): string =>
  isQuarantined ? `${words[verdict]}, quarantined` : words[verdict];

const listedMax = 3;

/** One sentence; null where no report names a failing test. */
export function explainFailedTests({ count, first }: FailedTests): string | null {
  if (count === 0) return null;
  const shown = first.slice(0, listedMax).map((test) => `${test.name.slice(0, 120)} (${wordsOf(test)})`);
  const more = count - shown.length;
  return `Failing: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

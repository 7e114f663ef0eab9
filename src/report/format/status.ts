// What dialects say of a test in an attribute: `status` (ctest, behave, googletest), `result` (googletest, NUnit, xUnit.net).

export type Said = 'passed' | 'failed' | 'skipped' | null;

const outcomesByStatus: ReadonlyMap<string, Said> = new Map([
  ...of(
    'failed',
    'fail failed failure error errored broken timeout timedout timed_out crashed aborted undefined',
  ),
  ...of(
    'skipped',
    'skip skipped notrun not_run not-run suppressed disabled ignored pending todo untested inconclusive notexecuted explicit excluded',
  ),
  ...of('passed', 'pass passed success successful ok'),
]);

function of(said: Said, list: string): [string, Said][] {
  return list.split(' ').map((statusText) => [statusText, said]);
}

/** Null: nothing that is known; googletest's `run` and `completed` are among that. */
export const saidBy = (statusText: string): Said =>
  outcomesByStatus.get(statusText.trim().toLowerCase()) ?? null;

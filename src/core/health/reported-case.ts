// What a report says about one test, and how several elements or files about the same test are combined.
//
//   attempt   one execution
//   run       all attempts of a test in one job of one upload: expected if one passed, unexpected if all failed
//   source    a commit; for a run of a queue the composition that was tested
//   verdict   all runs of a test on one source: flaky if it has both kinds, or a run with both outcomes

/** How one attempt failed, in the report's text. Texts are repaired, and cut to their beginning and end. */
export type ReportedFailure = {
  /** Such as `AssertionError`; empty if the report has none. */
  readonly type: string;
  readonly message: string;
  /** The rest: a stack trace, a diff. */
  readonly body: string;
};

/** passed: every attempt that was executed; failed: every one; flaky: some of each; skipped: none was executed. */
export type RunOutcome = 'passed' | 'failed' | 'flaky' | 'skipped';

export type ReportedCase = {
  readonly name: string;
  /** Empty if the report has none, as for the next two. */
  readonly classname: string;
  /** The suite's name; for nested suites all of them, outermost first, joined by ` › `. */
  readonly parent: string;
  /** With forward slashes, without a leading `./`. */
  readonly file: string;
  /** A version 5 UUID that the report gives as the test's `id`; null: none. */
  readonly ownId: string | null;
  /** The variant that the report itself names, such as Playwright's project; empty: none. */
  readonly variant: string;
  readonly outcome: RunOutcome;
  /** Attempts that were executed. */
  readonly attempts: number;
  /** Of all attempts together; null if the report has none. */
  readonly durationMs: number | null;
  /** One for each failed attempt with a reason, in their order, at most 10. */
  readonly failures: readonly ReportedFailure[];
};

/** The outcome of a run that two reports of the same test make together. */
export function combineOutcomes(a: RunOutcome, b: RunOutcome): RunOutcome {
  if (a === b || b === 'skipped') return a;
  return a === 'skipped' ? b : 'flaky';
}

/** What could not be used of an upload, or was repaired: one item per kind and file. */
export type UploadProblem = {
  /** The file in the bundle; empty: the upload itself. */
  readonly file: string;
  /** Stable, such as `TRUNCATED`, `NOT_A_REPORT`, `REPAIRED_BYTES`. */
  readonly code: string;
  /** For a person: what was wrong, what was done, what to do. */
  readonly message: string;
  readonly count: number;
};

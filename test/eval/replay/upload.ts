// What a replay consists of: uploads in the order in which they arrive. docs/reference/replay.md documents the same as JSON lines.
//
//   suite    a list of tests that several uploads share, so that an upload of thousands of passes takes one word
//   result   a test that is named in an upload on its own: above all those that did not pass

import type { BranchClass } from '#core/health/branch.ts';
import type { ReportedFailure, RunOutcome } from '#core/health/reported-case.ts';

/** What identifies a test in a report; empty where the report has none. */
export type TestName = {
  readonly file: string;
  readonly classname: string;
  readonly parent: string;
  readonly name: string;
};

export type Suite = { readonly id: string; readonly tests: readonly TestName[] };

export type TestResult = {
  readonly test: TestName;
  readonly outcome: RunOutcome;
  /** One for each failed attempt, in their order. */
  readonly failures: readonly ReportedFailure[];
};

export type ReplayUpload = {
  /** Milliseconds: when the upload arrives. */
  readonly at: number;
  /** `owner/name`, or `host/owner/name`. */
  readonly repository: string;
  /** The job, without its shard. */
  readonly job: string;
  /** Such as `2/4`; empty: the job has no shards. */
  readonly shard: string;
  /** Empty: none is declared. */
  readonly variant: string;
  readonly branch: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  /** The commit that Signalbox knows the run by: for a pull request its head. */
  readonly head: string;
  /** The commit that CI checked out: for a pull request its head merged with the default branch of that moment. */
  readonly tested: string;
  readonly isComplete: boolean;
  /** Whether the results count: false for a fork. */
  readonly isTrusted: boolean;
  /** Every test of it passed, but for those in `missing` and `results`. Null: only `results` were executed. */
  readonly suite: Suite | null;
  readonly missing: readonly TestName[];
  readonly results: readonly TestResult[];
};

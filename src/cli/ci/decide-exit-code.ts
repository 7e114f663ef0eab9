// Decides whether a failed run exits with 0 after all. It does so only if it is certain that nothing failed
// but quarantined tests that are known to be flaky. The conditions are checked in this order, and the first
// one that does not hold keeps the command's own exit code:
//
//   1. The command exited on its own, with the code by which its runner reports failed tests (default: 1). A
//      signal, a code of 128 or more, or any other code means a crash, a wrong option or a broken build.
//   2. The command wrote reports, and every one of them can be read to its end.
//   3. The reports show a failed test. Otherwise the run failed in something that the reports do not show.
//   4. The service classified the whole upload: it was read completely, nothing was cut off, and there are
//      not so many failures that they must be something other than flakes.
//   5. Every failed test is quarantined, and failed in a way in which it was flaky before: a flaky test that
//      breaks is not excused.
//   6. The tests that usually run did run. A runner that crashes partway reports fewer failures; that does not
//      mean that there are fewer bugs. This does not apply to a run of selected tests, which merges nothing.
//
// Example: exit code 1, 140 tests, one failed test, which is quarantined and failed in a known way; the job
// usually runs 140 tests: the exit code is 0. The same with 90 tests: the exit code stays 1, because the
// results of the other 50 are unknown.

import { countText } from '#base/number-text.ts';

export type Ending =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string; readonly code: number };

type ClassifiedFailure = {
  /** flaky: it failed, and passed in another attempt of this run. */
  readonly outcome: 'failed' | 'flaky';
  readonly quarantined: boolean;
  /** Quarantined, and known to be flaky in this very way. */
  readonly is_excused: boolean;
};

/** The part of the service's answer that decides. */
export type ClassifiedUpload = {
  readonly state: 'awaited' | 'stored' | 'ingested' | 'failed';
  readonly failed: number;
  readonly usual_tests: number | null;
  readonly missing_tests: number | null;
  readonly is_suspect: boolean;
  readonly is_complete: boolean;
  /** The service lists a bounded number of them. */
  readonly failures: readonly ClassifiedFailure[];
};

export type UploadClassification =
  | { readonly kind: 'classified'; readonly upload: ClassifiedUpload }
  | { readonly kind: 'absent'; readonly why: string };

export type ExitCodeEvidence = {
  readonly ending: Ending;
  /** Exit codes by which the runner reports failed tests. */
  readonly failureCodes: readonly number[];
  /** How many of the usual tests may be missing, in percent. */
  readonly missingPercentMax: number;
  /** Only the tests ran that failed before. */
  readonly isNarrowed: boolean;
  /** New tests were repeated, or those of a fix, and the upload has the repeats too. Default false. */
  readonly isRepeated?: boolean;
  readonly reports: {
    readonly files: number;
    /** Reports that could not be read to their end. */
    readonly unread: number;
    readonly failed: number;
  };
  readonly classification: UploadClassification;
};

export type ExitDecision = {
  readonly exitCode: number;
  readonly isChanged: boolean;
  /** A sentence; empty if the command succeeded. */
  readonly why: string;
};

export function decideExitCode(evidence: ExitCodeEvidence): ExitDecision {
  const { ending } = evidence;
  if (ending.code === 0) return { exitCode: 0, isChanged: false, why: '' };
  const objection =
    endingObjection(evidence) ?? reportObjection(evidence) ?? classificationObjection(evidence);
  if (objection !== null) return { exitCode: ending.code, isChanged: false, why: objection };
  const failed = countText(evidence.reports.failed, 'failed test');
  return {
    exitCode: 0,
    isChanged: true,
    why: `${failed}, known to be flaky and quarantined; nothing else failed.`,
  };
}

function endingObjection({ ending, failureCodes }: ExitCodeEvidence): string | null {
  if (ending.kind === 'killed') return `The command was terminated by ${ending.signal}.`;
  if (ending.code >= 128 || !failureCodes.includes(ending.code))
    return `The command exited with ${ending.code}, which does not mean that tests failed (${failureCodes.join(', ')} does; see --failure-code).`;
  return null;
}

function reportObjection({ reports }: ExitCodeEvidence): string | null {
  if (reports.files === 0) return 'The command wrote no test report.';
  if (reports.unread > 0) return `${countText(reports.unread, 'report')} could not be read completely.`;
  if (reports.failed === 0)
    return 'The reports show no failed test, so something else failed. See the output of the command.';
  return null;
}

function classificationObjection(evidence: ExitCodeEvidence): string | null {
  const { classification, missingPercentMax, isNarrowed, isRepeated = false, reports } = evidence;
  if (classification.kind === 'absent') return classification.why;
  const { upload } = classification;
  if (upload.state !== 'ingested') return 'The service has not classified the failures.';
  if (!upload.is_complete) return 'The service could not read the reports completely.';
  if (upload.is_suspect)
    return 'Far more tests failed than this job has ever shown, so the cause is not a flaky test.';
  // A test that failed and then passed in a repeat is no failed test of the upload. That does not excuse its failure.
  if (isRepeated && upload.failed < reports.failed)
    return 'A failed test passed when it was repeated. It is new, so its failure is not excused.';
  if (upload.failed === 0) return 'The service found no failed test in the reports.';
  const failures = upload.failures.filter(({ outcome }) => outcome === 'failed');
  if (failures.length !== upload.failed)
    return `The service listed only ${failures.length} of ${countText(upload.failed, 'failed test')}.`;
  return failureObjection(failures) ?? (isNarrowed ? null : missingObjection(upload, missingPercentMax));
}

function failureObjection(failures: readonly ClassifiedFailure[]): string | null {
  const free = failures.filter(({ quarantined }) => !quarantined).length;
  if (free > 0)
    return `${free} of ${countText(failures.length, 'failed test')} ${free === 1 ? 'is' : 'are'} not quarantined.`;
  const strange = failures.filter((failure) => !failure.is_excused).length;
  if (strange > 0)
    return `${countText(strange, 'quarantined test')} failed in a way that was not flaky before, so your change may have caused it.`;
  return null;
}

function missingObjection(
  { usual_tests: usual, missing_tests: missing }: ClassifiedUpload,
  percentMax: number,
): string | null {
  if (usual === null || missing === null)
    return 'This job has too few runs so far to know which tests it usually runs.';
  if (missing > Math.floor((usual * percentMax) / 100))
    return `${missing} of the ${countText(usual, 'test')} that usually run did not run.`;
  return null;
}

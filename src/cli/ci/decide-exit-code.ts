// Does a failed run end with 0 after all? Only if nothing failed but tests that are known to flake and are quarantined,
// and only if that is certain. In this order; the first that is not so keeps the command's own exit code:
//
//   1. The command ended by itself, with the code by which its runner says "tests failed" (1 unless told otherwise).
//      A signal, a code from 128 on or any other code is a crash, a wrong option or a broken build.
//   2. It wrote reports, and every one of them can be read to its end.
//   3. They show a failed test. A failed run without one failed in something that the reports do not show.
//   4. The service was asked, and answered with a judgement of the whole upload: read whole, nothing cut off, and not
//      so many failures that it must be something else than flakes.
//   5. Every failed test is quarantined, and failed in a way in which it flaked before: a flaky test that breaks is not
//      excused.
//   6. The tests that usually run did run. A runner that died half-way has fewer failures, not fewer faults.
//
// For example: exit code 1, 140 tests, one failed, quarantined, known; the job usually runs 140: the exit code is 0. The
// same with 90 tests: the exit code stays 1, because nobody knows what the other 50 would have said.

export type Ending =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string; readonly code: number };

type JudgedFailure = {
  /** flaky: it failed, and passed in another attempt of this run. */
  readonly outcome: 'failed' | 'flaky';
  readonly quarantined: boolean;
  /** Quarantined, and known to flake in this very way. */
  readonly is_excused: boolean;
};

/** Of the service's answer, what decides. */
export type JudgedUpload = {
  readonly state: 'awaited' | 'stored' | 'ingested' | 'failed';
  readonly failed: number;
  readonly usual_tests: number | null;
  readonly missing_tests: number | null;
  readonly is_suspect: boolean;
  readonly is_complete: boolean;
  /** The service lists a bounded number of them. */
  readonly failures: readonly JudgedFailure[];
};

export type Judgement =
  | { readonly kind: 'judged'; readonly upload: JudgedUpload }
  | { readonly kind: 'absent'; readonly why: string };

export type Evidence = {
  readonly ending: Ending;
  /** Codes by which the runner says that tests failed. */
  readonly failureCodes: readonly number[];
  /** How many of the usual tests may be missing, in percent. */
  readonly missingPercentMax: number;
  readonly reports: {
    readonly files: number;
    /** Reports that could not be read to their end. */
    readonly unread: number;
    readonly failed: number;
  };
  readonly judgement: Judgement;
};

export type ExitDecision = {
  readonly exitCode: number;
  readonly isChanged: boolean;
  /** A sentence; empty if the command succeeded. */
  readonly why: string;
};

export function decideExitCode(evidence: Evidence): ExitDecision {
  const { ending } = evidence;
  if (ending.code === 0) return { exitCode: 0, isChanged: false, why: '' };
  const objection = endingObjection(evidence) ?? reportObjection(evidence) ?? judgementObjection(evidence);
  if (objection !== null) return { exitCode: ending.code, isChanged: false, why: objection };
  const failed = count(evidence.reports.failed, 'failed test');
  return {
    exitCode: 0,
    isChanged: true,
    why: `${failed}, known to flake and quarantined; nothing else failed.`,
  };
}

function endingObjection({ ending, failureCodes }: Evidence): string | null {
  if (ending.kind === 'killed') return `The command was ended by ${ending.signal}.`;
  if (ending.code >= 128 || !failureCodes.includes(ending.code))
    return `The command ended with ${ending.code}, which does not mean that tests failed (${failureCodes.join(', ')} does; see --failure-code).`;
  return null;
}

function reportObjection({ reports }: Evidence): string | null {
  if (reports.files === 0) return 'The command wrote no test report.';
  if (reports.unread > 0) return `${count(reports.unread, 'report')} could not be read to the end.`;
  if (reports.failed === 0) return 'No test failed in the reports, so something else did.';
  return null;
}

function judgementObjection({ judgement, missingPercentMax }: Evidence): string | null {
  if (judgement.kind === 'absent') return judgement.why;
  const { upload } = judgement;
  if (upload.state !== 'ingested') return 'The service has not judged the reports.';
  if (!upload.is_complete) return 'The service could not read the reports to the end.';
  if (upload.is_suspect) return 'More tests failed than this job ever shows: something larger is wrong.';
  if (upload.failed === 0) return 'The service found no failed test in the reports.';
  const failures = upload.failures.filter(({ outcome }) => outcome === 'failed');
  if (failures.length !== upload.failed)
    return `Only ${failures.length} of ${count(upload.failed, 'failed test')} could be looked at.`;
  return failureObjection(failures) ?? missingObjection(upload, missingPercentMax);
}

function failureObjection(failures: readonly JudgedFailure[]): string | null {
  const free = failures.filter(({ quarantined }) => !quarantined).length;
  if (free > 0)
    return `${free} of ${count(failures.length, 'failed test')} ${free === 1 ? 'is' : 'are'} not quarantined.`;
  const strange = failures.filter((failure) => !failure.is_excused).length;
  if (strange > 0)
    return `${count(strange, 'quarantined test')} failed in a way in which it is not known to flake: it may be broken.`;
  return null;
}

function missingObjection(
  { usual_tests: usual, missing_tests: missing }: JudgedUpload,
  percentMax: number,
): string | null {
  if (usual === null || missing === null)
    return 'This job has too few runs to know which tests it usually runs.';
  if (missing > Math.floor((usual * percentMax) / 100))
    return `${missing} of the ${count(usual, 'test')} that usually run did not run.`;
  return null;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

// Problems of one file: one item per kind, counted.

import type { UploadProblem } from '#core/health/reported-case.ts';

const reportProblems = {
  EMPTY: 'The file is empty. The runner probably exited before it wrote its report: see the log of the job.',
  NOT_A_REPORT: 'The file is not a supported test report. Upload JUnit XML or CTRF JSON.',
  NO_TESTS: 'The report contains no test. Check that the runner found your tests.',
  CASES_MISSING:
    'The report declares tests but contains none of them. Check whether the runner crashed while it wrote the report.',
  TRUNCATED:
    'The report is truncated. Complete tests were stored; others may be missing. Check whether the job ran out of time, memory or disk space.',
  MALFORMED:
    'The report is not well-formed. Signalbox read as much as possible; check the tool that wrote it.',
  REPAIRED_BYTES:
    'The report contains invalid bytes or characters, which were replaced. Everything else was stored.',
  DTD_IGNORED:
    'The report contains a document type definition, which was ignored. Its entities are not expanded.',
  TOO_DEEP: 'The elements of the report are nested too deeply; the deepest were ignored.',
  TOO_MANY_CASES: 'The report contains too many tests for one file; the rest was ignored. Split the report.',
  CASE_TOO_LARGE: 'The description of a test is too large; the test was ignored.',
  NAMELESS: 'A test has no name and was ignored. Configure the runner to write names.',
  NAME_CUT: 'The name of a test is too long; its end was replaced by a hash.',
  ATTRIBUTE_CUT: 'An attribute is too long; its end was dropped.',
  TEXT_CUT: 'The text of a failure is too long; its beginning and end were kept.',
  SUITE_ERROR:
    'A suite failed outside its tests, for example while it was loaded. Some of its tests may be missing.',
} as const;
export type ReportProblem = keyof typeof reportProblems;

/** Problems with which some tests may be missing from the report. */
const lossy: readonly ReportProblem[] = [
  'TRUNCATED',
  'CASES_MISSING',
  'SUITE_ERROR',
  'NAMELESS',
  'TOO_DEEP',
  'TOO_MANY_CASES',
  'CASE_TOO_LARGE',
];

export class Problems {
  readonly #file: string;
  readonly #found = new Map<string, UploadProblem>();

  constructor(file: string) {
    this.#file = file;
  }

  /** Only the first `detail` of a kind is reported. */
  add(code: ReportProblem, detail?: string, count = 1): void {
    this.addAs(code, detail ?? reportProblems[code], count);
  }

  addAs(code: string, message: string, count = 1): void {
    const known = this.#found.get(code);
    if (known === undefined) this.#found.set(code, { file: this.#file, code, message, count });
    else this.#found.set(code, { ...known, count: known.count + count });
  }

  get isLossy(): boolean {
    return lossy.some((code) => this.#found.has(code));
  }

  list(): readonly UploadProblem[] {
    return [...this.#found.values()];
  }
}

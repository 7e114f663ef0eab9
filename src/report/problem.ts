// Problems of one file: one item per sort, counted.

import type { UploadProblem } from '#core/health/reported-case.ts';

const reportProblems = {
  EMPTY: 'The file is empty. The runner probably ended before it wrote its report: see the log of the job.',
  NOT_A_REPORT: 'This is no test report that can be read. Upload JUnit XML or CTRF JSON.',
  NO_TESTS: 'The report says that no test was run, and none is in it.',
  CASES_MISSING:
    'The report counts tests but holds none of them. See whether the runner crashed while it wrote.',
  TRUNCATED:
    'The report is cut off. Every test that is complete was taken; others may be missing. See whether the job ran out of time, memory or disk.',
  MALFORMED: 'Something is not well-formed and was read as well as possible.',
  REPAIRED_BYTES:
    'Bytes or characters that do not belong in a report were replaced. Nothing else of it is lost.',
  DTD_IGNORED: 'A document type definition was left out. Entities it defines stay as they are written.',
  TOO_DEEP: 'Elements are nested too deeply; what lies below was left out.',
  TOO_MANY_CASES: 'The report holds more tests than are taken from one file; the rest was left out.',
  CASE_TOO_LARGE: 'A test is described in more bytes than are taken; it was left out.',
  NAMELESS: 'A test has no name and was left out: without one it cannot be told from others.',
  NAME_CUT: 'A name is too long; its end was replaced by a hash.',
  ATTRIBUTE_CUT: 'An attribute is too long; its end was left out.',
  TEXT_CUT: 'The text of a failure is too long; its beginning and end were kept.',
  SUITE_ERROR:
    'A suite failed outside of any of its tests, such as while it was loaded. Tests of it may be missing.',
} as const;
export type ReportProblem = keyof typeof reportProblems;

/** Of those, some test may be missing: what is there is then not all. */
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

  /** `detail` is told of the first only. */
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

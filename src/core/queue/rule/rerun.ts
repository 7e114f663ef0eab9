// Running only the failed jobs of a run again, on the same commit, because every test that failed is known to be flaky.
//
// An attempt is one execution of the jobs of a check suite. A rerun is another attempt of the jobs that failed, and of those
// that depend on them; results that passed are kept. Both attempts report under the same names on the same commit, so a run
// keeps which results were excused, and a result of the earlier attempt never decides again:
// - An excused result counts as open until a newer one replaces it.
// - So does every other result in the same suite that did not pass and is older than the new attempt: a job that needs a failed
//   one was skipped, or fails late, and runs again as well.
// A result that passed stays as it is. So a run passes only by the newest result of every required check.
//
// Example: `test` fails at 12:00 and `all-green`, which needs it, at 12:01. Both are excused. At 12:02 `test` is queued again:
// the new attempt has begun. At 12:03 `test` passes; `all-green` is still the result of 12:01, and counts as open. At 12:04
// it passes, and the run has passed.

import { type Check, classifyCheck, countedChecks, type RequiredCheck, unpassedChecks } from '../check.ts';

type ReportedRun = Extract<Check, { kind: 'check' }>;

/** A failed result that does not count. */
export type ExcusedCheck = Pick<ReportedRun, 'suite' | 'name' | 'at'>;

export type Rerun = {
  readonly excused: readonly ExcusedCheck[];
  /** When the new attempt began, by the clock of the Git host; null: it has not begun. */
  readonly since: number | null;
};

const isRun = (check: Check): check is ReportedRun => check.kind === 'check';

/**
 * The failed results, if the Git host may be able to run what failed again: all are check runs. Null: it cannot. A commit status
 * has no job, and a required check that was cancelled may not belong to the failed jobs.
 */
export function findExcused(
  required: readonly RequiredCheck[],
  checks: readonly Check[],
  skippable: readonly string[],
): readonly ExcusedCheck[] | null {
  const counted = unpassedChecks(required, checks, skippable).flatMap((each) => countedChecks(each, checks));
  const suites = new Set<string>();
  for (const check of counted) {
    if (!isRun(check)) return null;
    if (classifyCheck(check) === 'failed') suites.add(check.suite);
  }
  const isExcusable = (check: Check): boolean => {
    const outcome = classifyCheck(check);
    if (outcome === 'passed' || outcome === 'open') return true;
    return outcome !== 'infrastructure' && isRun(check) && suites.has(check.suite);
  };
  if (suites.size === 0 || !counted.every(isExcusable)) return null;
  return checks.flatMap((check) =>
    isRun(check) && suites.has(check.suite) && classifyCheck(check) === 'failed'
      ? [{ suite: check.suite, name: check.name, at: check.at }]
      : [],
  );
}

export const listSuites = (excused: readonly ExcusedCheck[]): readonly string[] => [
  ...new Set(excused.map(({ suite }) => suite)),
];

const findExcuse = (excused: readonly ExcusedCheck[], check: Check): ExcusedCheck | undefined =>
  isRun(check) ? excused.find(({ suite, name }) => suite === check.suite && name === check.name) : undefined;

/** When the new attempt began in every suite; null: in one it has not. */
export function findRerunStart(excused: readonly ExcusedCheck[], checks: readonly Check[]): number | null {
  const begun = checks.filter((check) => {
    const excuse = findExcuse(excused, check);
    return excuse !== undefined && (check.at > excuse.at || classifyCheck(check) === 'open');
  });
  const hasBegun = (suite: string) => begun.some((check) => isRun(check) && check.suite === suite);
  return listSuites(excused).every(hasBegun) ? Math.min(...begun.map(({ at }) => at)) : null;
}

/** The results that count: those of an earlier attempt are open. */
export function currentChecks(checks: readonly Check[], rerun: Rerun | undefined): readonly Check[] {
  if (rerun === undefined) return checks;
  const { excused, since } = rerun;
  const suites = new Set(listSuites(excused));
  return checks.map((check) => {
    if (!isRun(check) || !suites.has(check.suite) || classifyCheck(check) === 'passed') return check;
    const excuse = findExcuse(excused, check);
    const isStale = since === null || check.at < since || (excuse !== undefined && check.at <= excuse.at);
    return isStale ? { ...check, status: 'queued', conclusion: null } : check;
  });
}

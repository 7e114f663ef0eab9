// The runs of a test within the last days.

import { dayMs } from '#base/duration.ts';
import type { BranchClass } from '../branch.ts';
import { dayNumber, type TestCaseHistory } from '../history.ts';

type WindowCounts = { readonly runs: number; readonly failed: number };

/** The rings have exact times. If they do not reach back far enough, whole days are counted. */
export function countRunsInWindow(
  history: TestCaseHistory,
  { branches, windowDays }: { readonly branches: readonly BranchClass[]; readonly windowDays: number },
  now: number,
): WindowCounts {
  const from = now - windowDays * dayMs;
  const runs = history.onDefault;
  if (branches.every((branch) => branch === 'default') && (runs[0]?.at ?? now) <= from) {
    const inside = runs.filter(
      ({ at, outcome, isSuspect }) => at > from && (outcome === 'passed' || !isSuspect),
    );
    return { runs: inside.length, failed: inside.filter(({ outcome }) => outcome === 'failed').length };
  }
  const counts = history.days.filter(
    ({ day, branchClass }) => day >= dayNumber(from) && branches.includes(branchClass),
  );
  return {
    runs: counts.reduce((sum, count) => sum + count.runs, 0),
    failed: counts.reduce((sum, count) => sum + count.failed, 0),
  };
}

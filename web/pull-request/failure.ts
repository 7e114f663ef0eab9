// What failed while a pull request was in the queue: the failing tests that reports name, and the failed checks.

import type { TestingResult } from '../queue/checks.tsx';
import type { FailedTestsSummary } from '../queue/failed-tests.tsx';

/** Each failing test once, as in the latest run in which it failed. `lists`: latest first. */
export function mergeFailedTests(lists: readonly FailedTestsSummary[]): FailedTestsSummary {
  const first = new Map<string, FailedTestsSummary['first'][number]>();
  for (const test of lists.flatMap((list) => list.first))
    if (!first.has(test.testCaseId)) first.set(test.testCaseId, test);
  return {
    // The lists are cut: at least so many failed.
    count: Math.max(first.size, ...lists.map(({ count }) => count)),
    first: [...first.values()],
  };
}

type CheckFailure = { readonly name: string; readonly url: string; readonly run: TestingResult };

/** Each failed check once, of the latest run in which it failed. */
export function mergeFailedChecks(checks: readonly CheckFailure[]): readonly CheckFailure[] {
  const byName = new Map<string, CheckFailure>();
  for (const check of checks) if (!byName.has(check.name)) byName.set(check.name, check);
  return [...byName.values()];
}

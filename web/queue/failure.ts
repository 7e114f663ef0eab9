// What failed while a pull request was in the queue: the failing tests that reports name, and the failed checks.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { TestingResult } from './checks.tsx';

type FailedTests = NonNullable<ResponseOf<'getSubmittedPullRequest'>['failedTests']>;

/** Each failing test once, as in the latest run in which it failed. `lists`: latest first. */
export function mergeFailedTests(lists: readonly FailedTests[]): FailedTests {
  const first = new Map<string, FailedTests['first'][number]>();
  for (const test of lists.flatMap((list) => list.first))
    if (!first.has(test.testCaseId)) first.set(test.testCaseId, test);
  return {
    // The lists are cut: at least so many failed.
    count: Math.max(first.size, ...lists.map(({ count }) => count)),
    first: [...first.values()],
  };
}

export type FailedCheck = { readonly name: string; readonly url: string; readonly run: TestingResult };

/** Each failed check once, of the latest run in which it failed. */
export function mergeFailedChecks(checks: readonly FailedCheck[]): readonly FailedCheck[] {
  const byName = new Map<string, FailedCheck>();
  for (const check of checks) if (!byName.has(check.name)) byName.set(check.name, check);
  return [...byName.values()];
}

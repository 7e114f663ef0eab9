// Targeted search: which entries of a failed batch broke which tests. If the reports on a failed run show every test that
// failed in it, and CI can run them alone, the runs of the bisection run only these tests. Each run then answers for each
// test on its own, so that several culprits are found at once, and a test that fails by chance hides nothing.
//
// The whole batch comes first: a test that passes there failed by chance. For every other test the shortest prefix in which
// it fails is searched, as for a run of all tests (search.ts). The last entry of that prefix is singled out, if the test
// passed in the prefix before it. If tests single out several entries, the first of them is tested alone, and removed if
// its tests fail there too; the rest is searched again without it, since another may fail only together with it. The
// entries that no test singles out count as screened.
//
// Example. #1 to #4 fail together, in the tests a and b. Both fail again in 1+2+3+4. In 1+2 only a fails, in 1 none, in
// 1+2+3 only a. So a singles out #2, and b #4. #2 is tested alone by a, fails and is removed; 1+3+4 is searched by b.
// #1 and #3 count as screened in the end.
//
// A run of some tests proves nothing that lands: each entry that is left still needs a run of all tests.

import type { Draft } from './draft.ts';
import { areTestFailuresConvincing } from './innocence.ts';
import { failedIn, type Run, type ScreenResult, type Search } from './model.ts';

/** How many failed runs must single an entry out before it is removed, if the strategy screens. */
export const failuresToBlame = 2;

/** If more tests failed, they probably have one cause, which a run of all tests shows as well. */
export const namedTestsMax = 100;

/** Once every test is settled, for an entry that no test singles out. */
export const afterTests = {
  none: 'passed',
  passed: 'confirmed',
  doubted: 'confirmed',
  confirmed: 'confirmed',
} as const satisfies Record<ScreenResult, ScreenResult>;

/** After a search by tests without a result: whatever fails next is searched by all tests. */
export const unsettled = {
  none: 'doubted',
  passed: 'doubted',
  doubted: 'doubted',
  confirmed: 'confirmed',
} as const satisfies Record<ScreenResult, ScreenResult>;

/**
 * The tests that a bisection of these entries asks for after this failure; absent: it runs all. Tests may fail only together
 * with others, or give no result alone: an entry that was searched by tests after it was screened, or without a result, is
 * searched by all tests from then on. In lanes, where no entry is screened, that is so after one search by tests.
 */
export function targetedTests(
  draft: Draft,
  { members }: Pick<Search, 'members'>,
  { failedTests }: Run,
): Pick<Search, 'tests'> {
  if (failedTests === undefined || failedTests.length === 0 || failedTests.length > namedTestsMax) return {};
  const allowed: readonly ScreenResult[] = draft.direct ? ['none'] : ['none', 'passed'];
  if (!members.every((pr) => allowed.includes(draft.item(pr).screen))) return {};
  return { tests: failedTests };
}

/** What the runs so far show about one test. */
type TestState = {
  readonly test: string;
  /** The longest prefix in which it passed; 0 is the base itself. */
  readonly passes: number;
  /** The shortest longer prefix in which it failed; the whole batch, if none is known. */
  readonly fails: number;
  readonly failedRun: Run | null;
  /** Its failures in that prefix, without the one that began the search: chance has a part in which tests are searched. */
  readonly failures: number;
};

export const lengthOf = ({ composition }: Run): number => composition.members.length;

/** The failure of a batch that singled out the entry that is tested alone now. */
export const isOfBatch = ({ members }: Search, run: Run): boolean => lengthOf(run) > members.length;

/** A run that CI never ran does not count: no check failed in it. */
export const countBatchFailures = (draft: Draft, search: Search): number =>
  draft.runsOfSearch(search).filter((run) => isOfBatch(search, run) && run.why === null).length;

function testStates(draft: Draft, search: Search): readonly TestState[] {
  const ended = draft
    .runsOfSearch(search)
    .filter(({ status, why }) => status === 'passed' || (status === 'failed' && why === null))
    .filter((run) => !isOfBatch(search, run));
  return (search.tests ?? []).map((test) => stateOf(test, search, ended));
}

function stateOf(test: string, { members }: Search, ended: readonly Run[]): TestState {
  const passed = ended.filter((run) => !failedIn(run, test));
  const passes = Math.max(0, ...passed.map(lengthOf));
  const failed = ended.filter((run) => failedIn(run, test) && lengthOf(run) > passes);
  const fails = Math.min(members.length, ...failed.map(lengthOf));
  const last = failed.filter((run) => lengthOf(run) === fails);
  return {
    test,
    passes,
    fails,
    failedRun: last.at(-1) ?? null,
    failures: last.filter(({ tests }) => tests !== undefined).length,
  };
}

/** It passed in the whole batch, so that chance failed it there before; or it singles out an entry. */
const isTestSettled = (draft: Draft, search: Search, state: TestState): boolean =>
  state.passes === search.members.length || isCulpritShown(draft, search, state);

function isCulpritShown(draft: Draft, search: Search, { passes, fails, failures }: TestState): boolean {
  if (fails !== passes + 1 || failures === 0) return false;
  // An entry of a batch is singled out by one failure, and not removed by it.
  if (search.members.length > 1) return true;
  if (draft.screens) return failures + countBatchFailures(draft, search) >= failuresToBlame;
  const item = draft.items.get(search.members[0]!);
  // One more for the failure in the line.
  return item === undefined || areTestFailuresConvincing(draft, item, failures + 1);
}

/** An entry that a failed run singles out, by these tests. */
export type Culprit = { readonly pr: number; readonly failed: Run; readonly tests: readonly string[] };

/** The entries that tests single out so far, in the order of the batch. */
export function findCulprits(draft: Draft, search: Search): readonly Culprit[] {
  const culprits = new Map<number, Culprit>();
  const states = testStates(draft, search).filter((state) => isCulpritShown(draft, search, state));
  for (const { test, passes, failedRun } of states.toSorted((a, b) => a.passes - b.passes)) {
    const pr = search.members[passes]!;
    const { failed, tests } = culprits.get(pr) ?? { failed: failedRun, tests: [] };
    if (failed !== null && failedIn(failed, test)) culprits.set(pr, { pr, failed, tests: [...tests, test] });
  }
  return [...culprits.values()];
}

const openTests = (draft: Draft, search: Search): readonly TestState[] =>
  testStates(draft, search).filter((state) => !isTestSettled(draft, search, state));

export const areTestsSettled = (draft: Draft, search: Search): boolean =>
  openTests(draft, search).length === 0;

/** Which runs would show something about a test that is not settled. */
export function testRelevance(draft: Draft, search: Search): (run: Run) => boolean {
  const open = openTests(draft, search);
  return (run) => open.some(({ passes, fails }) => lengthOf(run) > passes && lengthOf(run) <= fails);
}

/** At most `free` prefix lengths to test now; `asked` are in progress. */
export function nextTargetedPrefixes(
  draft: Draft,
  search: Search,
  asked: ReadonlySet<number>,
  free: number,
): number[] {
  // A round ends before the next begins: a run in progress may make the next needless.
  if (free <= 0 || asked.size > 0) return [];
  const open = openTests(draft, search);
  const whole = search.members.length;
  const isFirst = !draft.runsOfSearch(search).some(({ tests }) => tests !== undefined);
  if (isFirst && open.some(({ fails }) => fails === whole)) return [whole];
  const lengths = new Set<number>();
  for (const { passes, fails } of open)
    lengths.add(fails - passes === 1 ? fails : Math.floor((passes + fails) / 2));
  return [...lengths].toSorted((a, b) => a - b).slice(0, free);
}

// The end of a bisection (search.ts): which entry was singled out, what lands, and where the others go.

import type { QueuedReason } from '../reason.ts';
import type { Draft } from './draft.ts';
import { areConvincing } from './innocence.ts';
import { LaneWalk } from './lane.ts';
import { assumed, hasFailed } from './line.ts';
import { type Group, isScreen, type Run, type ScreenResult, type Search } from './model.ts';
import {
  afterTests,
  areTestsSettled,
  countBatchFailures,
  type Culprit,
  failuresToBlame,
  findCulprits,
  isOfBatch,
  lengthOf,
  unsettled,
} from './targeted.ts';

/** A bisection of which nothing has passed yet. */
export function addSearch(draft: Draft, begun: Pick<Search, 'base' | 'members' | 'fails' | 'tests'>): Search {
  const search: Search = { id: draft.nextId++, passes: 0, passedRun: null, failedRun: null, ...begun };
  draft.searches.push(search);
  return search;
}

/** Whether the entry is still in the bisection: one that left may be back with another change. */
export function isSearched(draft: Draft, search: Search, pr: number): boolean {
  const place = draft.items.get(pr)?.place;
  return place?.kind === 'search' && place.search === search.id;
}

/** Whether the shortest failing prefix has failed often enough: to single out an entry of a batch, or to remove one alone. */
export function isShown(draft: Draft, search: Search): boolean {
  const { members, failedRun } = search;
  if (failedRun === null) return false;
  if (members.length > 1 || !(draft.screens || draft.direct)) return true;
  const failures = listFailures(draft, search).length;
  if (draft.screens) {
    // A run that CI never ran did not fail by chance: no second run is needed.
    const isRefused = (draft.runs.get(failedRun)?.why ?? null) !== null;
    return isRefused || failures + countBatchFailures(draft, search) >= failuresToBlame;
  }
  const item = draft.items.get(members[0]!);
  // One more for the failure in the line.
  return item === undefined || areConvincing(draft, item, failures + 1);
}

/** The failed runs of the shortest failing prefix. */
const listFailures = (draft: Draft, search: Search): readonly Run[] =>
  draft.runsOfSearch(search).filter((run) => run.status === 'failed' && lengthOf(run) === search.fails);

/** A run was given up without a result: the bisection cannot continue. */
export const wasGivenUp = (draft: Draft, { tests, ...search }: Search): boolean =>
  draft
    .runsOfSearch(search)
    .some(
      (run) =>
        (run.status !== 'failed' || (tests !== undefined && run.why !== null)) && hasFailed(draft, run),
    );

export function conclude(draft: Draft, search: Search): void {
  if (search.tests === undefined) concludePrefix(draft, search);
  else concludeTests(draft, search);
  endSearch(draft, search);
}

/**
 * Removes the first entry that a test singles out, or tests it alone if it was in a batch. Another may fail only together
 * with it, so the rest is searched again without it. If no test singles out an entry, all count as screened. If a run gave
 * no result, the next failure of these entries is searched by all tests.
 */
function concludeTests(draft: Draft, search: Search): void {
  if (!areTestsSettled(draft, search)) {
    for (const pr of search.members) if (draft.items.has(pr)) draft.setScreen(pr, unsettled);
    return;
  }
  const [first, ...others] = findCulprits(draft, search);
  if (first !== undefined && search.members.length === 1)
    draft.fail(first.pr, 'TEST_RUN_REQUIRED_STATUS_FAILED', {
      failedRun: first.failed.id,
      test: first.tests[0]!,
    });
  else if (first !== undefined)
    testCulpritAlone(draft, search, first.pr, [first.failed], { tests: first.tests });
  const rest = search.members.filter((pr) => pr !== first?.pr);
  if (others.length === 0) for (const pr of rest) draft.setScreen(pr, afterTests);
  else searchAgain(draft, search, rest, others);
}

/** Searches the rest of a batch by the tests that single out another entry than the one that was removed. */
function searchAgain(
  draft: Draft,
  { base }: Search,
  members: readonly number[],
  others: readonly Culprit[],
): void {
  const tests = others.flatMap((culprit) => culprit.tests);
  const search = addSearch(draft, { base, members, fails: members.length, tests });
  for (const pr of members) draft.put(pr, { kind: 'search', search: search.id });
}

function concludePrefix(draft: Draft, search: Search): void {
  const { members, passes, fails, passedRun, failedRun } = search;
  const culprit = passes < members.length && fails === passes + 1 ? members[passes]! : null;
  const failed = failedRun === null ? undefined : draft.runs.get(failedRun);
  // Without a result of the repeated run, one failure names no entry.
  if (culprit !== null && failed !== undefined && isShown(draft, search)) {
    // Numbers rise: a run older than the bisection is the line's.
    const isReused = failed.id < search.id && !draft.screens && members.length > 1;
    const why = failed.why ?? (isReused ? 'TEST_RUN_FAILED_BY_OPTIMIZATION' : null);
    if ((passes === 0 && !draft.screens) || members.length === 1)
      draft.fail(culprit, why ?? 'TEST_RUN_REQUIRED_STATUS_FAILED', { failedRun: failed.id });
    else {
      const failures = listFailures(draft, search).map((run) => ({ ...run, why }));
      testCulpritAlone(draft, search, culprit, failures);
    }
  }
  if (draft.screens && passedRun !== null)
    for (const pr of members.slice(0, passes)) draft.setScreen(pr, afterPass);
  landPrefix(draft, search);
}

/** Tests the entry alone that failures of its batch single out. The failed runs come with it. */
function testCulpritAlone(
  draft: Draft,
  { base, members }: Search,
  pr: number,
  failed: readonly Run[],
  tests: Pick<Search, 'tests'> = {},
): void {
  const isFirst = pr === members[0];
  const search = addSearch(draft, { base: isFirst ? base : draft.tip, members: [pr], fails: 1, ...tests });
  for (const run of failed)
    draft.runs.set(run.id, {
      ...run,
      of: { kind: 'search', search: search.id },
      composition: { ...run.composition, tested: 1 },
    });
  draft.put(pr, { kind: 'search', search: search.id });
}

/** Puts the longest prefix that passed into the line, with its run, if that is what would be tested there. */
function landPrefix(draft: Draft, { base, members, passes, passedRun }: Search): void {
  const run = passedRun === null ? undefined : draft.runs.get(passedRun);
  const prefix = members.slice(0, passes);
  if (run === undefined || base !== draft.tip) return;
  const walk = new LaneWalk(draft.settings.mode);
  draft.line.forEach((group, index) => walk.add(index, draft.targetsOf(group)));
  const group: Group = { id: draft.nextId++, members: prefix };
  if (walk.dependencies(draft.targetsOf(group)).length > 0) return;
  draft.append(group);
  draft.runs.set(run.id, { ...run, of: { kind: 'line', group: group.id } });
  for (const pr of prefix) {
    draft.put(pr, { kind: 'line', group: group.id, shown: 'tests_passed' });
    draft.facts.push({ kind: 'passed', pr, run: run.id });
  }
}

const afterPass = {
  none: 'passed',
  passed: 'passed',
  doubted: 'confirmed',
  confirmed: 'confirmed',
} as const satisfies Record<ScreenResult, ScreenResult>;

export function endSearch(draft: Draft, search: Search): void {
  const alone = wasGivenUp(draft, search);
  // It passed alone, and failed with others.
  const failed = alone ? undefined : draft.runsOfSearch(search).find((run) => isOfBatch(search, run));
  const behind =
    failed === undefined ? {} : ({ behind: assumed(failed).at(-1)!, failedTogether: true } as const);
  draft.dropSearch(search);
  for (const pr of search.members)
    if (isSearched(draft, search, pr)) draft.requeue(pr, endReason(draft, search), { alone, ...behind });
}

function endReason(draft: Draft, search: Search): QueuedReason {
  const isWhole = search.members.every((pr) => draft.items.has(pr));
  if (!isScreen(search) || (search.tests !== undefined && isWhole)) return 'BISECTION_TEST_RUN_PASSED';
  if (search.passes === search.members.length) return 'BATCH_TEST_RUN_PASSED';
  return isWhole ? 'BISECTION_REQUIRED' : 'PREREQUISITE_MERGE_ITEM_CANCELLED';
}

// Bisecting a failed batch.
//
// Every candidate is the base plus an ordered prefix of the batch, never another part of it: two halves can
// pass apart and fail together. With k free slots k prefixes are tested at once, so that each round leaves
// 1/(k+1) of the batch. The last entry of the first failing prefix is singled out, since the prefix before it
// passed. If that prefix is the whole batch, which failed only in the line, it is run once more first: no
// entry is singled out merely because it is left over. A queue that reuses known results takes the line's run of
// the very same commits for it.
//
// The longest prefix that passed is a proof: if the branch is still where the bisection began and nothing is
// ahead of it, it lands as it is.
//
// An entry that is singled out may fail only together with one before it, which may never land. So it is not removed
// yet: it is tested alone on the branch (a bisection of one entry, to which the failed run belongs now), and the others
// go back. If it fails there too, it is removed. If it passes, it waits until the last entry before it has landed or
// left. While the prefix before it is landing, the test alone waits: then the failed run itself was one on the branch.
//
// If the strategy screens, two failed runs must single an entry out before it is removed: the failed run of the prefix
// counts as one. The prefix that passed counts as screened.
//
// If dependencies are direct, an entry that failed in the line stands aside: it leaves the line, so that no other waits
// for it, and is tested on the branch, as a screen of one (screen.ts). It is removed once it has failed too often for
// chance (innocence.ts): most often after one more failure.
//
// The base stays fixed while the line continues, so a bisection is about one state of the branch.

import { isRetriable } from './clock.ts';
import { addSearch, conclude, endSearch, isSearched, isShown, wasGivenUp } from './conclude.ts';
import type { Draft } from './draft.ts';
import { assumed } from './line.ts';
import { type Group, isActive, isScreen, type Run, sameMembers, type Search } from './model.ts';
import {
  areTestsSettled,
  isOfBatch,
  lengthOf,
  nextTargetedPrefixes,
  targetedTests,
  testRelevance,
} from './targeted.ts';

export function beginSearch(
  draft: Draft,
  group: Group,
  failed: Run,
  tests: Pick<Search, 'tests'> = {},
): void {
  const { base } = failed.composition;
  const { members } = group;
  const search = addSearch(draft, { base, members, fails: members.length, ...tests });
  draft.line = draft.line.filter((other) => other.id !== group.id);
  for (const run of draft.runsOf(group))
    if (draft.screens ? isSameFailure(failed, run) : run === failed && isReusable(draft, failed))
      draft.runs.set(run.id, { ...run, of: { kind: 'search', search: search.id } });
    else draft.dropRun(run);
  for (const pr of members) {
    draft.facts.push({ kind: 'queued', pr, reason: 'BISECTION_REQUIRED' });
    draft.put(pr, { kind: 'search', search: search.id });
  }
}

/** A bisection without a failure to begin with, on the branch as it is now: its first run is the whole batch. */
export function openScreen(
  draft: Draft,
  members: readonly number[],
  tests: Pick<Search, 'tests'> = {},
): Search {
  return addSearch(draft, { base: draft.tip, members, fails: members.length + 1, ...tests });
}

/**
 * Takes a group that failed out of the line, and tests it alone on the branch. The failure in the line names no entry:
 * chance may have failed the run, or an entry that it assumed, without what that depends on.
 */
export function testAlone(draft: Draft, group: Group, failed: Run): void {
  const { members } = group;
  draft.line = draft.line.filter((other) => other.id !== group.id);
  for (const run of draft.runsOf(group)) draft.dropRun(run);
  const search = openScreen(draft, members, targetedTests(draft, group, failed));
  for (const pr of members) {
    draft.facts.push({ kind: 'queued', pr, reason: 'BISECTION_REQUIRED' });
    draft.put(pr, { kind: 'search', search: search.id });
  }
}

/** The run tested exactly the commits that the bisection would test. */
const isReusable = (draft: Draft, run: Run): boolean =>
  draft.settings.optimizationMode === 'bisection_skip_redundant_tests' && !run.drifted;

/** Another failure of the same commits, or the failure itself. */
export const isSameFailure = (failed: Run, run: Run): boolean =>
  run.status === 'failed' &&
  run.why === null &&
  !run.drifted &&
  run.composition.base === failed.composition.base &&
  sameMembers(run.composition.members, failed.composition.members);

/** Applies the results of the runs and ends the bisections that are concluded. Returns whether one ended. */
export function settleSearches(draft: Draft): boolean {
  let ended = false;
  for (const before of draft.searches) {
    if (!before.members.every((pr) => isSearched(draft, before, pr))) {
      endSearch(draft, before);
      ended = true;
      continue;
    }
    const search = learn(draft, before);
    draft.searches = draft.searches.map((other) => (other.id === search.id ? search : other));
    if (isConcluded(draft, search) || wasGivenUp(draft, search)) {
      conclude(draft, search);
      ended = true;
    }
  }
  return ended;
}

function learn(draft: Draft, search: Search): Search {
  // Each test has its own longest prefix that passes.
  if (search.tests !== undefined)
    return canRunAlone(draft, search) ? search : searchByAllTests(draft, search);
  let { passes, fails, passedRun, failedRun } = search;
  for (const run of draft.runsOfSearch(search)) {
    const length = run.composition.members.length;
    if (run.status === 'passed' && length > passes) [passes, passedRun] = [length, run.id];
  }
  // The only failure left is the one of the whole batch in the line.
  if (fails <= passes) [fails, failedRun] = [search.members.length, null];
  for (const run of draft.runsOfSearch(search)) {
    const length = run.composition.members.length;
    // A failure inside a longer prefix that passed does not count.
    if (run.status !== 'failed' || length <= passes) continue;
    // Of several failures the last one counts: the first may be the line's.
    if (length < fails || (length === fails && run.id > (failedRun ?? 0)))
      [fails, failedRun] = [length, run.id];
  }
  const failed = failedRun === null ? undefined : draft.runs.get(failedRun);
  // The whole batch has just failed: from now on only the tests that failed are run.
  const tests =
    draft.screens && isScreen(search) && failed !== undefined && fails === search.members.length
      ? targetedTests(draft, search, failed)
      : {};
  return { ...search, passes, fails, passedRun, failedRun, ...tests };
}

/** Whether every run of its tests so far had a result for each of them. A test may have another name in a prefix. */
const canRunAlone = (draft: Draft, search: Search): boolean =>
  !draft.runsOfSearch(search).some(({ lacksResults }) => lacksResults === true);

/** Continues the bisection with runs of all tests. */
function searchByAllTests(draft: Draft, targeted: Search): Search {
  const { tests: _, ...search } = targeted;
  for (const run of draft.runsOfSearch(search)) if (run.tests !== undefined) draft.dropRun(run);
  return search;
}

/** A run of the bisection, or a reused one, singles out an entry; or the whole batch passed after all. */
function isConcluded(draft: Draft, search: Search): boolean {
  if (search.tests !== undefined) return areTestsSettled(draft, search);
  return (
    search.passes === search.members.length || (search.fails === search.passes + 1 && isShown(draft, search))
  );
}

/** Starts the next runs of the bisections, within their budget; drops runs that no longer matter. */
export function runSearches(draft: Draft): void {
  for (const search of draft.searches) {
    dropNeedlessRuns(draft, search);
    if (awaitsLanding(draft, search)) continue;
    const matters = relevance(draft, search);
    const known = draft.runsOfSearch(search).filter((run) => run.status !== 'failed' && matters(run));
    for (const run of known)
      if (isRetriable(draft, run) && run.notBefore <= draft.now && draft.freeSlots('search') > 0)
        draft.repeatRun(run);
      else if (isRetriable(draft, run)) draft.wake(run.notBefore);
    const free = draft.freeSlots('search');
    const asked = new Set(known.map(lengthOf));
    const tests = search.tests === undefined ? {} : { tests: search.tests };
    for (const length of nextPrefixes(draft, search, asked, free))
      draft.startRun(
        { kind: 'search', search: search.id },
        { base: search.base, members: search.members.slice(0, length), tested: length },
        { flakes: flakesOf(draft, search, length), ...tests },
      );
  }
}

/** Exactly the entries before the culprit in its failed runs are landing: then these runs tested it on the branch. */
const awaitsLanding = (draft: Draft, search: Search): boolean =>
  draft.landing !== null &&
  draft
    .runsOfSearch(search)
    .some(
      (run) =>
        isOfBatch(search, run) &&
        run.composition.base === draft.tip &&
        sameMembers(assumed(run), draft.landing!.members),
    );

/** How often this prefix failed in nothing but flaky tests. */
const flakesOf = (draft: Draft, search: Search, length: number): number =>
  Math.max(
    0,
    ...draft
      .runsOfSearch(search)
      .map(({ composition, flakes = 0 }) => (composition.members.length === length ? flakes : 0)),
  );

/** If all runs share one budget, the slots of needless runs are free before any other run is started. */
export function freeNeedlessSlots(draft: Draft): void {
  if (draft.sharesSlots) for (const search of draft.searches) dropNeedlessRuns(draft, search);
}

function dropNeedlessRuns(draft: Draft, search: Search): void {
  const matters = relevance(draft, search);
  for (const run of draft.runsOfSearch(search)) if (isActive(run) && !matters(run)) draft.dropRun(run);
}

/**
 * Which runs matter: those longer than `passes` and shorter than `fails`, or as long as `fails` if that has not failed often
 * enough.
 */
function relevance(draft: Draft, search: Search): (run: Run) => boolean {
  const { passes, fails, tests } = search;
  if (tests !== undefined) return testRelevance(draft, search);
  const isOpen = !isShown(draft, search);
  return (run) => lengthOf(run) > passes && (lengthOf(run) < fails || (lengthOf(run) === fails && isOpen));
}

/** At most `free` prefix lengths to test now: evenly spread over the unknown ones. */
function nextPrefixes(draft: Draft, search: Search, asked: ReadonlySet<number>, free: number): number[] {
  const { passes, fails, members, tests } = search;
  if (tests !== undefined) return nextTargetedPrefixes(draft, search, asked, free);
  const unknown = fails - passes - 1;
  if (free <= 0) return [];
  // Nothing is known to fail: the whole batch comes first.
  if (isScreen(search)) return asked.has(members.length) ? [] : [members.length];
  if (unknown === 0) return !isShown(draft, search) && !asked.has(fails) ? [fails] : [];
  // A round ends before the next begins: a run in progress may make the next needless.
  if (asked.size > 0) return [];
  const count = Math.min(free, unknown);
  return Array.from({ length: count }, (_, index) =>
    Math.round(passes + ((index + 1) * (unknown + 1)) / (count + 1)),
  );
}

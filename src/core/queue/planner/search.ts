// Searching a batch for its culprit.
//
// Every candidate is the base plus an ordered prefix of the batch, never a part on its own: two halves can pass apart
// and fail together. With k free slots k prefixes are tested at once, so that each round leaves 1/(k+1) of the batch.
// The first failing prefix names its last entry, since the prefix before it passed. If that prefix is the whole batch,
// which failed only in the line, it is run once more first: nobody is blamed for what is left over. A queue that reuses
// known results takes the line's run of the very same commits for it.
//
// The longest prefix that passed is a proof: if the branch is still where the search began and nothing is ahead of it,
// it lands as it is.
//
// The base stays while the line goes on, so the search is about one state of the branch from beginning to end.

import type { Draft } from './draft.ts';
import { LaneWalk } from './lane.ts';
import { type Group, isActive, type Run, type Search } from './model.ts';
import { isRetriable } from './clock.ts';
import { hasFailed } from './line.ts';

export function beginSearch(draft: Draft, group: Group, failed: Run): void {
  const search: Search = {
    id: draft.nextId++,
    base: failed.composition.base,
    members: group.members,
    passes: 0,
    fails: group.members.length,
    passedRun: null,
    failedRun: null,
  };
  draft.line = draft.line.filter((other) => other.id !== group.id);
  for (const run of draft.runsOf(group))
    if (run === failed && isReusable(draft, failed))
      draft.runs.set(run.id, { ...run, of: { kind: 'search', search: search.id } });
    else draft.dropRun(run);
  draft.searches.push(search);
  for (const pr of group.members) {
    draft.facts.push({ kind: 'queued', pr, reason: 'BISECTION_REQUIRED' });
    draft.put(pr, { kind: 'search', search: search.id });
  }
}

/** What it tested is bit for bit what the search would test. */
const isReusable = (draft: Draft, run: Run): boolean =>
  draft.settings.optimizationMode === 'bisection_skip_redundant_tests' && !run.drifted;

/** Takes in what the runs of every search have shown; ends those that know. Answers whether one ended. */
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
    if (isConcluded(search) || wasGivenUp(draft, search)) {
      conclude(draft, search);
      ended = true;
    }
  }
  return ended;
}

/** Whether it is still in the search: one that left may be back already, as a change that was never in it. */
function isSearched(draft: Draft, search: Search, pr: number): boolean {
  const place = draft.items.get(pr)?.place;
  return place?.kind === 'search' && place.search === search.id;
}

function learn(draft: Draft, search: Search): Search {
  let { passes, fails, passedRun, failedRun } = search;
  for (const run of draft.runsOfSearch(search)) {
    const length = run.composition.members.length;
    if (run.status === 'passed' && length > passes) [passes, passedRun] = [length, run.id];
  }
  // What is left of the failures is the one of the whole batch in the line.
  if (fails <= passes) [fails, failedRun] = [search.members.length, null];
  for (const run of draft.runsOfSearch(search)) {
    const length = run.composition.members.length;
    // A failure inside a longer prefix that passed was not one.
    if (run.status !== 'failed' || length <= passes) continue;
    if (length < fails || (length === fails && failedRun === null)) [fails, failedRun] = [length, run.id];
  }
  return { ...search, passes, fails, passedRun, failedRun };
}

/** The culprit is known by a run of its own, or the whole batch passed after all. */
const isConcluded = ({ passes, fails, failedRun, members }: Search): boolean =>
  passes === members.length || (fails === passes + 1 && failedRun !== null);

/** A run was given up without a result: the search cannot go on. */
const wasGivenUp = (draft: Draft, search: Search): boolean =>
  draft.runsOfSearch(search).some((run) => run.status !== 'failed' && hasFailed(draft, run));

function conclude(draft: Draft, search: Search): void {
  const { members, passes, fails, passedRun, failedRun } = search;
  const culprit = passes < members.length && fails === passes + 1 ? members[passes]! : null;
  if (culprit !== null && failedRun !== null) {
    const evidence = { failedRun, withoutIt: passedRun ?? ('branch' as const) };
    // Numbers rise: a run older than the search is the line's.
    const reused = failedRun < search.id ? ('TEST_RUN_FAILED_BY_OPTIMIZATION' as const) : null;
    const why = draft.runs.get(failedRun)?.why ?? reused ?? 'TEST_RUN_REQUIRED_STATUS_FAILED';
    draft.fail(culprit, why, evidence);
  }
  landPrefix(draft, search);
  endSearch(draft, search);
}

/** Puts the longest prefix that passed into the line, with its run, if that is what would be tested there. */
function landPrefix(draft: Draft, { base, members, passes, passedRun }: Search): void {
  const run = passedRun === null ? undefined : draft.runs.get(passedRun);
  const prefix = members.slice(0, passes);
  if (run === undefined || base !== draft.tip) return;
  if (!prefix.every((pr) => draft.item(pr).ready)) return;
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

function endSearch(draft: Draft, search: Search): void {
  const alone = wasGivenUp(draft, search);
  draft.dropSearch(search);
  for (const pr of search.members)
    if (isSearched(draft, search, pr)) draft.requeue(pr, 'BISECTION_TEST_RUN_PASSED', { alone });
}

/** Starts what the searches want to know next, within their budget; drops what no longer matters. */
export function runSearches(draft: Draft): void {
  const budget = draft.settings.bisectionConcurrency || draft.settings.concurrency;
  for (const search of draft.searches) {
    for (const run of draft.runsOfSearch(search))
      if (isActive(run) && !matters(search, run)) draft.dropRun(run);
    const known = draft.runsOfSearch(search).filter((run) => matters(search, run));
    for (const run of known)
      if (isRetriable(draft, run) && run.notBefore <= draft.now && draft.activeRuns('search') < budget)
        draft.repeatRun(run);
      else if (isRetriable(draft, run)) draft.wake(run.notBefore);
    const free = budget - draft.activeRuns('search');
    const asked = new Set(known.map((run) => run.composition.members.length));
    for (const length of nextPrefixes(search, asked, free))
      draft.startRun(
        { kind: 'search', search: search.id },
        { base: search.base, members: search.members.slice(0, length), tested: length },
      );
  }
}

/** Longer than what passes and shorter than what fails, or as long where only the line has seen that fail. */
const matters = ({ passes, fails, failedRun }: Search, run: Run): boolean => {
  const length = run.composition.members.length;
  return length > passes && (length < fails || (length === fails && failedRun === null));
};

/** At most `free` prefix lengths worth testing now: evenly spread over what is not known. */
function nextPrefixes(search: Search, asked: ReadonlySet<number>, free: number): number[] {
  const { passes, fails, failedRun } = search;
  const unknown = fails - passes - 1;
  if (free <= 0) return [];
  if (unknown === 0) return failedRun === null && !asked.has(fails) ? [fails] : [];
  // A round is answered whole before the next begins: what is under way may make it needless.
  if (asked.size > 0) return [];
  const count = Math.min(free, unknown);
  const lengths = Array.from({ length: count }, (_, index) =>
    Math.round(passes + ((index + 1) * (unknown + 1)) / (count + 1)),
  );
  return [...new Set(lengths)].filter((length) => length > passes && length < fails);
}

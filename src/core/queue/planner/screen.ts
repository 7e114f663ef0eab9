// Screens: some entries are tested alone on the branch, beside the line (strategy.ts). A screen is a
// bisection that begins without a failure: its first run is the whole batch. If that passes, its entries count as
// screened, or land at once if the branch has not moved and nothing is ahead of them. If it fails, the batch is
// bisected (search.ts).
//
// A group of screened entries that fails in the line has failed by chance, or because two changes break together. Of
// three or more entries some may break with what landed since they were screened: all of them are screened again, on
// the branch as it is now. That happens once per entry; after that, and for one or two entries, the group is run once
// more in place, and then bisected. A group with an entry that was not screened is bisected at once.

import type { Draft } from './draft.ts';
import { type Group, isActive, isScreen, isScreened, type Run, type ScreenResult } from './model.ts';
import { beginSearch, isSameFailure, openScreen } from './search.ts';
import { failuresToBlame, targetedTests } from './targeted.ts';

export function beginScreen(draft: Draft, members: readonly number[]): void {
  const search = openScreen(draft, members);
  const run = draft.startRun(
    { kind: 'search', search: search.id },
    { base: search.base, members, tested: members.length },
  );
  for (const pr of members) {
    draft.put(pr, { kind: 'search', search: search.id });
    draft.facts.push({ kind: 'testing', pr, run: run.id });
  }
}

/** Ends the last screen that has a slot, unless it has shown something; returns whether there was one. */
export function endLastScreen(draft: Draft): boolean {
  const last = draft.searches.findLast(
    (search) => search.passes === 0 && isScreen(search) && draft.runsOfSearch(search).some(isActive),
  );
  if (last === undefined) return false;
  draft.dropSearch(last);
  for (const pr of last.members) draft.requeue(pr, 'SKIP_THE_LINE_INTERRUPTED');
  return true;
}

/** Groups this small are run again rather than screened again, which would take as many runs. */
const repeatMax = 2;

const mayBeStale = (draft: Draft, { members }: Group): boolean =>
  members.length > repeatMax && members.some((pr) => draft.item(pr).screen === 'passed');

const wasScreened = (draft: Draft, { members }: Group): boolean =>
  members.every((pr) => isScreened(draft.item(pr)));

/** Whether the failure of this group is run once more before it counts. */
export function needsRepeat(draft: Draft, group: Group, failed: Run): boolean {
  if (targetedTests(draft, group, failed).tests !== undefined) return false;
  if (!wasScreened(draft, group) || mayBeStale(draft, group)) return false;
  const failures = draft.runsOf(group).filter((run) => isSameFailure(failed, run));
  return failures.length < failuresToBlame;
}

const afterDoubt = {
  none: 'none',
  passed: 'doubted',
  doubted: 'doubted',
  confirmed: 'doubted',
} as const satisfies Record<ScreenResult, ScreenResult>;

const afterFailure = {
  none: 'none',
  passed: 'none',
  doubted: 'doubted',
  confirmed: 'doubted',
} as const satisfies Record<ScreenResult, ScreenResult>;

/** What follows from the failure of a group that is not run again in place. */
export function settleScreened(draft: Draft, group: Group, failed: Run): void {
  const tests = targetedTests(draft, group, failed);
  if (tests.tests === undefined) {
    if (wasScreened(draft, group) && mayBeStale(draft, group)) {
      for (const pr of group.members) draft.setScreen(pr, afterDoubt);
      draft.dissolve(group, 'BISECTION_REQUIRED');
      return;
    }
    for (const pr of group.members) draft.setScreen(pr, afterFailure);
  }
  beginSearch(draft, group, failed, tests);
}

// The line as it stands: which runs are still about something that can happen, what each group has shown, and what is
// ahead of it. One view is computed per look, because every verdict changes it.

import type { Draft } from './draft.ts';
import { type Group, isActive, type Run, sameMembers } from './model.ts';
import type { QueuedReason } from '../reason.ts';

export type GroupView = {
  readonly group: Group;
  readonly index: number;
  /** Groups it depends on, by index, in line order. */
  readonly behind: readonly number[];
  /** The entries it depends on, in line order. */
  readonly ahead: readonly number[];
  /** Its runs that are still about something that can happen, and those that are not. */
  readonly runs: readonly Run[];
  readonly dead: readonly Run[];
  /** The one of its runs that holds everything ahead. */
  readonly main: Run | null;
  /** Everything in it is proved: by its own run or, with optimistic merging, by one that contains it. */
  readonly passed: boolean;
};

type KeptView = {
  line: Draft['line'];
  changes: number;
  tip: string;
  optimistic: boolean;
  views: GroupView[];
};
const kept = new WeakMap<Draft, KeptView>();

/** The line as it stands; computed once for as long as nothing that it shows has changed. */
export function viewLine(draft: Draft): readonly GroupView[] {
  const { line, tip } = draft;
  const { changes } = draft.runs;
  const optimistic = draft.settings.canOptimisticallyMerge;
  const known = kept.get(draft);
  if (
    known?.line === line &&
    known.changes === changes &&
    known.tip === tip &&
    known.optimistic === optimistic
  )
    return known.views;
  const views = computeView(draft);
  kept.set(draft, { line, changes, tip, optimistic, views });
  return views;
}

function computeView(draft: Draft): GroupView[] {
  const { closed } = draft.lanes();
  const byGroup = new Map<number, Run[]>();
  for (const run of draft.runs.values())
    if (run.of.kind === 'line') {
      const list = byGroup.get(run.of.group);
      if (list === undefined) byGroup.set(run.of.group, [run]);
      else list.push(run);
    }
  const views = draft.line.map((group, index) => {
    const behind = closed[index]!;
    const ahead = behind.flatMap((earlier) => draft.line[earlier]!.members);
    const all = byGroup.get(group.id) ?? [];
    const runs = all.filter((run) => isPossible(draft, group, ahead, run));
    const dead = all.length === runs.length ? [] : all.filter((run) => !runs.includes(run));
    const main =
      runs.findLast((run) => run.composition.members.length === ahead.length + group.members.length) ?? null;
    return { group, index, behind, ahead, runs, dead, main, passed: main?.status === 'passed' };
  });
  // A passing run proves what it contains; front to back is not needed, because what it contains is closed already.
  if (draft.settings.canOptimisticallyMerge)
    for (const { main, behind } of views)
      if (main?.status === 'passed') for (const earlier of behind) views[earlier]!.passed = true;
  return views;
}

/** What a run assumes to land before its group. */
export const assumed = (run: Run): readonly number[] =>
  run.composition.members.slice(0, run.composition.members.length - run.composition.tested);

/** On the tip, about exactly this group, on top of some of what is ahead of it, in order. */
function isPossible(draft: Draft, group: Group, ahead: readonly number[], run: Run): boolean {
  const { base, members, tested } = run.composition;
  if (base !== draft.tip || !sameMembers(members.slice(members.length - tested), group.members)) return false;
  let at = 0;
  for (const pr of assumed(run)) {
    while (at < ahead.length && ahead[at] !== pr) at++;
    if (at++ === ahead.length) return false;
  }
  return true;
}

/** Dissolves every group none of whose runs can happen any more; answers whether there was one. */
export function pruneLine(draft: Draft): boolean {
  const dissolved = new Set<number>();
  for (const view of viewLine(draft)) {
    const { group, behind, ahead } = view;
    if (draft.isProtected(group)) continue;
    // What is tested on top of a group that is dissolved just now is about something that cannot happen either.
    const gone = behind.some((index) => dissolved.has(index))
      ? new Set(ahead.filter((pr) => draft.items.get(pr)?.place.kind !== 'line'))
      : nobody;
    const [possible, dead] = [[] as Run[], [...view.dead]];
    for (const run of view.runs) (assumed(run).some((pr) => gone.has(pr)) ? dead : possible).push(run);
    if (possible.length > 0) for (const run of dead) draft.dropRun(run);
    else {
      const [first] = dead;
      draft.dissolve(group, first === undefined ? 'BISECTION_REQUIRED' : whyRestarted(draft, first));
      dissolved.add(view.index);
    }
  }
  return dissolved.size > 0;
}

const nobody: ReadonlySet<number> = new Set();

function whyRestarted(draft: Draft, run: Run): QueuedReason {
  const departures = new Set(run.composition.members.map((pr) => draft.gone.get(pr)));
  if (departures.has('failed')) return 'PREREQUISITE_MERGE_ITEM_FAILED';
  if (departures.has('cancelled')) return 'PREREQUISITE_MERGE_ITEM_CANCELLED';
  if (departures.has('merged_by_hand')) return 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED';
  if (run.composition.base !== draft.tip) return 'MANUAL_PUSH_TO_TARGET_BRANCH';
  // Somebody ahead went to be searched, or stands elsewhere now.
  return 'PREREQUISITE_MERGE_ITEM_FAILED';
}

/** Sets what people see of every group, and says so where it changed. */
export function showLine(draft: Draft): void {
  const views = viewLine(draft);
  for (const view of views) {
    const shown = view.passed ? 'tests_passed' : hasFailed(view.main) ? 'pending_failure' : 'testing';
    for (const pr of view.group.members) {
      const { place } = draft.item(pr);
      if (place.kind !== 'line' || place.shown === shown) continue;
      draft.put(pr, { kind: 'line', group: view.group.id, shown });
      const run = view.main?.id ?? 0;
      const kind =
        shown === 'tests_passed' ? 'passed' : shown === 'pending_failure' ? 'suspected' : 'testing';
      draft.facts.push({ kind, pr, run });
    }
  }
}

/** A result against it: red, or the machinery gave up on it. */
export const hasFailed = (run: Run | null): boolean =>
  run !== null && !isActive(run) && run.status !== 'passed' && !isRetriable(run);

/** Time-outs are tried once more, failures to start several times with pauses. */
const attemptsMax = { timed_out: 1, start_failed: 4 } as const;

export function isRetriable(run: Run): boolean {
  if (run.status === 'timed_out') return run.attempt < attemptsMax.timed_out;
  return run.status === 'start_failed' && run.attempt < attemptsMax.start_failed;
}

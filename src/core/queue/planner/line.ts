// The current state of the line: which runs can still happen, what each group has shown, and what is ahead of
// it. The view is computed again after each verdict, because every verdict changes it.

import { isRetriable } from './clock.ts';
import type { Draft } from './draft.ts';
import { type Group, isActive, type Run } from './model.ts';
import type { QueuedReason } from '../reason.ts';

export type GroupView = {
  readonly group: Group;
  readonly index: number;
  /** Groups it depends on, by index, in queue order. */
  readonly behind: readonly number[];
  /** Its runs that can still happen, and those that cannot. */
  readonly runs: readonly Run[];
  readonly dead: readonly Run[];
  /** Its run that contains every entry ahead. */
  readonly main: Run | null;
  /** All of it is proved: by its own run or, with optimistic merging, by one that contains it. */
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

/** The view of the line; computed once for as long as nothing in it has changed. */
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
  const byGroup = runsByGroup(draft.runs);
  const order = orderMembers(draft.line);
  const views = draft.line.map((group, index) => {
    const behind = closed[index]!;
    const all = byGroup.get(group.id) ?? [];
    const runs = all.filter((run) => isPossible(draft, group, behind, order, run));
    const dead = all.length === runs.length ? [] : all.filter((run) => !runs.includes(run));
    let whole = group.members.length;
    for (const earlier of behind) whole += draft.line[earlier]!.members.length;
    const main = runs.findLast((run) => run.composition.members.length === whole) ?? null;
    return { group, index, behind, runs, dead, main, passed: main?.status === 'passed' };
  });
  // A passing run proves what it contains; the order does not matter, because `behind` is already transitive. If
  // dependencies are direct, a run need not contain what an entry that it assumes depends on, and proves its group only.
  if (draft.settings.canOptimisticallyMerge && !draft.direct)
    for (const { main, behind } of views)
      if (main?.status === 'passed') for (const earlier of behind) views[earlier]!.passed = true;
  return views;
}

/** The runs of each group in the line. */
export function runsByGroup(runs: ReadonlyMap<number, Run>): ReadonlyMap<number, readonly Run[]> {
  const found = new Map<number, Run[]>();
  for (const run of runs.values())
    if (run.of.kind === 'line') {
      const list = found.get(run.of.group);
      if (list === undefined) found.set(run.of.group, [run]);
      else list.push(run);
    }
  return found;
}

/** The entries that a run assumes to land before its group. */
export const assumed = (run: Run): readonly number[] =>
  run.composition.members.slice(0, run.composition.members.length - run.composition.tested);

/** The entries of the line in sequence. */
type MemberOrder = {
  readonly members: readonly number[];
  /** The index in the line of the group of each. */
  readonly groups: readonly number[];
  readonly positions: ReadonlyMap<number, number>;
};

function orderMembers(line: readonly Group[]): MemberOrder {
  const members: number[] = [];
  const groups: number[] = [];
  for (const [index, group] of line.entries())
    for (const pr of group.members) {
      members.push(pr);
      groups.push(index);
    }
  return { members, groups, positions: new Map(members.map((pr, position) => [pr, position])) };
}

/** On the tip, about exactly this group, on top of some of the entries it depends on, in order. */
function isPossible(
  draft: Draft,
  group: Group,
  behind: readonly number[],
  order: MemberOrder,
  { composition: { base, members, tested }, isDirectOnly = false }: Run,
): boolean {
  if (isDirectOnly && !draft.direct) return false;
  const assumedCount = members.length - tested;
  if (base !== draft.tip || tested !== group.members.length) return false;
  for (let at = 0; at < tested; at++) if (members[assumedCount + at] !== group.members[at]) return false;
  let before = -1;
  let next = 0;
  for (let at = 0; at < assumedCount; at++) {
    const pr = members[at]!;
    // Most runs assume entries that follow each other: in a long line, looking each up would take most of a plan.
    const position = order.members[before + 1] === pr ? before + 1 : order.positions.get(pr);
    if (position === undefined || position <= before) return false;
    const index = order.groups[position]!;
    while (next < behind.length && behind[next]! < index) next++;
    if (behind[next] !== index) return false;
    before = position;
  }
  return true;
}

/**
 * Dissolves every group none of whose runs can happen any more; returns whether there was one. If dependencies are
 * direct, such a group keeps its position without a run: the runs that assume it are still right about it.
 */
export function pruneLine(draft: Draft): boolean {
  if (draft.direct) {
    for (const view of viewLine(draft)) if (!draft.isProtected(view.group)) pruneInPlace(draft, view);
    return false;
  }
  const dissolved = new Set<number>();
  for (const view of viewLine(draft)) {
    const { group, behind } = view;
    if (draft.isProtected(group)) continue;
    // A run on top of a group that has just been dissolved cannot happen either.
    const isShaken = dissolved.size > 0 && behind.some((index) => dissolved.has(index));
    const isDead = (run: Run) =>
      isShaken && assumed(run).some((pr) => draft.items.get(pr)?.place.kind !== 'line');
    const possible = view.runs.filter((run) => !isDead(run));
    const dead = [...view.dead, ...view.runs.filter(isDead)];
    if (possible.length > 0) for (const run of dead) draft.dropRun(run);
    else {
      const [first] = dead;
      draft.dissolve(group, first === undefined ? 'BISECTION_REQUIRED' : whyRestarted(draft, first));
      dissolved.add(view.index);
    }
  }
  return dissolved.size > 0;
}

function pruneInPlace(draft: Draft, { group, runs, dead }: GroupView): void {
  for (const run of dead) draft.dropRun(run);
  const [first] = dead;
  if (first === undefined || runs.length > 0) return;
  for (const pr of group.members) {
    draft.put(pr, { kind: 'line', group: group.id, shown: 'pending' });
    draft.facts.push({ kind: 'queued', pr, reason: whyRestarted(draft, first) });
  }
}

function whyRestarted(draft: Draft, run: Run): QueuedReason {
  const departures = new Set(run.composition.members.map((pr) => draft.gone.get(pr)));
  if (departures.has('failed')) return 'PREREQUISITE_MERGE_ITEM_FAILED';
  if (departures.has('cancelled')) return 'PREREQUISITE_MERGE_ITEM_CANCELLED';
  if (departures.has('merged_by_hand')) return 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED';
  if (run.composition.base !== draft.tip || run.isDirectOnly === true) return 'MANUAL_PUSH_TO_TARGET_BRANCH';
  // An entry ahead is bisected, or has another position now.
  return 'PREREQUISITE_MERGE_ITEM_FAILED';
}

/** Sets the displayed state of every group that has runs, and records a fact where it changed. */
export function showLine(draft: Draft): void {
  const views = viewLine(draft);
  for (const view of views) {
    if (view.runs.length === 0) continue;
    const shown = shownAs(draft, view);
    for (const pr of view.group.members) {
      const { place } = draft.item(pr);
      if (place.kind !== 'line' || place.shown === shown) continue;
      draft.put(pr, { kind: 'line', group: view.group.id, shown });
      const run = (view.main ?? view.runs.at(-1))?.id ?? 0;
      const kind =
        shown === 'tests_passed' ? 'passed' : shown === 'pending_failure' ? 'suspected' : 'testing';
      draft.facts.push({ kind, pr, run });
    }
  }
}

/** A result against the change, or no result after every repeat. */
export const hasFailed = (draft: Pick<Draft, 'outageSince'>, run: Run | null): boolean =>
  run !== null && !isActive(run) && run.status !== 'passed' && !isRetriable(draft, run);

/** A run that was given up without a result shows nothing against the change. */
function shownAs(draft: Draft, { passed, main }: GroupView): 'testing' | 'tests_passed' | 'pending_failure' {
  if (passed) return 'tests_passed';
  return hasFailed(draft, main) && main?.status !== 'infrastructure' ? 'pending_failure' : 'testing';
}

// How a landing ends, and how that changes the runs that were built on the branch as it was.

import type { CancelledReason, FailedReason } from '../reason.ts';
import { withOneMoreAttempt } from './clock.ts';
import type { Draft } from './draft.ts';
import { share, type Targets } from './lane.ts';
import { assumed } from './line.ts';
import { type Landing, type Run, sameMembers, type Search, type Tip } from './model.ts';

/** The landing happened. Runs on top of the branch with it are now runs on top of the branch itself. */
export function landed(draft: Draft, tip: Tip): void {
  const { landing } = draft;
  if (landing === null) return;
  const before = draft.tip;
  draft.landing = null;
  draft.tip = tip;
  const landedTargets = landing.members.map((pr) => draft.item(pr).targets);
  const reason = landing.proof.kind === 'direct' ? 'MERGE_GRAPH_DIRECT_MERGE' : 'MERGE_GRAPH_MERGE';
  for (const pr of landing.members) draft.countUntestedLanding(pr);
  for (const run of draft.runs.values())
    if (run.of.kind === 'line' && run.composition.base === before)
      draft.runs.set(
        run.id,
        withOneMoreAttempt(rebased(draft, run, landing.members, landedTargets), draft.now),
      );
  draft.searches = draft.searches.map((search) => followLanding(draft, search, before, landing.members));
  for (const pr of landing.members) {
    draft.facts.push({ kind: 'merged', pr, reason, proof: landing.proof, tip });
    const group = draft.line.find(({ members }) => members.includes(pr));
    if (group !== undefined) {
      draft.line = draft.line.filter((other) => other !== group);
      for (const run of draft.runsOf(group)) draft.dropRun(run);
    }
    draft.items.delete(pr);
  }
}

function rebased(draft: Draft, run: Run, members: readonly number[], targets: readonly Targets[]): Run {
  const { composition } = run;
  const rest = composition.members.filter((pr) => !members.includes(pr));
  const began = composition.members.slice(0, composition.members.length - rest.length);
  const exact = began.length === members.length && began.every((pr, index) => pr === members[index]);
  const moved = { ...run, composition: { ...composition, base: draft.tip, members: rest } };
  if (exact) return moved;
  if (draft.settings.mode === 'single') return run;
  // Other lanes landed in between: their targets must be disjoint from those of the entries left in this run. If
  // dependencies are direct, an assumed entry has its own run, and only the group must be apart.
  const others = members.filter((landedPr) => !composition.members.includes(landedPr));
  const isApart = (pr: number) => {
    const own = draft.items.get(pr)?.targets ?? 'ALL';
    return others.every((landedPr) => !share(own, targets[members.indexOf(landedPr)]!));
  };
  const isGroupApart = rest.slice(-composition.tested).every(isApart);
  const isDirectOnly = run.isDirectOnly === true || !rest.every(isApart);
  // With optimistic merging, entries that landed as one are proved as one, but not a part of them alone.
  const held = members.filter((pr) => composition.members.includes(pr)).length;
  const inPart = draft.settings.canOptimisticallyMerge && held > 0 && held < members.length;
  const overtaken = run.overtaken || inPart;
  if (!isGroupApart) return run;
  return { ...moved, drifted: true, overtaken, ...(isDirectOnly ? { isDirectOnly } : {}) };
}

/** If exactly what the runs of a bisection assumed has landed, they were runs on the branch (search.ts). */
function followLanding(draft: Draft, search: Search, before: Tip, landedMembers: readonly number[]): Search {
  const runs = draft.runsOfSearch(search);
  const isOnTop = (run: Run) => run.composition.base === before && sameMembers(assumed(run), landedMembers);
  if (runs.length === 0 || !runs.every(isOnTop)) return search;
  const { tip } = draft;
  for (const run of runs)
    draft.runs.set(run.id, { ...run, composition: { base: tip, members: search.members, tested: 1 } });
  return { ...search, base: tip };
}

/** Nothing was pushed, because the branch had moved. */
export function landingLost(draft: Draft, movedTo: Tip): void {
  const { landing } = draft;
  if (landing === null) return;
  draft.landing = null;
  draft.tip = movedTo;
  standDown(draft, landing);
}

export type LandingRefusal = Extract<FailedReason, 'MERGE_REFUSED_BY_HOST' | 'PR_UPDATED_AT_MERGE_TIME'>;

/** Nothing was pushed, because the host refused one of the members. */
export function landingRefused(draft: Draft, { pr, reason }: { pr: number; reason: LandingRefusal }): void {
  const { landing } = draft;
  if (landing === null || !landing.members.includes(pr)) return;
  draft.landing = null;
  draft.fail(pr, reason, null);
  standDown(draft, landing);
}

type PartialLanding = {
  members: readonly number[];
  tip: Tip;
  pr: number | null;
  reason: LandingRefusal | null;
};

/** Only some members landed: the host refused the next one, or (null) it may not land now. */
export function landedInPart(draft: Draft, { members, tip, pr, reason }: PartialLanding): void {
  const { landing } = draft;
  if (landing === null || (pr !== null && !landing.members.includes(pr))) return;
  draft.landing = { ...landing, members };
  landed(draft, tip);
  const rest = landing.members.filter((member) => draft.items.has(member));
  const why =
    pr !== null
      ? 'PREREQUISITE_MERGE_ITEM_FAILED'
      : rest.every((member) => draft.item(member).ready)
        ? 'MANUAL_PUSH_TO_TARGET_BRANCH'
        : 'PREREQUISITE_MERGE_ITEM_CANCELLED';
  // Members that shared a group with a landed entry have lost that group.
  for (const member of rest) {
    const { place } = draft.item(member);
    if (place.kind === 'line' && !draft.line.some((group) => group.id === place.group))
      draft.requeue(member, why);
  }
  if (pr !== null && reason !== null) draft.fail(pr, reason, null);
  standDown(draft, { ...landing, members: landing.members.filter((member) => draft.items.has(member)) });
}

export function mergedByHand(draft: Draft, pr: number, tip: Tip): void {
  draft.facts.push({ kind: 'merged', pr, reason: 'MANUAL_MERGE', proof: null, tip });
  const landing = draft.isLanding(pr) ? draft.landing : null;
  if (landing !== null) draft.landing = null;
  draft.leave(pr, 'merged_by_hand');
  // If another landing is in progress, its outcome shows where the branch is.
  if (draft.landing === null) draft.tip = tip;
  if (landing !== null) standDown(draft, landing);
}

/**
 * The landing did not happen: members that were to be cancelled meanwhile are cancelled now. Runs that other
 * lanes overtook restart: their targets may have changed during the landing, which would make the lane proof
 * void.
 */
function standDown(draft: Draft, { members }: Landing): void {
  for (const run of draft.runs.values()) {
    if (!run.drifted || run.of.kind !== 'line') continue;
    const { group: id } = run.of;
    const group = draft.line.find((other) => other.id === id);
    if (group !== undefined && run.composition.members.some((pr) => members.includes(pr)))
      draft.dissolve(group, 'PREREQUISITE_MERGE_ITEM_FAILED');
  }
  for (const pr of members) {
    const item = draft.items.get(pr);
    if (item?.endRequested) end(draft, pr, item.endRequested);
  }
}

export function end(draft: Draft, pr: number, reason: CancelledReason): void {
  draft.facts.push({ kind: 'cancelled', pr, reason });
  draft.leave(pr, 'cancelled');
}

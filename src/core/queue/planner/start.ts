// Starting tests: urgent entries go ahead of what is under test, then the strategy's proposals fill the free slots.

import { isUrgent } from '../priority.ts';
import type { Draft } from './draft.ts';
import { LaneWalk } from './lane.ts';
import { type Group, type Item, type QueuePosition, type Run, sameMembers } from './model.ts';
import { ageingMs, inOrder } from './order.ts';
import { beginScreen, endLastScreen } from './screen.ts';
import type { Strategy } from './strategy.ts';

/** The entries that may start in this state of the queue, in no order. */
function startable(draft: Draft): Item[] {
  if (draft.state === 'PAUSED') return [];
  const able: Item[] = [];
  for (const item of draft.items.values()) {
    const { place } = item;
    if (place.kind !== 'pending' || draft.isLanding(item.pr)) continue;
    if (place.behind !== null && isInLine(draft, place.behind)) continue;
    if (draft.state === 'SWITCHING_MODES' && !place.restarting) continue;
    able.push(item);
    // From this time on only urgent entries go before it.
    draft.wake(item.submittedAt + ageingMs);
  }
  return able;
}

/** Whether the entry may still land before one that waits for it: an entry that is not ready cannot. */
const isInLine = (draft: Draft, pr: number): boolean =>
  draft.items.has(pr) && draft.item(pr).place.kind !== 'not_ready';

const isUrgentGroup = (draft: Draft, group: Group): boolean =>
  group.members.some((pr) => isUrgent(draft.item(pr).priority));

/** Puts urgent entries ahead of the entries under test, which restart behind them. Returns whether it did. */
export function preempt(draft: Draft): boolean {
  const { line, searches } = draft;
  placeUrgent(draft);
  return draft.line !== line || draft.searches !== searches;
}

function placeUrgent(draft: Draft): void {
  const urgent = startable(draft).filter((item) => isUrgent(item.priority));
  for (const item of inOrder(urgent, draft.now)) {
    const walk = new LaneWalk(draft.settings.mode);
    walk.add(0, [item.targets]);
    // The groups that depend on it, directly or through others: their order among each other stays.
    const displaced = draft.line.filter((group, index) => {
      if (draft.isProtected(group) || isUrgentGroup(draft, group)) return false;
      const depends = walk.dependencies(draft.targetsOf(group)).length > 0;
      if (depends) walk.add(index + 1, draft.targetsOf(group));
      return depends;
    });
    for (const group of displaced) draft.dissolve(group, 'SKIP_THE_LINE_INTERRUPTED');
    while (draft.freeSlots('line') <= 0) if (!makeRoom(draft)) return;
    // Every group that shares a target with it has left the line, except those that stay ahead of it.
    placeGroup(draft, [item.pr]);
  }
}

/**
 * Requeues the last entries under test, for an urgent entry that shares no target with any group, or that finds all
 * slots taken by screens.
 */
function makeRoom(draft: Draft): boolean {
  if (draft.screens && endLastScreen(draft)) return true;
  const last = draft.line.findLast(
    (group) =>
      !draft.isProtected(group) &&
      !isUrgentGroup(draft, group) &&
      draft.runsOf(group).some((run) => run.status === 'starting' || run.status === 'running'),
  );
  if (last === undefined) return false;
  draft.dissolve(last, 'SKIP_THE_LINE_INTERRUPTED');
  return true;
}

/** Starts what the strategy proposes until it proposes no more: after one start, another group may form. */
export function startProposals(draft: Draft, strategy: Strategy): void {
  // The landing in progress decides shortly which entries failed and might make a new run worthless.
  if (draft.landing !== null || draft.state === 'PAUSED') return;
  if (draft.direct) startInPlace(draft, strategy);
  else while (startRound(draft, strategy));
}

/** The longest line, if dependencies are direct: a plan must stay fast however long the queue is. */
const lineMax = 1_000;
/** With so many targets, no more entries are put into the line at once than slots are free. */
const placedTargetsMax = 3_000_000;

/**
 * If dependencies are direct, every entry that may start is put at the end of the line, and the strategy proposes runs
 * of groups there. Entries at the end that get none are pending again: they have no position to keep yet.
 */
function startInPlace(draft: Draft, strategy: Strategy): void {
  const free = draft.freeSlots('line');
  if (free <= 0) return;
  const { nextId } = draft;
  const before = new Map<number, QueuePosition>();
  const waiting = inOrder(startable(draft), draft.now);
  const groups: Group[] = [];
  let targets = 0;
  for (const item of waiting.slice(0, Math.max(0, lineMax - draft.line.length))) {
    const { pr, place } = item;
    targets += item.targets === 'ALL' ? 0 : item.targets.length;
    if (targets > placedTargetsMax && groups.length >= free) break;
    const group: Group = { id: draft.nextId++, members: [pr] };
    groups.push(group);
    before.set(pr, place);
    draft.put(pr, { kind: 'line', group: group.id, shown: 'pending' });
  }
  draft.append(...groups);
  const started = draft.nextId;
  while (startRuns(draft, strategy));
  const tested = new Set([...draft.runs.values()].map(({ of }) => (of.kind === 'line' ? of.group : null)));
  const last = draft.line.findLastIndex(({ id, members }) => tested.has(id) || !before.has(members[0]!));
  for (const { members } of draft.line.slice(last + 1)) draft.put(members[0]!, before.get(members[0]!)!);
  draft.line = draft.line.slice(0, last + 1);
  // A plan that starts nothing leaves everything as it was.
  if (draft.nextId === started && !before.has(draft.line.at(-1)?.members[0] ?? 0)) draft.nextId = nextId;
}

/** Starts the runs of groups in the line that the strategy proposes; returns whether there was one. */
function startRuns(draft: Draft, strategy: Strategy): boolean {
  const free = draft.freeSlots('line');
  if (free <= 0 || draft.line.length === 0) return false;
  const dependencies = draft.lanes().closed;
  const view = { queue: draft, pending: [], free, now: draft.now, dependencies };
  const { proposals, wakeAt } = strategy.propose(view);
  if (wakeAt !== null) draft.wake(wakeAt);
  let left = free;
  for (const proposal of proposals) {
    if (left === 0) break;
    if ('group' in proposal && startWithout(draft, proposal.group, proposal.without)) left--;
  }
  return left < free;
}

/** Accepts the strategy's proposals as far as they are sound and slots are free; returns whether any was. */
function startRound(draft: Draft, strategy: Strategy): boolean {
  const able = startable(draft);
  const free = draft.freeSlots('line');
  if (free <= 0 || (able.length === 0 && draft.line.length === 0)) return false;
  const pending = inOrder(able, draft.now);
  const dependencies = draft.lanes().closed;
  const { proposals, wakeAt } = strategy.propose({
    queue: draft,
    pending,
    free,
    now: draft.now,
    dependencies,
  });
  if (wakeAt !== null) draft.wake(wakeAt);
  const unplaced = new Set(pending.map((item) => item.pr));
  let left = free;
  for (const proposal of proposals) {
    if (left === 0) return true;
    if ('group' in proposal) {
      if (startWithout(draft, proposal.group, proposal.without)) left--;
      continue;
    }
    const isScreen = 'screen' in proposal;
    const members = isScreen ? proposal.screen : proposal.members;
    if (isScreen && !mayScreen(draft, members)) continue;
    if (members.length === 0 || !members.every((pr) => unplaced.delete(pr))) continue;
    if (isScreen) beginScreen(draft, members);
    else placeGroup(draft, members);
    left--;
  }
  return left < free;
}

/** An entry whose batch gave no result is tested alone in the line, which ends in a verdict; a screen need not. */
const mayScreen = (draft: Draft, members: readonly number[]): boolean =>
  draft.screens &&
  members.every((pr) => {
    const place = draft.items.get(pr)?.place;
    return place?.kind === 'pending' && !place.alone;
  });

/**
 * Starts one more run of a group, without some of the entries that are ahead of it and that it depends on. The run counts
 * once these have left. Returns whether it was sound: no run of the group may have tested the same before.
 */
function startWithout(draft: Draft, id: number, without: readonly number[]): boolean {
  const index = draft.line.findIndex((group) => group.id === id);
  const group = draft.line[index];
  if (group === undefined || (without.length === 0 && !draft.direct)) return false;
  const ahead = draft.lanes().closed[index]!.flatMap((earlier) => draft.line[earlier]!.members);
  if (!without.every((pr) => ahead.includes(pr))) return false;
  const members = [...ahead.filter((pr) => !without.includes(pr)), ...group.members];
  const isTried = ({ composition }: Run) =>
    composition.base === draft.tip && sameMembers(composition.members, members);
  if (draft.runsOf(group).some(isTried)) return false;
  const composition = { base: draft.tip, members, tested: group.members.length };
  const run = draft.startRun({ kind: 'line', group: id }, composition);
  for (const pr of group.members) {
    const { place } = draft.item(pr);
    if (place.kind !== 'line' || place.shown !== 'pending') continue;
    draft.put(pr, { ...place, shown: 'testing' });
    draft.facts.push({ kind: 'testing', pr, run: run.id });
  }
  return true;
}

/** Appends a group to the line and starts its run on top of the groups that it depends on. */
function placeGroup(draft: Draft, members: readonly number[]): void {
  const group: Group = { id: draft.nextId++, members };
  const ahead = draft.append(group);
  for (const pr of members) draft.put(pr, { kind: 'line', group: group.id, shown: 'testing' });
  const run = draft.startRun(
    { kind: 'line', group: group.id },
    { base: draft.tip, members: [...ahead, ...members], tested: members.length },
  );
  for (const pr of members) draft.facts.push({ kind: 'testing', pr, run: run.id });
}

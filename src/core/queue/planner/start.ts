// Starting tests: urgent entries go ahead of what is under test, then the strategy's proposals fill the free slots.

import { isUrgent } from '../priority.ts';
import type { Draft } from './draft.ts';
import { LaneWalk } from './lane.ts';
import type { Group, Item } from './model.ts';
import { ageingMs, inOrder } from './order.ts';
import type { Strategy } from './strategy.ts';

/** What may start in this state of the queue, in no order. */
function startable(draft: Draft): Item[] {
  if (draft.state === 'PAUSED') return [];
  const able: Item[] = [];
  for (const item of draft.items.values()) {
    const { place } = item;
    if (place.kind !== 'pending' || draft.isLanding(item.pr)) continue;
    if (place.behind !== null && isInLine(draft, place.behind)) continue;
    if (draft.state === 'SWITCHING_MODES' && !place.restarting) continue;
    able.push(item);
    // From then on nothing but urgent goes before it.
    draft.wake(item.submittedAt + ageingMs);
  }
  return able;
}

/** Whether it may still land before somebody who waits for it: one that is not ready is out of the line. */
const isInLine = (draft: Draft, pr: number): boolean =>
  draft.items.has(pr) && draft.item(pr).place.kind !== 'not_ready';

const isUrgentGroup = (draft: Draft, group: Group): boolean =>
  group.members.some((pr) => isUrgent(draft.item(pr).priority));

/** Puts urgent entries ahead of what is under test, which begins anew behind them. Answers whether the line changed. */
export function preempt(draft: Draft): boolean {
  const before = draft.line;
  placeUrgent(draft);
  return draft.line !== before;
}

function placeUrgent(draft: Draft): void {
  const urgent = startable(draft).filter((item) => isUrgent(item.priority));
  for (const item of inOrder(urgent, draft.now)) {
    const walk = new LaneWalk(draft.settings.mode);
    walk.add(0, [item.targets]);
    // Whoever depends on it, and whoever depends on those: their order among each other stays.
    const displaced = draft.line.filter((group, index) => {
      if (draft.isProtected(group) || isUrgentGroup(draft, group)) return false;
      const depends = walk.dependencies(draft.targetsOf(group)).length > 0;
      if (depends) walk.add(index + 1, draft.targetsOf(group));
      return depends;
    });
    for (const group of displaced) draft.dissolve(group, 'SKIP_THE_LINE_INTERRUPTED');
    while (draft.activeRuns('line') >= draft.settings.concurrency) if (!makeRoom(draft)) return;
    // Whoever shares a target with it has left the line, but for those that go before it.
    placeGroup(draft, [item.pr], []);
  }
}

/** Sends the last group under test back, for an urgent one that shares nothing with anybody. */
function makeRoom(draft: Draft): boolean {
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

/** Starts what the strategy proposes until it has nothing more: what one start leaves may make a group for the next. */
export function startProposals(draft: Draft, strategy: Strategy): void {
  // What is landing decides within moments who else has failed: nothing is started that may be worthless by then.
  if (draft.landing !== null) return;
  while (startRound(draft, strategy));
}

/** Takes the strategy's proposals as far as they are sound and the budget goes; answers whether any was taken. */
function startRound(draft: Draft, strategy: Strategy): boolean {
  const able = startable(draft);
  const free = draft.settings.concurrency - draft.activeRuns('line');
  if (able.length === 0 || free <= 0) return false;
  const pending = inOrder(able, draft.now);
  const { proposals, wakeAt } = strategy({ settings: draft.settings, pending, free, now: draft.now });
  if (wakeAt !== null) draft.wake(wakeAt);
  const unplaced = new Set(pending.map((item) => item.pr));
  let left = free;
  for (const { members, without = [] } of proposals) {
    if (left === 0) return true;
    if (members.length === 0 || !members.every((pr) => unplaced.delete(pr))) continue;
    placeGroup(draft, members, without);
    left--;
  }
  return left < free;
}

/** Puts a group at the end of the line and starts its run on top of what it depends on there. */
function placeGroup(draft: Draft, members: readonly number[], without: readonly number[]): void {
  const group: Group = { id: draft.nextId++, members };
  const ahead = draft.append(group);
  const assumed = without.length === 0 ? ahead : ahead.filter((pr) => !without.includes(pr));
  for (const pr of members) draft.put(pr, { kind: 'line', group: group.id, shown: 'testing' });
  const run = draft.startRun(
    { kind: 'line', group: group.id },
    { base: draft.tip, members: [...assumed, ...members], tested: members.length },
  );
  for (const pr of members) draft.facts.push({ kind: 'testing', pr, run: run.id });
}

// Forming groups from pending entries, in their order. Without batching every entry is a group. With it, a group takes
// entries until it has the target size; it starts when it is full, when its oldest has waited long enough, or when what
// comes next in the line may not be in it. Urgent entries, those that asked for it and those that a broken batch left
// over are alone. In parallel mode a batch takes entries that share targets before entries that do not.
//
// Nobody is overtaken by somebody who shares a target with them: whoever depends on an entry that stays pending stays.

import { isUrgent } from '../priority.ts';
import type { QueueSettings } from '../settings.ts';
import { share, type Targets } from './lane.ts';
import type { Item } from './model.ts';

const minuteMs = 60_000;

export type Formation = {
  /** Groups that may start now, in order. */
  readonly groups: readonly (readonly Item[])[];
  /** When a group that is still filling starts anyway; null if none is. */
  readonly wakeAt: number | null;
};

/** `pending` in the order of order.ts; at most `free` groups are formed. */
export function formGroups(
  pending: readonly Item[],
  settings: QueueSettings,
  free: number,
  now: number,
): Formation {
  const groups: Item[][] = [];
  /** Targets of those that stay pending: who shares one with them stays too. */
  const held: Targets[] = [];
  const taken = new Set<number>();
  let wakeAt: number | null = null;
  const isHeld = (item: Item) =>
    settings.mode === 'single' ? held.length > 0 : held.some((targets) => share(targets, item.targets));

  for (const [index, item] of pending.entries()) {
    if (groups.length >= free) break;
    if (taken.has(item.pr)) continue;
    if (isHeld(item)) {
      held.push(item.targets);
      continue;
    }
    const group = isAlone(item, settings) ? [item] : fill(pending, index, settings, taken);
    const startsAt = startOf(group, pending, settings);
    if (startsAt > now) {
      for (const member of group) held.push(member.targets);
      for (const member of group) taken.add(member.pr);
      if (wakeAt === null || startsAt < wakeAt) wakeAt = startsAt;
      continue;
    }
    for (const member of group) taken.add(member.pr);
    groups.push(group);
  }
  return { groups, wakeAt };
}

function isAlone(item: Item, settings: QueueSettings): boolean {
  if (!settings.batch || item.noBatch || isUrgent(item.priority)) return true;
  return item.place.kind === 'pending' && item.place.alone;
}

/** The entry at `from` and those behind it that may be with it, up to the target size. */
function fill(
  pending: readonly Item[],
  from: number,
  settings: QueueSettings,
  taken: ReadonlySet<number>,
): Item[] {
  const group = [pending[from]!];
  if (settings.mode === 'single') {
    for (let at = from + 1; at < pending.length && group.length < settings.batchingMinSize; at++) {
      const item = pending[at]!;
      if (taken.has(item.pr)) continue;
      if (isAlone(item, settings)) break;
      group.push(item);
    }
    return group;
  }
  const candidates = pending.slice(from + 1).filter((item) => !taken.has(item.pr));
  const sharing = (item: Item) => group.some((member) => share(member.targets, item.targets));
  for (const wanted of [sharing, (item: Item) => !sharing(item)]) {
    const passed: Item[] = [];
    for (const item of candidates) {
      if (group.length >= settings.batchingMinSize) break;
      if (group.includes(item)) continue;
      const overtakes = passed.some((earlier) => share(earlier.targets, item.targets));
      if (!isAlone(item, settings) && !overtakes && wanted(item)) group.push(item);
      else passed.push(item);
    }
  }
  // Members stand in the order in which they were considered.
  const places = new Map(candidates.map((item, at) => [item.pr, at]));
  return group.toSorted((a, b) => (places.get(a.pr) ?? -1) - (places.get(b.pr) ?? -1));
}

/** When the group may start: at once if it is full or cannot grow, else when its oldest has waited. */
function startOf(group: readonly Item[], pending: readonly Item[], settings: QueueSettings): number {
  const [first] = group;
  if (first === undefined || isAlone(first, settings) || group.length >= settings.batchingMinSize) return 0;
  const inGroup = new Set(group.map((item) => item.pr));
  const last = pending.findLastIndex((item) => inGroup.has(item.pr));
  // In a single line whoever stands behind and must be alone closes the group.
  if (settings.mode === 'single' && last + 1 < pending.length) return 0;
  const since = Math.min(...group.map(waitsSince));
  return since + settings.batchingMaxWaitTimeMinutes * minuteMs;
}

/** What was under test before has waited enough. */
const waitsSince = ({ place }: Item): number =>
  place.kind !== 'pending' || place.restarting ? Number.NEGATIVE_INFINITY : place.since;

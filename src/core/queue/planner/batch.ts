// Forming groups from pending entries, in their order. Without batching every entry is a group. With
// batching, a group takes entries until it has the target size; it starts when it is full, when its oldest
// entry has waited long enough, or when the next entry in the queue may not join it. Urgent entries, entries
// with `noBatch` and entries left over from a broken batch are tested alone. In parallel mode a batch takes
// entries that share targets before entries that do not.
//
// An entry is never overtaken by one that shares a target: if an entry stays pending, so do its dependents.

import { minuteMs } from '#base/duration.ts';
import { isUrgent } from '../priority.ts';
import type { QueueSettings } from '../settings.ts';
import { share, type Targets } from './lane.ts';
import type { Item } from './model.ts';

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
  /** Targets of entries that stay pending: an entry that shares one of them stays pending too. */
  const held: Targets[] = [];
  const taken = new Set<number>();
  let wakeAt: number | null = null;
  // In single mode no entry is behind a batch that waits: the next entry closes the batch, which starts then.
  const isHeld = (item: Item) => held.some((targets) => share(targets, item.targets));

  for (const [index, item] of pending.entries()) {
    if (groups.length >= free) break;
    if (taken.has(item.pr)) continue;
    if (isHeld(item)) {
      held.push(item.targets);
      continue;
    }
    const group = isAlone(item, settings) ? [item] : fill(pending, index, settings, taken);
    const startsAt = earliestStart(group, pending, settings);
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

/** Whether an entry is tested alone, even where the queue batches. */
export const mustBeAlone = ({ noBatch, priority, place }: Item): boolean =>
  noBatch || isUrgent(priority) || (place.kind === 'pending' && place.alone);

const isAlone = (item: Item, { batch }: QueueSettings): boolean => !batch || mustBeAlone(item);

/** The entry at `from` and the entries behind it that may join it, up to the target size. */
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
  // Members keep the order in which they were considered.
  const places = new Map(candidates.map((item, at) => [item.pr, at]));
  return group.toSorted((a, b) => (places.get(a.pr) ?? -1) - (places.get(b.pr) ?? -1));
}

/** When the group may start: at once if it is full or cannot grow, else when its oldest entry has waited. */
function earliestStart(group: readonly Item[], pending: readonly Item[], settings: QueueSettings): number {
  const [first] = group;
  if (first === undefined || isAlone(first, settings) || group.length >= settings.batchingMinSize) return 0;
  const inGroup = new Set(group.map((item) => item.pr));
  const last = pending.findLastIndex((item) => inGroup.has(item.pr));
  // In single mode the next entry, which must be alone, closes the group.
  if (settings.mode === 'single' && last + 1 < pending.length) return 0;
  const since = Math.min(...group.map(waitsSince));
  return since + settings.batchingMaxWaitTimeMinutes * minuteMs;
}

/** An entry that was under test before does not wait again. */
export const waitsSince = ({ place }: Item): number =>
  place.kind !== 'pending' || place.restarting ? Number.NEGATIVE_INFINITY : place.since;

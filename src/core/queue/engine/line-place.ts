// The order of a queue as three numbers, so that an index can hold it: entries under test first, in the order
// of the line; then pending entries in the order in which they are considered; then not_ready ones in
// submission order.

import type { Entry } from '../model.ts';
import { isEnded, isUnderTest } from '../model.ts';
import type { Snapshot } from '../planner/model.ts';
import { hasAged } from '../planner/order.ts';
import { isUrgent } from '../priority.ts';

export type LinePlace = { readonly rank: 0 | 1 | 2; readonly major: number; readonly minor: number };

/** Behind urgent entries and ahead of every other priority. */
const agedMajor = 0.5;

/** Doubled, so that aged entries fit between two priorities. */
const pendingPlace = (priority: number, seniority: number, aged: boolean): LinePlace => ({
  rank: 1,
  major: (isUrgent(priority) || !aged ? priority : agedMajor) * 2,
  minor: seniority,
});

/** The position of an entry by its own fields only: the next reconcile orders the entries under test. */
export function placeAlone({ stage, priority, seniority }: Entry): LinePlace | null {
  if (isEnded(stage)) return null;
  if (isUnderTest(stage)) return { rank: 0, major: 0, minor: seniority };
  if (stage.kind === 'pending') return pendingPlace(priority, seniority, false);
  return { rank: 2, major: 0, minor: seniority };
}

/** The position of every entry. */
export function linePlaces(snapshot: Snapshot, now: number): Map<number, LinePlace> {
  const places = new Map<number, LinePlace>();
  for (const item of snapshot.items.values())
    if (item.place.kind === 'pending')
      places.set(item.pr, pendingPlace(item.priority, item.seniority, hasAged(item, now)));
    else if (item.place.kind === 'not_ready')
      places.set(item.pr, { rank: 2, major: 0, minor: item.seniority });
  // A batch under bisection stands ahead of the entries that were tested on top of it.
  const holders = [...snapshot.searches, ...snapshot.line];
  for (const [major, { members }] of holders.entries())
    for (const [minor, pr] of members.entries()) places.set(pr, { rank: 0, major, minor });
  return places;
}

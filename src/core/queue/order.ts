// The order of a queue as three numbers, so that an index can hold it: what is under test first, then pending in the
// order it will be considered (priority, then seniority), then not_ready in submission order.

import { type Entry, isEnded, isUnderTest } from './model.ts';

export type LinePlace = { readonly rank: 0 | 1 | 2; readonly major: number; readonly minor: number };

/** Null once the entry has ended: it has no place. */
export function linePlaceOf(entry: Entry): LinePlace | null {
  if (isEnded(entry.stage)) return null;
  if (isUnderTest(entry.stage)) return { rank: 0, major: 0, minor: entry.seniority };
  if (entry.stage.kind === 'pending') return { rank: 1, major: entry.priority, minor: entry.seniority };
  return { rank: 2, major: 0, minor: entry.seniority };
}

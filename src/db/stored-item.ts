// What the planner stores of an entry, as queue_entry.plan holds it. The number of the attempt keeps its former name
// there, because the release before reads and writes the same rows.

import type { StoredItem } from '#core/queue/engine/stored.ts';

export type StoredItemRow = Omit<StoredItem, 'attempt'> & { readonly trip: number };

export function toStoredItem(row: StoredItemRow | null): StoredItem | null {
  if (row === null) return null;
  const { trip: attempt, ...rest } = row;
  return { ...rest, attempt };
}

export function storedItemRow(item: StoredItem | null): StoredItemRow | null {
  if (item === null) return null;
  const { attempt, ...rest } = item;
  return { ...rest, trip: attempt };
}

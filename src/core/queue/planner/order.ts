// The order in which pending entries are considered: urgent first; then whoever has waited so long that nothing but
// urgent may overtake it any more, in submission order; then by priority and submission order.

import { isUrgent } from '../priority.ts';
import type { Item } from './model.ts';

/** An entry that has waited this long is overtaken by nothing but urgent ones. */
export const ageingMs = 4 * 3_600_000;

export const hasAged = (item: Item, now: number): boolean => now - item.submittedAt >= ageingMs;

export function inOrder(items: Iterable<Item>, now: number): Item[] {
  const rank = (item: Item): number => (isUrgent(item.priority) ? 0 : hasAged(item, now) ? 1 : 2);
  return [...items].toSorted((a, b) => {
    const ranks = rank(a) - rank(b);
    if (ranks !== 0) return ranks;
    const byPriority = rank(a) === 2 ? a.priority - b.priority : 0;
    return byPriority !== 0 ? byPriority : a.seniority - b.seniority;
  });
}

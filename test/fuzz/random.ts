// Draws for mutations; the same for the same seed.

import { createRandom } from '#tool/simulate/kernel/random.ts';

export type Random = {
  /** From 0 up to, not including, `bound`. */
  readonly below: (bound: number) => number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
};

export function randomOf(seed: number): Random {
  const random = createRandom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
  return { below, pick: (items) => items[below(items.length)]! };
}

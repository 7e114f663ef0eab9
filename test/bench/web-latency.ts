// From what was committed and what pages showed to how long it took.

import type { Seen } from './web-page.ts';
import type { Moved } from './web-world.ts';

/** The labels of web/component/pill.tsx. */
export const stateLabels: Readonly<Record<string, string>> = {
  not_ready: 'Not ready',
  pending: 'Queued',
  testing: 'Testing',
  tests_passed: 'Passed',
  merged: 'Merged',
  failed: 'Failed',
  cancelled: 'Cancelled',
  pending_failure: 'Pending failure',
};

/** By how much two clocks of one machine may differ. */
const clockMs = 5;

export type Latency = { readonly delays: readonly number[]; readonly missed: number };

/**
 * A change is on a page once the page shows its state or one that came after it: changes that follow each other closely
 * are read together. `from`: counted from then on where the change is older.
 */
export function latencyOf(moves: readonly Moved[], seen: readonly Seen[], from = 0): Latency {
  const delays: number[] = [];
  let missed = 0;
  const seenOf = Map.groupBy(seen, ({ number }) => number);
  for (const [number, all] of Map.groupBy(moves, (move) => move.number)) {
    const shown = seenOf.get(number) ?? [];
    for (const [index, { at }] of all.entries()) {
      const right = new Set(all.slice(index).map(({ state }) => stateLabels[state]));
      const first = shown.find((each) => each.at >= at - clockMs && right.has(each.label));
      if (first !== undefined) delays.push(Math.max(0, first.at - Math.max(at, from)));
      // Two changes read together may leave the page as it was.
      else if (shown.at(-1)?.label !== stateLabels[all.at(-1)!.state]) missed += 1;
    }
  }
  return { delays, missed };
}

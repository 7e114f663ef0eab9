// A strategy proposes which test runs are worth starting; the kernel decides. Whatever it proposes, nothing lands
// unproved and nobody is evicted unproved.

import type { QueueSettings } from '../settings.ts';
import { formGroups } from './batch.ts';
import type { Item } from './model.ts';

/** What a strategy may look at. */
type StrategyView = {
  readonly settings: QueueSettings;
  /** Entries that may start, in the order in which they are considered. */
  readonly pending: readonly Item[];
  /** Runs that may be started now. */
  readonly free: number;
  readonly now: number;
};

type Proposal = {
  /** The new group, in order. */
  readonly members: readonly number[];
  /** Entries ahead that it is assumed will not land; absent: all of them do. */
  readonly without?: readonly number[];
};

export type Strategy = (view: StrategyView) => {
  readonly proposals: readonly Proposal[];
  /** When it would propose something else without anything having happened. */
  readonly wakeAt: number | null;
};

/** The train that the settings describe: every group on top of everything ahead of it. */
export const prefixTrain: Strategy = ({ settings, pending, free, now }) => {
  const { groups, wakeAt } = formGroups(pending, settings, free, now);
  return { proposals: groups.map((group) => ({ members: group.map((item) => item.pr) })), wakeAt };
};

// A strategy proposes which test runs are worth starting; the planner decides. Whatever it proposes, no entry
// lands without proof and none is removed without evidence. strategies.ts has the table.
//
// A strategy may screen: some entries are tested alone on the branch, beside the line, so that the failure
// of one batch hides nothing about another. An entry that passed is believed to be sound, and still lands only by a
// run on the branch as it will be. For such a strategy the planner
//  - gives all runs one budget of slots, `concurrency`: bisections first, then the strategy's proposals;
//  - removes an entry only after two failed runs that single it out (search.ts);
//  - does not take one failure of screened entries for the truth: a group is screened again on the branch as it is
//    now, or run once more in place (screen.ts).
//
// A strategy may have direct dependencies, in parallel mode: an entry depends on the entries ahead that share a target
// with it, and not on what those depend on. Two entries that share a target are still always tested together before
// the second one lands. For such a strategy the planner
//  - puts every entry that may start into the line, where it keeps its position with any number of runs, or none;
//  - keeps every run as long as what it assumes can still happen, and lands an entry by its own run as soon as
//    everything that it depends on has landed or left (verdict.ts);
//  - removes an entry that failed on the branch only if chance is improbable (innocence.ts); otherwise it leaves the
//    line and is tested again, alone on the branch (search.ts);
//  - gives all runs one budget of slots, `concurrency`.

import type { QueueSettings } from '../settings.ts';
import type { BatchRule } from '../situation.ts';
import type { Item, Snapshot } from './model.ts';

/** What a strategy may read: the whole queue, and what the planner found out about it. */
type StrategyView = {
  /** Entries, groups in the line, bisections, runs and settings. */
  readonly queue: Pick<
    Snapshot,
    'settings' | 'limits' | 'failureShare' | 'flakeShare' | 'tip' | 'items' | 'line' | 'searches' | 'runs'
  >;
  /** Entries that may start, in the order in which they are considered. */
  readonly pending: readonly Item[];
  /** Runs that may be started now. */
  readonly free: number;
  readonly now: number;
  /** For each group in the line, the groups ahead that it depends on, by index. */
  readonly dependencies: readonly (readonly number[])[];
};

/** What decides the size of batches. */
export type BatchView = Pick<Snapshot, 'settings' | 'limits' | 'failureShare' | 'items' | 'runs'>;

export type Proposal =
  /** A new group at the end of the line, in order. Its run contains every entry ahead that it depends on. */
  | { readonly members: readonly number[] }
  /**
   * One more run of a group in the line, as if these entries ahead of it had left. If dependencies are direct, it may
   * be the first run of the group, and `without` may be empty.
   */
  | { readonly group: number; readonly without: readonly number[] }
  /** A screen of these entries, in order. Only a strategy that screens may propose it. */
  | { readonly screen: readonly number[] };

export type Strategy = {
  readonly screens: boolean;
  /** Absent: false. In single mode it means nothing: every entry depends on all entries ahead. */
  readonly hasDirectDependencies?: boolean;
  readonly propose: (view: StrategyView) => Proposals;
};

/** A strategy that a queue can be given. */
export type ExplainedStrategy = Strategy & {
  /** How it forms batches now, for people; null: it forms none. */
  readonly describeBatches: (queue: BatchView) => BatchRule | null;
};

type Proposals = {
  /** The planner starts them in this order, as far as they are sound and slots are free. */
  readonly proposals: readonly Proposal[];
  /** When it would propose something else although nothing happened. */
  readonly wakeAt: number | null;
};

/** What the planner follows, whatever is proposed. */
export type StrategyRules = Omit<Strategy, 'propose'>;

/** Whether dependencies are direct: in single mode every entry depends on all entries ahead. */
export const isDirect = (
  { hasDirectDependencies = false }: StrategyRules,
  { mode }: Pick<QueueSettings, 'mode'>,
): boolean => hasDirectDependencies && mode === 'parallel';

/** Whether all runs share one budget of slots. */
export const sharesSlots = (strategy: StrategyRules, settings: Pick<QueueSettings, 'mode'>): boolean =>
  strategy.screens || isDirect(strategy, settings);

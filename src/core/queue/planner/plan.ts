// The plan of a queue: plan(snapshot, now) → the next snapshot, with facts to record, actions to perform, and
// when to plan again. Pure: the same snapshot at the same time gives the same plan.
//
// The rules, in the order in which they are applied until nothing changes any more:
//
//  1. Clocks. A run that ends without a result says nothing about the change: it is repeated in place, and an
//     outage of CI removes one entry at most before CI has given a result again (clock.ts).
//  2. A run must test what would land. A run is about a composition: the tip, some of the entries ahead, and
//     the group. A group restarts if none of its compositions is possible any more (line.ts).
//  3. Landing. The longest composition that passed, and each part of which is proved, lands as one
//     (verdict.ts). With optimistic merging a passing run proves what it contains. The branch only ever moves
//     to a tree that passed. If dependencies are direct, a run proves only its own group (strategy.ts).
//  4. Blame. An entry fails only on direct evidence: a failed run in which it is the last change, and whose
//     composition without it passed or is the branch itself (verdict.ts). A batch is bisected by prefixes
//     (search.ts). If the strategy screens, two such runs must have failed; if dependencies are direct, chance must be
//     improbable (innocence.ts).
//  5. Admission. Ready entries of a RUNNING queue are pending; entries that are no longer ready go back, also
//     from under test, before anything else is decided; an entry that never becomes ready is cancelled in the
//     end (admit.ts).
//  6. Urgent entries go ahead of the entries under test (start.ts).
//  7. Free slots are filled as the strategy proposes (strategies.ts), in lanes (lane.ts), in order (order.ts).
//
// Example. Single mode, two slots. #1, #2 and #3 are pending on tip T.
//   plan: #1 is tested as T+1, #2 as T+1+2; #3 waits for a slot.
//   T+1+2 fails first: #2 is pending_failure. The culprit may be #1 or #2, so #2 waits. #3 starts as T+1+2+3.
//   T+1 passes: #1 lands, the tip is T1. Now T+1+2 is T1+2, and T1 is the branch itself: #2 fails on direct
//   evidence. #3 was tested on top of #2, which has been removed: it restarts as T1+3.
//   If T+1 had failed instead, #1 would be removed, and #2 would be tested again without it: T+2.
//
//   not_ready ◄──► pending ──► testing ──► tests_passed ──► merged   (testing, tests_passed, pending_failure ──► not_ready)
//                    ▲            │  ▲          │
//                    │            ▼  │          │           (everything live: ──► cancelled, or merged by hand)
//                    ├──── pending_failure ──► failed
//                    └──── bisection: prefixes of a failed batch ──► failed (culprit), pending (others)

import { admit, mergeDirectly, withdrawUnready } from './admit.ts';
import { retryRuns, wakeByDeadlines, watchClocks } from './clock.ts';
import { Draft } from './draft.ts';
import { pruneLine, showLine } from './line.ts';
import type { Action, PlannerFact, Snapshot } from './model.ts';
import { freeNeedlessSlots, runSearches, settleSearches } from './search.ts';
import { preempt, startProposals } from './start.ts';
import { strategyFor } from './strategies.ts';
import type { Strategy } from './strategy.ts';
import { landNext, repeatFailures, settleFailure } from './verdict.ts';

export type Plan = {
  readonly snapshot: Snapshot;
  readonly facts: readonly PlannerFact[];
  readonly actions: readonly Action[];
  /** When time alone changes the plan; null if it never does. */
  readonly wakeAt: number | null;
};

export function plan(snapshot: Snapshot, now: number, given?: Strategy): Plan {
  let strategy = given ?? strategyFor(snapshot.settings);
  const draft = new Draft(snapshot, now, strategy);
  // While the host does not answer nothing is decided: what seems to be a failure may be the outage.
  if (draft.frozenAt === null) {
    watchClocks(draft);
    do {
      withdrawUnready(draft);
      settle(draft);
      admit(draft);
      if (finishSwitch(draft)) {
        // Nothing is under test: the strategy of the new mode finds nothing of the other.
        strategy = given ?? strategyFor(draft.settings);
        draft.useStrategy(strategy);
        admit(draft);
      }
      mergeDirectly(draft);
      freeNeedlessSlots(draft);
      // An entry that an urgent one displaced may no longer be ready, or a failure may have waited for it.
    } while (preempt(draft));
    retryRuns(draft);
    repeatFailures(draft);
    if (draft.state !== 'PAUSED') runSearches(draft);
    showLine(draft);
    startProposals(draft, strategy);
    wakeByDeadlines(draft);
    forgetDepartures(draft);
  }
  return { snapshot: draft.snapshot(), facts: draft.facts, actions: draft.actions, wakeAt: draft.wakeAt };
}

/** Each verdict is applied to the result of the one before. */
function settle(draft: Draft): void {
  while (pruneLine(draft) || settleSearches(draft) || landNext(draft) || settleFailure(draft));
}

/**
 * A queue that switches modes does so when no entry is under test or waits to be tested again;
 * decide-queue.ts began the switch. Returns whether the switch finished.
 */
function finishSwitch(draft: Draft): boolean {
  if (draft.switching === null || draft.line.length > 0 || draft.searches.length > 0) return false;
  for (const { place } of draft.items.values())
    if (place.kind === 'pending' && place.restarting) return false;
  const { mode, returnTo } = draft.switching;
  draft.settings = { ...draft.settings, mode };
  draft.state = returnTo;
  draft.switching = null;
  return true;
}

/** How an entry left matters only while a run still names it. */
function forgetDepartures(draft: Draft): void {
  if (draft.gone.size === 0) return;
  const named = new Set<number>();
  for (const { composition } of draft.runs.values())
    for (const pr of composition.members) if (draft.gone.has(pr)) named.add(pr);
  for (const pr of draft.gone.keys()) if (!named.has(pr)) draft.gone.delete(pr);
}

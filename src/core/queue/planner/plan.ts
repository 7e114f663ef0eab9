// The plan of a queue: plan(snapshot, now) → the next snapshot, with facts to record, actions to perform, and when to
// look again. Pure: the same snapshot at the same time gives the same plan.
//
// The rules, in the order in which they are applied until nothing changes any more:
//
//  1. Clocks. A run that ends without a result says nothing about the change: it is repeated in place, and an outage of CI
//     removes one entry at most before CI has given a result again (clock.ts).
//  2. What is under test must still be what would land. A group none of whose runs can happen any more begins anew
//     (line.ts). A run is about a composition: the tip, some of what is ahead, and the group.
//  3. Landing. The longest composition that passed, and each part of which is proved, lands as one (verdict.ts). With
//     optimistic merging a passing run proves what it contains. The branch only ever moves to a tree that passed.
//  4. Blame. Nobody fails without direct evidence: a failed run in which it is the last change, and whose composition
//     without it passed or is the branch itself (verdict.ts). A batch is searched by prefixes (search.ts).
//  5. Admission. Ready entries of a RUNNING queue are pending; those no longer ready go back, from under test too, before
//     anything else is decided; patience ends (admit.ts).
//  6. Urgent entries go ahead of what is under test (start.ts).
//  7. Free slots are filled as the strategy proposes (strategy.ts, batch.ts), in lanes (lane.ts), in order (order.ts).
//
// Example. Single mode, two slots. #1, #2 and #3 are pending on tip T.
//   plan: #1 is tested as T+1, #2 as T+1+2; #3 waits for a slot.
//   T+1+2 fails first: #2 is pending_failure. Was it #1 or #2? Nobody knows, so it waits. #3 starts as T+1+2+3.
//   T+1 passes: #1 lands, the tip is T1. Now T+1+2 is T1+2, and T1 is the branch itself: #2 failed, by direct evidence.
//   #3 was tested on top of #2, which is gone: it begins anew as T1+3.
//   Had T+1 failed instead, #1 would have left, and #2 would have been tested again without it: T+2.
//
//   not_ready ◄──► pending ──► testing ──► tests_passed ──► merged   (testing, tests_passed, pending_failure ──► not_ready)
//                    ▲            │  ▲          │
//                    │            ▼  │          │           (everything live: ──► cancelled, or merged by hand)
//                    ├──── pending_failure ──► failed
//                    └──── search: prefixes of a failed batch ──► failed (the culprit), pending (the others)

import { admit, mergeDirectly, withdrawUnready } from './admit.ts';
import { retryRuns, wakeByDeadlines, watchClocks } from './clock.ts';
import { Draft } from './draft.ts';
import { pruneLine, showLine } from './line.ts';
import type { Action, Fact, Snapshot } from './model.ts';
import { runSearches, settleSearches } from './search.ts';
import { preempt, startProposals } from './start.ts';
import { prefixTrain, type Strategy } from './strategy.ts';
import { landNext, settleFailure } from './verdict.ts';

export type Plan = {
  readonly snapshot: Snapshot;
  readonly facts: readonly Fact[];
  readonly actions: readonly Action[];
  /** When time alone changes the plan; null if it never does. */
  readonly wakeAt: number | null;
};

export function plan(snapshot: Snapshot, now: number, strategy: Strategy = prefixTrain): Plan {
  const draft = new Draft(snapshot, now);
  // While the host does not answer nothing is decided: what looks like a failure may be the outage.
  if (draft.frozenAt === null) {
    watchClocks(draft);
    do {
      withdrawUnready(draft);
      settle(draft);
      admit(draft);
      if (finishSwitch(draft)) admit(draft);
      mergeDirectly(draft);
      // Whom an urgent one displaces may not be ready any more, or was what a failure waited for.
    } while (preempt(draft));
    retryRuns(draft);
    if (draft.state !== 'PAUSED') runSearches(draft);
    showLine(draft);
    startProposals(draft, strategy);
    wakeByDeadlines(draft);
    forgetDepartures(draft);
  }
  return { snapshot: draft.snapshot(), facts: draft.facts, actions: draft.actions, wakeAt: draft.wakeAt };
}

/** Verdicts follow from each other: each is applied to what the one before left. */
function settle(draft: Draft): void {
  while (pruneLine(draft) || settleSearches(draft) || landNext(draft) || settleFailure(draft));
}

/** A queue that switches modes does so when nothing is under test, nor waits to be again. Answers whether it did. */
function finishSwitch(draft: Draft): boolean {
  if (draft.switching === null || draft.line.length > 0 || draft.searches.length > 0) return false;
  for (const { place } of draft.items.values())
    if (place.kind === 'pending' && place.restarting) return false;
  const { mode, returnTo } = draft.switching;
  draft.settings = { ...draft.settings, mode };
  draft.state = returnTo;
  draft.switching = null;
  draft.facts.push({ kind: 'mode_switched', mode });
  return true;
}

/** How somebody left matters only while a run still names them. */
function forgetDepartures(draft: Draft): void {
  if (draft.gone.size === 0) return;
  const named = new Set<number>();
  for (const { composition } of draft.runs.values())
    for (const pr of composition.members) if (draft.gone.has(pr)) named.add(pr);
  for (const pr of draft.gone.keys()) if (!named.has(pr)) draft.gone.delete(pr);
}

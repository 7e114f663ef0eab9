// Applies what happened to the snapshot: observe(snapshot, event) → snapshot. An event only records; plan.ts
// decides what follows. An event about something that no longer exists changes nothing, so a late or repeated
// one is harmless.
//
// Settings, priorities, readiness and whatever else commands and the Git host can change at any time are no
// events: every reconcile reads them again when it restores the snapshot (engine/restore.ts).

import { unreachable } from '#base/assert.ts';
import type { CancelledReason } from '../reason.ts';
import { Draft } from './draft.ts';
import type { Targets } from './lane.ts';
import {
  end,
  landed,
  landedInPart,
  landingLost,
  type LandingRefusal,
  landingRefused,
  mergedByHand,
} from './landing.ts';
import {
  type Action,
  type PlannerFact,
  findShownRun,
  type Item,
  isActive,
  type Run,
  type Snapshot,
  type Tip,
} from './model.ts';
import { applyToRun, notStarted, report, type RunEvent } from './observe-run.ts';
import { strategyFor } from './strategies.ts';
import type { StrategyRules } from './strategy.ts';

export type PlannerEvent =
  | {
      readonly kind: 'submitted';
      readonly item: Omit<
        Item,
        'place' | 'queuedAt' | 'patienceFrom' | 'endRequested' | 'testedOnTip' | 'screen'
      >;
    }
  | { readonly kind: 'targets'; readonly pr: number; readonly targets: Targets }
  | { readonly kind: 'tested-on-tip'; readonly pr: number; readonly tip: Tip | null }
  /** Cancelled, pushed to, closed, retargeted, made a draft. */
  | { readonly kind: 'ended'; readonly pr: number; readonly reason: CancelledReason }
  | { readonly kind: 'merged-by-hand'; readonly pr: number; readonly tip: Tip }
  | { readonly kind: 'restart'; readonly pr: number }
  | RunEvent
  /** A member conflicts textually with the tip, or with an entry ahead of it. */
  | { readonly kind: 'conflict'; readonly run: number; readonly pr: number; readonly with: 'tip' | number }
  | { readonly kind: 'landed'; readonly landing: number; readonly tip: Tip }
  /** The host merged these first members; then it refused the next, or (null) the rest may not land now. */
  | {
      readonly kind: 'landed-in-part';
      readonly landing: number;
      readonly members: readonly number[];
      readonly tip: Tip;
      readonly pr: number | null;
      readonly reason: LandingRefusal | null;
    }
  /** The branch had moved: nothing was pushed. */
  | { readonly kind: 'landing-lost'; readonly landing: number; readonly tip: Tip }
  /** The host refused to merge this pull request. */
  | {
      readonly kind: 'landing-refused';
      readonly landing: number;
      readonly pr: number;
      readonly reason: LandingRefusal;
    }
  | { readonly kind: 'branch-moved'; readonly tip: Tip }
  | { readonly kind: 'host-away' }
  | { readonly kind: 'host-back' };

export type Observed = {
  readonly snapshot: Snapshot;
  readonly facts: readonly PlannerFact[];
  /** Runs that no entry waits for any more are cancelled at once; nothing is started here. */
  readonly actions: readonly Action[];
};

export const observe = (
  snapshot: Snapshot,
  event: PlannerEvent,
  now: number,
  strategy?: StrategyRules,
): Observed => observeAll(snapshot, () => [event], now, undefined, strategy);

/** The part of the snapshot, after the events before, that the next event may depend on. */
export type Current = Pick<Snapshot, 'tip' | 'runs' | 'landing' | 'frozenAt'>;

/**
 * Applies events one after the other; each is requested when those before it have been applied. All of them
 * change one copy of the snapshot: a copy for each would cost the number of events times the number of
 * entries. `onRunEnded` is called for each run that an event ended.
 */
export function observeAll(
  snapshot: Snapshot,
  events: (current: Current) => Iterable<PlannerEvent>,
  now: number,
  onRunEnded: (run: Run) => void = () => undefined,
  strategy: StrategyRules = strategyFor(snapshot.settings),
): Observed {
  const draft = new Draft(snapshot, now, strategy);
  for (const event of events(draft)) {
    apply(draft, event);
    const run = 'run' in event ? draft.runs.get(event.run) : undefined;
    if (run !== undefined && !isActive(run)) onRunEnded(run);
  }
  return { snapshot: draft.snapshot(), facts: draft.facts, actions: draft.actions };
}

function apply(draft: Draft, event: PlannerEvent): void {
  switch (event.kind) {
    case 'submitted':
    case 'targets':
    case 'tested-on-tip':
    case 'ended':
    case 'merged-by-hand':
      return applyToItem(draft, event);
    case 'restart':
      return restart(draft, event.pr);
    case 'run-pushed':
    case 'run-started':
    case 'run-passed':
    case 'run-failed':
    case 'run-failed-by-flakes':
    case 'rerun-refused':
    case 'run-infrastructure-failed':
    case 'run-not-started':
      return applyToRun(draft, event);
    case 'conflict':
      return conflict(draft, event);
    case 'landed':
    case 'landed-in-part':
    case 'landing-lost':
    case 'landing-refused':
      if (draft.landing?.id !== event.landing) return undefined;
      return concludeLanding(draft, event);
    case 'branch-moved':
      // During a landing its outcome shows where the branch is: this event may be that very move.
      if (draft.landing === null) draft.tip = event.tip;
      return undefined;
    case 'host-away':
    case 'host-back':
      return freeze(draft, event.kind === 'host-away');
    default:
      return unreachable(event);
  }
}

type LandingEvent = Extract<
  PlannerEvent,
  { kind: 'landed' | 'landed-in-part' | 'landing-lost' | 'landing-refused' }
>;

function concludeLanding(draft: Draft, event: LandingEvent): void {
  switch (event.kind) {
    case 'landed':
      return landed(draft, event.tip);
    case 'landed-in-part':
      return landedInPart(draft, event);
    case 'landing-lost':
      return landingLost(draft, event.tip);
    case 'landing-refused':
      return landingRefused(draft, event);
  }
}

type ItemEvent = Extract<
  PlannerEvent,
  { kind: 'submitted' | 'targets' | 'tested-on-tip' | 'ended' | 'merged-by-hand' }
>;

function applyToItem(draft: Draft, event: ItemEvent): void {
  if (event.kind === 'submitted') {
    if (draft.items.has(event.item.pr)) return;
    draft.items.set(event.item.pr, {
      ...event.item,
      place: { kind: 'not_ready' },
      queuedAt: null,
      patienceFrom: event.item.submittedAt,
      endRequested: null,
      testedOnTip: null,
      screen: 'none',
    });
    return;
  }
  const item = draft.items.get(event.pr);
  if (item === undefined) return;
  switch (event.kind) {
    case 'targets':
      return retarget(draft, item, event.targets);
    case 'tested-on-tip':
      // A landing uses what was known when it began.
      if (!draft.isLanding(item.pr)) draft.items.set(item.pr, { ...item, testedOnTip: event.tip });
      return;
    case 'ended':
      // Only the branch shows how a landing ends; meanwhile a command leaves `endRequested` instead.
      if (!draft.isLanding(item.pr)) end(draft, item.pr, event.reason);
      return;
    case 'merged-by-hand':
      return mergedByHand(draft, item.pr, event.tip);
    default:
      unreachable(event);
  }
}

/** A lane proof is about the targets at the time when other lanes landed: with other targets it is void. */
function retarget(draft: Draft, item: Item, targets: Targets): void {
  draft.items.set(item.pr, { ...item, targets });
  for (const run of draft.runs.values()) {
    if (!run.drifted || run.of.kind !== 'line' || !run.composition.members.includes(item.pr)) continue;
    const { group: id } = run.of;
    const group = draft.line.find((other) => other.id === id);
    if (group !== undefined && !draft.isProtected(group))
      draft.dissolve(group, 'TESTS_RESTARTED_BY_API_REQUEST');
  }
}

/** Runs the same composition once more, in place: no other entry is affected. */
function restart(draft: Draft, pr: number): void {
  const item = draft.items.get(pr);
  if (item?.place.kind !== 'line' || draft.isLanding(pr)) return;
  const group = draft.line.find(({ members }) => members.includes(pr))!;
  const shown = findShownRun(draft.runsOf(group));
  if (shown !== undefined) draft.runAgain(shown);
}

function conflict(draft: Draft, event: Extract<PlannerEvent, { kind: 'conflict' }>): void {
  const run = draft.runs.get(event.run);
  if (run === undefined || !isActive(run)) return;
  // The conflicting entry has left or is landing: without it the rest is worth another attempt.
  if (!draft.items.has(event.pr) || draft.isLanding(event.pr)) return report(draft, run.id, notStarted);
  const group = draft.line.find(({ members }) => members.includes(event.pr));
  const search = draft.searches.find(({ members }) => members.includes(event.pr));
  if (event.with === 'tip') {
    draft.fail(event.pr, 'START_TEST_RUN_MERGE_CONFLICT', null);
    return;
  }
  if (group !== undefined) draft.dissolve(group, 'PREREQUISITE_MERGE_ITEM_FAILED');
  if (search !== undefined) draft.dropSearch(search);
  for (const pr of search?.members ?? [])
    if (draft.items.has(pr)) draft.requeue(pr, 'BISECTION_REQUIRED', { alone: true });
  draft.requeue(event.pr, 'PREREQUISITE_MERGE_ITEM_FAILED', { behind: event.with });
}

/** No time counts while the host is unreachable: every clock is moved forward when the host is back. */
function freeze(draft: Draft, away: boolean): void {
  if (away === (draft.frozenAt !== null)) return;
  if (away) {
    draft.frozenAt = draft.now;
    return;
  }
  const since = draft.frozenAt!;
  draft.frozenAt = null;
  /** A clock that started during the outage has lost only part of it. */
  const moved = (at: number): number => at + draft.now - Math.max(since, Math.min(at, draft.now));
  for (const run of draft.runs.values())
    draft.runs.set(run.id, {
      ...run,
      requestedAt: moved(run.requestedAt),
      pushedAt: run.pushedAt === null ? null : moved(run.pushedAt),
      startedAt: run.startedAt === null ? null : moved(run.startedAt),
      notBefore: run.notBefore + draft.now - since,
    });
  for (const item of draft.items.values()) {
    const { place } = item;
    draft.items.set(item.pr, {
      ...item,
      patienceFrom: moved(item.patienceFrom),
      place: place.kind === 'pending' ? { ...place, since: moved(place.since) } : place,
    });
  }
}

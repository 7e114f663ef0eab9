// What happened, put into the snapshot: observe(snapshot, event) → snapshot. An event only records; plan.ts decides what
// follows. An event about something that is no longer there changes nothing, so a late or doubled one is harmless.

import { unreachable } from '#base/assert.ts';
import type { CancelledReason, FailedReason } from '../reason.ts';
import type { QueueSettings } from '../settings.ts';
import type { SettableQueueState } from '../model.ts';
import { endOutage, infrastructurePauseMs, startPauseMs } from './clock.ts';
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
import { type Action, type Fact, type Item, isActive, type Run, type Snapshot, type Tip } from './model.ts';

export type Event =
  | {
      readonly kind: 'submitted';
      readonly item: Omit<Item, 'place' | 'queuedAt' | 'patienceFrom' | 'endRequested' | 'testedOnTip'>;
    }
  | { readonly kind: 'rewritten'; readonly pr: number; readonly priority: number; readonly noBatch: boolean }
  | { readonly kind: 'readiness'; readonly pr: number; readonly ready: boolean }
  | { readonly kind: 'targets'; readonly pr: number; readonly targets: Targets }
  | { readonly kind: 'tested-on-tip'; readonly pr: number; readonly tip: Tip | null }
  /** Cancelled, pushed to, closed, retargeted, made a draft. */
  | { readonly kind: 'ended'; readonly pr: number; readonly reason: CancelledReason }
  | { readonly kind: 'merged-by-hand'; readonly pr: number; readonly tip: Tip }
  | { readonly kind: 'restart'; readonly pr: number }
  /** Its test branch is there for CI to see. */
  | { readonly kind: 'run-pushed'; readonly run: number; readonly at: number }
  /** `at`: when CI began, if that is known; else now. */
  | { readonly kind: 'run-started'; readonly run: number; readonly at?: number }
  | { readonly kind: 'run-passed'; readonly run: number }
  /** CI ended without a result about the change; `timedOut`: it ran out of CI's own time. */
  | { readonly kind: 'run-infrastructure-failed'; readonly run: number; readonly timedOut: boolean }
  /** `why` where it is something else than its required checks or the infrastructure. */
  | { readonly kind: 'run-failed'; readonly run: number; readonly why?: FailedReason }
  | { readonly kind: 'run-not-started'; readonly run: number; readonly why?: FailedReason }
  /** A member conflicts textually with the tip, or with an entry ahead of it. */
  | { readonly kind: 'conflict'; readonly run: number; readonly pr: number; readonly with: 'tip' | number }
  | { readonly kind: 'landed'; readonly landing: number; readonly tip: Tip }
  /** The host took these, which it begins with; then it would not have the next, or (null) the rest may not land now. */
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
  /** The host will not have this member. */
  | {
      readonly kind: 'landing-refused';
      readonly landing: number;
      readonly pr: number;
      readonly reason: LandingRefusal;
    }
  | { readonly kind: 'branch-moved'; readonly tip: Tip }
  | { readonly kind: 'state'; readonly state: SettableQueueState }
  | { readonly kind: 'settings'; readonly settings: Partial<QueueSettings> }
  | { readonly kind: 'host-away' }
  | { readonly kind: 'host-back' };

export type Observed = {
  readonly snapshot: Snapshot;
  readonly facts: readonly Fact[];
  /** Runs that nobody waits for any more are cancelled at once; nothing is started here. */
  readonly actions: readonly Action[];
};

export const observe = (snapshot: Snapshot, event: Event, now: number): Observed =>
  observeAll(snapshot, () => [event], now);

/** What the events before it have made of the snapshot, while the next one is asked for. */
export type Current = Pick<Snapshot, 'tip' | 'runs' | 'landing' | 'frozenAt'>;

/**
 * Takes in one event after the other, each asked for when those before it have been taken in. All of them change one copy of
 * the snapshot: a copy for each would cost the number of events times the number of entries. `onRunEnded` is called for
 * each run that an event ended.
 */
export function observeAll(
  snapshot: Snapshot,
  events: (current: Current) => Iterable<Event>,
  now: number,
  onRunEnded: (run: Run) => void = () => undefined,
): Observed {
  const draft = new Draft(snapshot, now);
  for (const event of events(draft)) {
    apply(draft, event);
    const run = 'run' in event ? draft.runs.get(event.run) : undefined;
    if (run !== undefined && !isActive(run)) onRunEnded(run);
  }
  return { snapshot: draft.snapshot(), facts: draft.facts, actions: draft.actions };
}

function apply(draft: Draft, event: Event): void {
  switch (event.kind) {
    case 'submitted':
    case 'rewritten':
    case 'readiness':
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
      // While something is being put on the branch its outcome says where the branch is: this may be that very move.
      if (draft.landing === null) draft.tip = event.tip;
      return undefined;
    case 'state':
      if (draft.switching === null) draft.state = event.state;
      return undefined;
    case 'settings':
      return changeSettings(draft, event.settings);
    case 'host-away':
    case 'host-back':
      return freeze(draft, event.kind === 'host-away');
    default:
      return unreachable(event);
  }
}

type RunEvent = Extract<
  Event,
  {
    kind:
      | 'run-pushed'
      | 'run-started'
      | 'run-passed'
      | 'run-failed'
      | 'run-infrastructure-failed'
      | 'run-not-started';
  }
>;

function applyToRun(draft: Draft, event: RunEvent): void {
  switch (event.kind) {
    case 'run-pushed':
      return report(draft, event.run, (run, now) => ({
        ...run,
        pushedAt: run.pushedAt ?? Math.max(run.requestedAt, Math.min(event.at, now)),
      }));
    case 'run-started':
      return report(draft, event.run, (run, now) => ({
        ...run,
        status: 'running',
        // Reported by another clock: never before it was asked for, and never to come.
        startedAt: run.startedAt ?? Math.max(run.requestedAt, Math.min(event.at ?? now, now)),
      }));
    case 'run-passed':
      return report(draft, event.run, (run) => ({ ...run, status: 'passed' }));
    case 'run-failed':
      return report(draft, event.run, (run) => ({ ...run, status: 'failed', why: event.why ?? null }));
    case 'run-infrastructure-failed':
      return report(draft, event.run, (run, now) => ({
        ...run,
        status: event.timedOut ? 'timed_out' : 'infrastructure',
        notBefore: now + infrastructurePauseMs(run.attempt),
      }));
    case 'run-not-started':
      return report(draft, event.run, (run, now) => ({ ...notStarted(run, now), why: event.why ?? null }));
    default:
      return unreachable(event);
  }
}

type LandingEvent = Extract<
  Event,
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
  Event,
  { kind: 'submitted' | 'rewritten' | 'readiness' | 'targets' | 'tested-on-tip' | 'ended' | 'merged-by-hand' }
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
    });
    return;
  }
  const item = draft.items.get(event.pr);
  if (item === undefined) return;
  switch (event.kind) {
    case 'rewritten':
      draft.items.set(item.pr, { ...item, priority: event.priority, noBatch: event.noBatch });
      return;
    case 'readiness':
      draft.items.set(item.pr, { ...item, ready: event.ready });
      return;
    case 'targets':
      return retarget(draft, item, event.targets);
    case 'tested-on-tip':
      // What lands does so by what was known when that began.
      if (!draft.isLanding(item.pr)) draft.items.set(item.pr, { ...item, testedOnTip: event.tip });
      return;
    case 'ended':
      // While it is being put on the branch only the branch can say how that ended.
      if (draft.isLanding(item.pr)) draft.items.set(item.pr, { ...item, endRequested: event.reason });
      else end(draft, item.pr, event.reason);
      return;
    case 'merged-by-hand':
      return mergedByHand(draft, item.pr, event.tip);
    default:
      unreachable(event);
  }
}

/** A proof of a lane is about the targets as they were when other lanes landed: with others it is none. */
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

/** The same composition once more, in place: nobody else is disturbed. */
function restart(draft: Draft, pr: number): void {
  const item = draft.items.get(pr);
  if (item?.place.kind !== 'line' || draft.isLanding(pr)) return;
  const group = draft.line.find(({ members }) => members.includes(pr))!;
  const latest = draft.runsOf(group).at(-1);
  if (latest !== undefined) draft.runAgain(latest);
}

function report(draft: Draft, id: number, change: (run: Run, now: number) => Run): void {
  const run = draft.runs.get(id);
  if (run === undefined || !isActive(run)) return;
  const changed = change(run, draft.now);
  draft.runs.set(id, changed);
  // With a `why` CI was never asked.
  if (changed.status === 'passed' || (changed.status === 'failed' && changed.why === null)) endOutage(draft);
}

const notStarted = (run: Run, now: number): Run => ({
  ...run,
  status: 'start_failed',
  notBefore: now + startPauseMs(run.attempt),
});

function conflict(draft: Draft, event: Extract<Event, { kind: 'conflict' }>): void {
  const run = draft.runs.get(event.run);
  if (run === undefined || !isActive(run)) return;
  // Whoever could not be put there has left, or is landing: without it the rest is worth another try.
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

/** A change of mode with something under test waits until nothing is. */
function changeSettings(draft: Draft, { mode, ...settings }: Partial<QueueSettings>): void {
  draft.settings = { ...draft.settings, ...settings };
  if (mode === undefined || mode === draft.settings.mode || draft.switching !== null) return;
  if (draft.line.length === 0 && draft.searches.length === 0) draft.settings = { ...draft.settings, mode };
  else {
    draft.switching = { mode, returnTo: draft.state as SettableQueueState };
    draft.state = 'SWITCHING_MODES';
  }
}

/** While the host is away no time passes for anybody: every clock is moved on when it is back. */
function freeze(draft: Draft, away: boolean): void {
  if (away === (draft.frozenAt !== null)) return;
  if (away) {
    draft.frozenAt = draft.now;
    return;
  }
  const since = draft.frozenAt!;
  draft.frozenAt = null;
  /** What began during the outage has lost less than all of it. */
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

// One look at a queue: look(picture, now) → what to record, what to do, and when to look again. The planner decides; this
// puts what it is told into the shape it looks at, and what it decided into facts about entries.
//
//   picture ── restore ──► snapshot ── observe (all events) ──► plan ──► facts, actions, what to remember
//
// The same picture at the same time gives the same look, so a look that was interrupted is simply taken again.

import { assert, unreachable } from '#base/assert.ts';
import type { RunId } from '#base/id.ts';
import type { ProgressBody } from '../fact.ts';
import { isEnded, type Queue, type Stage } from '../model.ts';
import { deadlineOf, statusOutOfTime } from '../planner/clock.ts';
import { misshapen, violationsOfStep } from '../planner/invariant.ts';
import {
  type Action,
  type Fact,
  isActive,
  type Item,
  type Run,
  type Search,
  type Snapshot,
} from '../planner/model.ts';
import { type Current, observeAll } from '../planner/observe.ts';
import { plan } from '../planner/plan.ts';
import { type LinePlace, linePlaces } from './line-place.ts';
import type { Picture, PictureEntry } from './picture.ts';
import { eventsSince, needsProbe, restore } from './restore.ts';
import { isSameItem, type StoredItem, type StoredPlan } from './stored.ts';

/** How a run ended that was under way before. */
type RunConclusion = {
  readonly number: number;
  readonly outcome: 'passed' | 'failed' | 'infrastructure' | 'timed_out' | 'not_started' | 'cancelled';
};

export type Look = {
  readonly queue: Queue;
  readonly stored: StoredPlan;
  /** What to remember of entries, where that changed; null: nothing any more. */
  readonly items: ReadonlyMap<number, StoredItem | null>;
  readonly facts: ReadonlyMap<number, readonly ProgressBody[]>;
  readonly places: ReadonlyMap<number, LinePlace>;
  readonly started: readonly { readonly id: RunId; readonly run: Run }[];
  readonly concluded: readonly RunConclusion[];
  readonly landing: Extract<Action, { kind: 'land' }> | null;
  /** Entries of which it must be known whether they can merge directly. */
  readonly probes: readonly number[];
  readonly wakeAt: number | null;
};

export function look(picture: Picture, now: number, newRunId: () => RunId): Look {
  const before = restore(picture);
  let snapshot = before;
  const facts: Fact[] = [];
  const actions: Action[] = [];
  const take = (step: { snapshot: Snapshot; facts: readonly Fact[]; actions: readonly Action[] }) => {
    const wrong = violationsOfStep(snapshot, step);
    assert(wrong.length === 0, wrong.join('; '));
    snapshot = step.snapshot;
    facts.push(...step.facts);
    actions.push(...step.actions);
  };
  /** How runs ended in this look: a plan may have no use for a run as soon as it knows its result. */
  const ended = new Map<number, RunConclusion['outcome']>();
  const events = (current: Current) => eventsSince(picture, current);
  take(observeAll(before, events, now, (run) => ended.set(run.id, outcomeOf(run))));
  for (const run of snapshot.runs.values())
    if (isOutOfTime(snapshot, run, now)) ended.set(run.id, statusOutOfTime(run));
  const planned = plan(snapshot, now);
  take(planned);
  const wrong = misshapen(snapshot);
  assert(wrong.length === 0, wrong.join('; '));

  const started = actions.flatMap((action) =>
    // What was asked for and dropped within one look never begins.
    action.kind === 'start-run' && snapshot.runs.has(action.run.id)
      ? [{ id: newRunId(), run: action.run }]
      : [],
  );
  const ids = new Map([
    ...picture.runs.map((report) => [report.number, report.id] as const),
    ...started.map(({ id, run }) => [run.id, id] as const),
  ]);
  const landing = actions.findLast((action) => action.kind === 'land');
  return {
    queue: queueAfter(picture.queue, snapshot),
    stored: storedOf(snapshot),
    items: itemsAfter(picture, snapshot),
    facts: factsAbout(picture, before, snapshot, facts, ids, started),
    places: linePlaces(snapshot, now),
    started,
    concluded: conclusions(before, snapshot, ended),
    landing: landing !== undefined && snapshot.landing?.id === landing.landing.id ? landing : null,
    probes: picture.entries.filter((shown) => needsProbe(picture, shown)).map(numberOf),
    wakeAt: planned.wakeAt,
  };
}

const numberOf = ({ entry }: PictureEntry): number => entry.pullRequest.number;

function queueAfter(queue: Queue, { settings, state, switching }: Snapshot): Queue {
  if (state === queue.state && settings.mode === queue.settings.mode && switching === queue.switching)
    return queue;
  return { ...queue, state, settings, switching };
}

function storedOf(snapshot: Snapshot): StoredPlan {
  const { tip, line, searches, runs, landing, gone, frozenAt, outageSince, nextId } = snapshot;
  return {
    tip,
    line,
    searches,
    runs: [...runs.values()],
    landing,
    gone: [...gone],
    frozenAt,
    outageSince,
    nextId,
  };
}

function itemsAfter(picture: Picture, { items }: Snapshot): Map<number, StoredItem | null> {
  const changed = new Map<number, StoredItem | null>();
  for (const shown of picture.entries) {
    const item = items.get(numberOf(shown));
    const next = item === undefined ? null : storedItem(shown, item);
    if (!isSameItem(next, shown.stored)) changed.set(numberOf(shown), next);
  }
  return changed;
}

const storedItem = (
  { entry, targets }: PictureEntry,
  { place, queuedAt, patienceFrom, testedOnTip }: Item,
): StoredItem => ({
  trip: entry.trip,
  place,
  queuedAt,
  patienceFrom,
  testedOnTip,
  targetsAt: targets?.at ?? null,
});

function isOutOfTime(snapshot: Snapshot, run: Run, now: number): boolean {
  const deadline = snapshot.frozenAt === null && isActive(run) ? deadlineOf(snapshot, run) : null;
  return deadline !== null && deadline <= now;
}

/** What became of the runs that were under way. */
function conclusions(
  before: Snapshot,
  after: Snapshot,
  ended: ReadonlyMap<number, RunConclusion['outcome']>,
): RunConclusion[] {
  const concluded: RunConclusion[] = [];
  for (const run of before.runs.values()) {
    if (!isActive(run)) continue;
    const now = after.runs.get(run.id);
    if (now !== undefined && isActive(now)) continue;
    concluded.push({ number: run.id, outcome: ended.get(run.id) ?? outcomeOf(now) });
  }
  return concluded;
}

function outcomeOf(run: Run | undefined): RunConclusion['outcome'] {
  switch (run?.status) {
    case 'passed':
    case 'failed':
    case 'infrastructure':
    case 'timed_out':
      return run.status;
    case 'start_failed':
      // An attempt of -1 is one that was asked to begin anew.
      return run.attempt < 0 ? 'cancelled' : 'not_started';
    case undefined:
    case 'starting':
    case 'running':
      return 'cancelled';
  }
}

type Started = Look['started'];

/** The planner's facts as facts about entries. Of those that had ended already everything is recorded. */
function factsAbout(
  picture: Picture,
  before: Snapshot,
  after: Snapshot,
  facts: readonly Fact[],
  ids: ReadonlyMap<number, RunId>,
  started: Started,
): Map<number, ProgressBody[]> {
  const about = new Map<number, ProgressBody[]>();
  const entries = new Map(picture.entries.map((shown) => [numberOf(shown), shown]));
  const record = (pr: number, body: ProgressBody) => {
    const list = about.get(pr);
    if (list === undefined) about.set(pr, [body]);
    else list.push(body);
  };
  for (const [pr, { entry }] of entries) {
    if (isEnded(entry.stage)) continue;
    if (entry.restartRequested) record(pr, { kind: 'restarted' });
    if (entry.landing && !(after.landing?.members.includes(pr) ?? false) && after.items.has(pr))
      record(pr, { kind: 'landing_ended' });
  }
  for (const { pr, ...why } of restartReasons(picture)) {
    const shown = entries.get(pr);
    if (shown === undefined || isEnded(shown.entry.stage)) continue;
    record(pr, { kind: 'restart_requested', ...why });
    record(pr, { kind: 'restarted' });
  }
  for (const fact of facts) {
    if (fact.kind === 'mode_switched') continue;
    const shown = entries.get(fact.pr);
    assert(shown !== undefined, `#${fact.pr} is in the picture`);
    // What a command ended, the planner ends again: that is known, and perhaps it is back on a new trip.
    const wasEnded =
      isEnded(shown.entry.stage) || (isEnding(fact) && shown.stored?.trip !== shown.entry.trip);
    if (!wasEnded) recordMove(fact, shown, ids, record);
  }
  showAgain(after, started, about, entries, record);
  for (const search of after.searches) showSearch(search, started, about, entries, record);
  for (const pr of after.landing?.members ?? [])
    if (!(before.landing?.members.includes(pr) ?? false)) record(pr, { kind: 'landing_begun' });
  return about;
}

/** Entries that are tested again because of how a landing ended, where their timeline says why. */
function restartReasons({ landing }: Picture) {
  if (landing?.kind !== 'lost' || landing.why === undefined) return [];
  const { why: reason, ruleChange } = landing;
  return landing.restart.map((pr) => ({ pr, reason, ruleChange }));
}

const isEnding = ({ kind }: Fact): boolean => kind === 'cancelled' || kind === 'merged';

type Record = (pr: number, body: ProgressBody) => void;
type EntryFact = Exclude<Fact, { kind: 'mode_switched' }>;

function recordMove(fact: EntryFact, shown: PictureEntry, ids: ReadonlyMap<number, RunId>, record: Record) {
  const move = (to: Stage, reason: Extract<ProgressBody, { kind: 'moved' }>['reason'] = null) =>
    record(fact.pr, { kind: 'moved', to, reason });
  /** A run that is kept no more was the last one that the entry shows. */
  const runId = (run: number): RunId | null => {
    const { stage } = shown.entry;
    return ids.get(run) ?? ('runId' in stage ? stage.runId : null);
  };
  switch (fact.kind) {
    case 'queued':
      return move({ kind: 'pending' }, fact.reason);
    case 'unready':
      return move({ kind: 'not_ready' });
    case 'testing':
    case 'passed':
    case 'suspected': {
      const run = runId(fact.run);
      if (run !== null) move({ kind: stageKinds[fact.kind], runId: run });
      return undefined;
    }
    case 'failed': {
      const run = fact.evidence === null ? null : runId(fact.evidence.failedRun);
      return move({ kind: 'failed', reason: fact.reason, runId: run }, fact.reason);
    }
    case 'cancelled':
      return move({ kind: 'cancelled', reason: fact.reason }, fact.reason);
    case 'merged': {
      const { proof, reason } = fact;
      const run = proof === null || proof.kind === 'direct' ? null : runId(proof.run);
      return move({ kind: 'merged', reason, runId: run }, reason);
    }
    default:
      return unreachable(fact);
  }
}

const stageKinds = { testing: 'testing', passed: 'tests_passed', suspected: 'pending_failure' } as const;

/** A run that was begun anew in place: those it tests show the new one. */
function showAgain(
  after: Snapshot,
  started: Started,
  about: ReadonlyMap<number, readonly ProgressBody[]>,
  entries: ReadonlyMap<number, PictureEntry>,
  record: Record,
): void {
  for (const { id: runId, run } of started) {
    if (run.of.kind !== 'line') continue;
    const { members, tested } = run.composition;
    for (const pr of members.slice(members.length - tested)) {
      const place = after.items.get(pr)?.place;
      if (place?.kind !== 'line' || place.shown !== 'testing') continue;
      const stage = stageAfter(pr, about, entries);
      if (!('runId' in stage) || stage.runId !== runId)
        record(pr, { kind: 'moved', to: { kind: 'testing', runId }, reason: null });
    }
  }
}

/** Where the facts so far leave an entry. */
function stageAfter(
  pr: number,
  about: ReadonlyMap<number, readonly ProgressBody[]>,
  entries: ReadonlyMap<number, PictureEntry>,
): Stage {
  const moved = about.get(pr)?.findLast((fact) => fact.kind === 'moved');
  return moved === undefined ? entries.get(pr)!.entry.stage : moved.to;
}

/** Whoever is searched among is under test: by the shortest new run that holds it, or else by the longest there is. */
function showSearch(
  search: Search,
  started: Started,
  about: ReadonlyMap<number, readonly ProgressBody[]>,
  entries: ReadonlyMap<number, PictureEntry>,
  record: Record,
): void {
  const own = started
    .filter(({ run }) => run.of.kind === 'search' && run.of.search === search.id)
    .toSorted((a, b) => a.run.composition.members.length - b.run.composition.members.length);
  const longest = own.at(-1);
  if (longest === undefined) return;
  for (const pr of search.members) {
    const holder = own.find(({ run }) => run.composition.members.includes(pr));
    if (holder === undefined && stageAfter(pr, about, entries).kind === 'testing') continue;
    const { id: runId } = holder ?? longest;
    record(pr, { kind: 'moved', to: { kind: 'testing', runId }, reason: null });
  }
}

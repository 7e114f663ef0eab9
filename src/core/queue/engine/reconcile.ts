// One reconcile of a queue: reconcile(input, now) → what to record, what to do, and when to reconcile
// again. The planner decides; this module builds the planner's input and turns its decisions into facts about
// entries.
//
//   input ── restore ──► snapshot ── observe (all events) ──► plan ──► facts, actions, what to store
//
// The same input at the same time gives the same result, so an interrupted reconcile is simply run again.

import { assert, unreachable } from '#base/assert.ts';
import type { RunId } from '#base/id.ts';
import type { ProgressBody } from '../fact.ts';
import { isEnded, type Queue, type Stage } from '../model.ts';
import { computeDeadline, statusOutOfTime } from '../planner/clock.ts';
import { checkStructure, violationsOfStep } from '../planner/invariant.ts';
import {
  type Action,
  type PlannerFact,
  findShownRun,
  isActive,
  isFlakyFailure,
  isRerunAwaited,
  type Item,
  type Run,
  type Search,
  type Snapshot,
} from '../planner/model.ts';
import { type Current, observeAll } from '../planner/observe.ts';
import { plan } from '../planner/plan.ts';
import { queueSituation, situations } from '../planner/situation.ts';
import type { QueueSituation, Situation } from '../situation.ts';
import { type LinePlace, linePlaces } from './line-place.ts';
import type { ReconcileInput, InputEntry } from './reconcile-input.ts';
import { eventsSince, needsProbe, restore } from './restore.ts';
import { isSameItem, type StoredItem, storedPlan, type StoredPlan } from './stored.ts';

/** How a run ended that was active before. */
type RunConclusion = {
  readonly number: number;
  readonly outcome:
    'passed' | 'failed' | 'flaky' | 'infrastructure' | 'timed_out' | 'not_started' | 'cancelled';
};

type RerunRequest = Extract<Action, { kind: 'rerun-failed-jobs' }>;

export type Reconciliation = {
  readonly queue: Queue;
  readonly stored: StoredPlan;
  readonly situation: QueueSituation;
  /** What to store about entries, where it changed; null: delete what is stored. */
  readonly items: ReadonlyMap<number, StoredItem | null>;
  readonly facts: ReadonlyMap<number, readonly ProgressBody[]>;
  readonly places: ReadonlyMap<number, LinePlace>;
  readonly started: readonly { readonly id: RunId; readonly run: Run }[];
  readonly concluded: readonly RunConclusion[];
  /** Runs whose failed jobs run again on the same commit. */
  readonly reruns: readonly RerunRequest[];
  readonly landing: Extract<Action, { kind: 'land' }> | null;
  /** Entries whose ability to merge directly must be found out. */
  readonly probes: readonly number[];
  readonly wakeAt: number | null;
};

export function reconcile(input: ReconcileInput, now: number, newRunId: () => RunId): Reconciliation {
  const before = restore(input);
  let snapshot = before;
  const facts: PlannerFact[] = [];
  const actions: Action[] = [];
  const take = (step: { snapshot: Snapshot; facts: readonly PlannerFact[]; actions: readonly Action[] }) => {
    const wrong = violationsOfStep(snapshot, step);
    assert(wrong.length === 0, wrong.join('; '));
    snapshot = step.snapshot;
    facts.push(...step.facts);
    actions.push(...step.actions);
  };
  /** How runs ended in this reconcile: a plan may drop a run as soon as it knows its result. */
  const ended = new Map<number, RunConclusion['outcome']>();
  const events = (current: Current) => eventsSince(input, current);
  take(observeAll(before, events, now, (run) => ended.set(run.id, toRunOutcome(run))));
  for (const run of snapshot.runs.values())
    if (isOutOfTime(snapshot, run, now)) ended.set(run.id, statusOutOfTime(run));
  const planned = plan(snapshot, now);
  take(planned);
  const wrong = checkStructure(snapshot);
  assert(wrong.length === 0, wrong.join('; '));

  const started = actions.flatMap((action) =>
    // A run that was requested and dropped within one reconcile never starts.
    action.kind === 'start-run' && snapshot.runs.has(action.run.id)
      ? [{ id: newRunId(), run: action.run }]
      : [],
  );
  const ids = new Map([
    ...input.runs.map((report) => [report.number, report.id] as const),
    ...started.map(({ id, run }) => [run.id, id] as const),
  ]);
  const landing = actions.findLast((action) => action.kind === 'land');
  // A run may be dropped within the reconcile that would run its failed jobs again.
  const reruns = actions.flatMap((action) => {
    const run = action.kind === 'rerun-failed-jobs' ? snapshot.runs.get(action.run) : undefined;
    return action.kind === 'rerun-failed-jobs' && run !== undefined && isRerunAwaited(run) ? [action] : [];
  });
  return {
    queue: queueAfter(input.queue, snapshot),
    stored: storedPlan(snapshot),
    situation: queueSituation(snapshot, now),
    items: itemsAfter(input, snapshot),
    facts: factsAbout(input, before, snapshot, facts, ids, started, ended, reruns),
    places: linePlaces(snapshot, now),
    started,
    concluded: conclusions(before, snapshot, ended),
    reruns,
    landing: landing !== undefined && snapshot.landing?.id === landing.landing.id ? landing : null,
    probes: input.entries.filter((shown) => needsProbe(input, shown)).map(pullRequestNumber),
    wakeAt: earlier(planned.wakeAt, readingUntil(input, now)),
  };
}

/** How soon a failure is looked at again whose test reports are being read. */
const readingPollMs = 2_000;

const readingUntil = ({ runs }: ReconcileInput, now: number): number | null =>
  runs.some(({ failedTests }) => failedTests?.isReading === true) ? now + readingPollMs : null;

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

const pullRequestNumber = ({ entry }: InputEntry): number => entry.pullRequest.number;

function queueAfter(queue: Queue, { settings, state, switching }: Snapshot): Queue {
  if (state === queue.state && settings.mode === queue.settings.mode && switching === queue.switching)
    return queue;
  return { ...queue, state, settings, switching };
}

function itemsAfter(input: ReconcileInput, snapshot: Snapshot): Map<number, StoredItem | null> {
  const changed = new Map<number, StoredItem | null>();
  const found = situations(snapshot);
  for (const shown of input.entries) {
    const pr = pullRequestNumber(shown);
    const item = snapshot.items.get(pr);
    const next = item === undefined ? null : storedItem(shown, item, found.get(pr) ?? null);
    if (!isSameItem(next, shown.stored)) changed.set(pr, next);
  }
  return changed;
}

const storedItem = (
  { entry, targets }: InputEntry,
  { place, queuedAt, patienceFrom, testedOnTip, screen, findings, expectedMs, odds }: Item,
  situation: Situation | null,
): StoredItem => ({
  attempt: entry.attempt,
  place,
  queuedAt,
  patienceFrom,
  testedOnTip,
  ...(screen === 'none' ? {} : { screen }),
  ...(findings === undefined ? {} : { findings }),
  ...(expectedMs === undefined ? {} : { expectedMs }),
  ...(odds === undefined ? {} : { odds }),
  targetsAt: targets?.at ?? null,
  situation,
});

function isOutOfTime(snapshot: Snapshot, run: Run, now: number): boolean {
  const deadline = snapshot.frozenAt === null && isActive(run) ? computeDeadline(snapshot, run) : null;
  return deadline !== null && deadline <= now;
}

/** What became of the runs that were active. */
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
    concluded.push({ number: run.id, outcome: ended.get(run.id) ?? toRunOutcome(now) });
  }
  return concluded;
}

function toRunOutcome(run: Run | undefined): RunConclusion['outcome'] {
  switch (run?.status) {
    case 'passed':
    case 'failed':
    case 'infrastructure':
    case 'timed_out':
      return run.status;
    case 'start_failed':
      if (isFlakyFailure(run)) return 'flaky';
      // An attempt of -1 marks a run that was asked to restart.
      return run.attempt < 0 ? 'cancelled' : 'not_started';
    case undefined:
    case 'starting':
    case 'running':
      return 'cancelled';
  }
}

type Started = Reconciliation['started'];

/** The planner's facts as facts about entries. Entries that had ended before have all their facts already. */
function factsAbout(
  input: ReconcileInput,
  before: Snapshot,
  after: Snapshot,
  facts: readonly PlannerFact[],
  ids: ReadonlyMap<number, RunId>,
  started: Started,
  ended: ReadonlyMap<number, RunConclusion['outcome']>,
  reruns: readonly RerunRequest[],
): Map<number, ProgressBody[]> {
  const about = new Map<number, ProgressBody[]>();
  const entries = new Map(input.entries.map((shown) => [pullRequestNumber(shown), shown]));
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
  for (const { pr, ...why } of [...restartReasons(input), ...flakeReasons(before, ended, reruns)]) {
    const shown = entries.get(pr);
    if (shown === undefined || isEnded(shown.entry.stage)) continue;
    record(pr, { kind: 'restart_requested', ...why });
    record(pr, { kind: 'restarted' });
  }
  for (const fact of facts) {
    const shown = entries.get(fact.pr);
    assert(shown !== undefined, `#${fact.pr} is in the input`);
    // A command has ended this entry already; the pull request may be back in a new attempt.
    const wasEnded =
      isEnded(shown.entry.stage) || (isEnding(fact) && shown.stored?.attempt !== shown.entry.attempt);
    if (!wasEnded) recordMove(fact, shown, ids, record);
  }
  showAgain(after, ids, about, entries, record);
  for (const search of after.searches) showSearch(search, started, about, entries, record);
  for (const pr of after.landing?.members ?? [])
    if (!(before.landing?.members.includes(pr) ?? false)) record(pr, { kind: 'landing_begun' });
  return about;
}

/** Entries that are tested again because of how a landing ended, where their timeline says why. */
function restartReasons({ landing }: ReconcileInput) {
  if (landing?.kind !== 'lost' || landing.why === undefined) return [];
  const { why: reason, ruleChange } = landing;
  return landing.restart.map((pr) => ({ pr, reason, ruleChange }));
}

/**
 * Entries whose run is run again, as a whole or only its failed jobs, because only flaky tests failed in it. If the Git host
 * refuses the latter, the timeline has the reason already.
 */
function flakeReasons(
  before: Snapshot,
  ended: ReadonlyMap<number, RunConclusion['outcome']>,
  reruns: readonly RerunRequest[],
) {
  const repeated = [...ended].flatMap(([number, outcome]) =>
    outcome === 'flaky' && !isRerunAwaited(before.runs.get(number)!) ? [number] : [],
  );
  return [...repeated, ...reruns.map(({ run }) => run)].flatMap((number) => {
    const { members, tested } = before.runs.get(number)!.composition;
    return members.slice(-tested).map((pr) => ({ pr, reason: 'FLAKY_TESTS_FAILED' as const }));
  });
}

const isEnding = ({ kind }: PlannerFact): boolean => kind === 'cancelled' || kind === 'merged';

type RecordProgress = (pr: number, body: ProgressBody) => void;

function recordMove(
  fact: PlannerFact,
  shown: InputEntry,
  ids: ReadonlyMap<number, RunId>,
  record: RecordProgress,
) {
  const move = (to: Stage, reason: Extract<ProgressBody, { kind: 'moved' }>['reason'] = null) =>
    record(fact.pr, { kind: 'moved', to, reason });
  /** A run that is no longer stored was the last one that the entry shows. */
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

/**
 * An entry under test shows one of its active runs, for as long as that is active; then the one with the most entries
 * ahead. The others are bets on what becomes of those ahead.
 */
function showAgain(
  after: Snapshot,
  ids: ReadonlyMap<number, RunId>,
  about: ReadonlyMap<number, readonly ProgressBody[]>,
  entries: ReadonlyMap<number, InputEntry>,
  record: RecordProgress,
): void {
  for (const [pr, runs] of activeLineRuns(after)) {
    const place = after.items.get(pr)?.place;
    if (place?.kind !== 'line' || place.shown !== 'testing') continue;
    const stage = stageAfter(pr, about, entries);
    if ('runId' in stage && runs.some(({ id }) => ids.get(id) === stage.runId)) continue;
    const runId = ids.get(findShownRun(runs)!.id);
    if (runId !== undefined) record(pr, { kind: 'moved', to: { kind: 'testing', runId }, reason: null });
  }
}

/** The active runs in the line of each entry that they test. */
function activeLineRuns({ runs }: Snapshot): ReadonlyMap<number, readonly Run[]> {
  const found = new Map<number, Run[]>();
  for (const run of runs.values()) {
    if (run.of.kind !== 'line' || !isActive(run)) continue;
    const { members, tested } = run.composition;
    for (const pr of members.slice(members.length - tested)) {
      const list = found.get(pr);
      if (list === undefined) found.set(pr, [run]);
      else list.push(run);
    }
  }
  return found;
}

/** Where the facts so far leave an entry. */
function stageAfter(
  pr: number,
  about: ReadonlyMap<number, readonly ProgressBody[]>,
  entries: ReadonlyMap<number, InputEntry>,
): Stage {
  const moved = about.get(pr)?.findLast((fact) => fact.kind === 'moved');
  return moved === undefined ? entries.get(pr)!.entry.stage : moved.to;
}

/** Entries under bisection show as testing, with the shortest new run that holds them or else the longest. */
function showSearch(
  search: Search,
  started: Started,
  about: ReadonlyMap<number, readonly ProgressBody[]>,
  entries: ReadonlyMap<number, InputEntry>,
  record: RecordProgress,
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

// From the input of a reconcile to the planner's input: the stored snapshot combined with the current rows, and the events
// that lead from there to the present. Events are found by comparing, never by counting signals: a lost,
// repeated or late signal changes nothing. Model check and property tests go through the same restore
// (test/planner/reading.ts).

import { evaluateChecks, unpassedChecks } from '../check.ts';
import { isEnded } from '../model.ts';
import { mayRepeatFlake } from '../planner/clock.ts';
import { noTargets, type Targets } from '../planner/lane.ts';
import { isActive, isRerunAwaited, type Item, type Run, type Snapshot } from '../planner/model.ts';
import type { Current, PlannerEvent } from '../planner/observe.ts';
import { currentChecks, type ExcusedCheck, findExcused, findRerunStart } from '../rule/rerun.ts';
import { isReady, assessReadiness } from '../rule/readiness.ts';
import {
  type FailedTestsReport,
  type InputEntry,
  type ReconcileInput,
  type RunReport,
  usesFailedTests,
  usesPredictions,
} from './reconcile-input.ts';
import {
  emptyPlan,
  restoreRun,
  type RememberedItem,
  type StoredItem,
  type StoredPlan,
  type StoredPlanRun,
} from './stored.ts';

/** The part of a queue that every reconcile reads: commands and its own history change it at any time. */
export type QueueReading = Pick<
  Snapshot,
  'state' | 'settings' | 'limits' | 'failureShare' | 'flakeShare' | 'switching'
>;

/** The part of an entry that every reconcile reads: commands and the Git host change it at any time. */
export type EntryReading = Omit<Item, keyof RememberedItem>;

/** The planner's whole input: what it stored, and what is read now. There is no other way in. */
export function restoreSnapshot(
  { state, settings, limits, failureShare, flakeShare, switching }: QueueReading,
  { runs, targetedRuns, gone, outageSince = null, ...plan }: StoredPlan,
  items: Iterable<Item>,
): Snapshot {
  return {
    ...plan,
    state,
    settings,
    limits,
    failureShare,
    flakeShare,
    switching,
    items: new Map(Array.from(items, (item) => [item.pr, item])),
    runs: new Map(mergeRuns(runs, targetedRuns).map((run) => [run.id, restoreRun(withAllFields(run))])),
    gone: new Map(gone),
    outageSince,
  };
}

/** Runs are in the order of their creation, however they are stored. */
const mergeRuns = (
  runs: StoredPlan['runs'],
  targeted: StoredPlan['targetedRuns'] = [],
): StoredPlan['runs'] =>
  targeted.length === 0 ? runs : [...runs, ...targeted].toSorted((a, b) => a.id - b.id);

/** A run that an earlier version stored lacks the fields that this version added. */
const withAllFields = (run: StoredPlanRun): Run =>
  hasAllFields(run) ? run : { pushedAt: null, timeouts: 0, ...run };

const hasAllFields = (run: StoredPlanRun): run is Run =>
  run.pushedAt !== undefined && run.timeouts !== undefined;

export const restoreItem = (
  reading: EntryReading,
  { place, queuedAt, patienceFrom, testedOnTip, screen = 'none', findings, expectedMs, odds }: RememberedItem,
): Item => ({
  ...reading,
  place,
  queuedAt,
  patienceFrom,
  testedOnTip,
  screen,
  ...(findings === undefined ? {} : { findings }),
  ...(expectedMs === undefined ? {} : { expectedMs }),
  ...(odds === undefined ? {} : { odds }),
});

export function restore(input: ReconcileInput): Snapshot {
  const { queue, limits, failureShare, flakeShare, stored, branchSha } = input;
  const { state, settings, switching } = queue;
  const items: Item[] = [];
  for (const shown of input.entries)
    if (shown.stored !== null)
      items.push(restoreItem(readEntry(input, shown, shown.stored), withUsedOdds(queue, shown.stored)));
  return restoreSnapshot(
    { state, settings, limits, failureShare, flakeShare, switching },
    stored ?? emptyPlan(branchSha ?? ''),
    items,
  );
}

/** A queue that does not predict failures any more forgets what it predicted. */
function withUsedOdds(queue: ReconcileInput['queue'], stored: StoredItem): RememberedItem {
  if (stored.odds === undefined || usesPredictions(queue)) return stored;
  const { odds: _, ...rest } = stored;
  return rest;
}

const pullRequestNumber = ({ entry }: InputEntry): number => entry.pullRequest.number;

/**
 * Single mode ignores targets; in parallel mode an entry without targets is not ready and counts as `ALL`.
 */
function effectiveTargets({ queue }: ReconcileInput, { targets }: InputEntry): Targets {
  if (queue.settings.mode === 'single' && queue.switching === null) return noTargets;
  return targets?.set ?? 'ALL';
}

/** An entry that may merge directly waits until that is known. */
export function needsProbe(input: ReconcileInput, { entry, probedTip }: InputEntry): boolean {
  const { queue, stored, branchSha } = input;
  if (queue.settings.directMergeMode === 'off' || branchSha === null) return false;
  if ((stored?.line.length ?? 0) > 0 || (stored?.landing ?? null) !== null) return false;
  const waits = entry.stage.kind === 'not_ready' || entry.stage.kind === 'pending';
  return waits && probedTip !== branchSha;
}

const isEntryReady = (input: ReconcileInput, shown: InputEntry): boolean =>
  isReady(assessReadiness(input.queue, shown.entry, shown.targets !== null)) && !needsProbe(input, shown);

function readEntry(input: ReconcileInput, shown: InputEntry, stored: StoredItem): EntryReading {
  const { entry } = shown;
  // After a new submission, what the planner stored is about the attempt before.
  const isCurrent = stored.attempt === entry.attempt;
  return {
    pr: pullRequestNumber(shown),
    priority: entry.priority,
    seniority: entry.seniority,
    submittedAt: entry.submittedAt.getTime(),
    noBatch: entry.noBatch,
    ready: isCurrent && isEntryReady(input, shown),
    targets: effectiveTargets(input, shown),
    endRequested: entry.endRequested,
  };
}

/** What happened since the last reconcile. Each event is requested when those before it have been applied. */
export function* eventsSince(input: ReconcileInput, current: Current): Generator<PlannerEvent> {
  const { branchSha, landing, hostAwayAt } = input;
  const away = hostAwayAt !== null || branchSha === null;
  if (away !== (current.frozenAt !== null)) yield { kind: away ? 'host-away' : 'host-back' };
  if (landing !== null) yield* landingEvents(landing);
  if (current.landing === null && branchSha !== null && branchSha !== current.tip)
    yield { kind: 'branch-moved', tip: branchSha };
  for (const shown of input.entries)
    if (mayHaveEnded(shown)) yield* endingsOf(shown, branchSha ?? current.tip);
  for (const shown of input.entries) if (mayHaveChanged(shown)) yield* changesOf(input, shown);
  for (const report of input.runs) {
    const run = current.runs.get(report.number);
    if (run !== undefined && isActive(run)) yield* reportOf(input, report, run);
  }
}

function* landingEvents(landing: NonNullable<ReconcileInput['landing']>): Generator<PlannerEvent> {
  const { number } = landing;
  switch (landing.kind) {
    case 'landed':
      yield landing.inPart === undefined
        ? { kind: 'landed', landing: number, tip: landing.tip }
        : { kind: 'landed-in-part', landing: number, tip: landing.tip, ...landing.inPart };
      return;
    case 'lost':
      yield { kind: 'landing-lost', landing: number, tip: landing.tip };
      for (const pr of landing.restart) yield { kind: 'restart', pr };
      return;
    case 'refused':
      yield { kind: 'landing-refused', landing: number, pr: landing.pr, reason: landing.reason };
  }
}

// Called for every entry of a queue that may have 10,000, hardly any of which has changed.
const mayHaveEnded = ({ entry, stored }: InputEntry): boolean =>
  stored !== null && (stored.attempt !== entry.attempt || isEnded(entry.stage));

const mayHaveChanged = ({ entry, stored, targets, testedOnTip }: InputEntry): boolean =>
  stored?.attempt !== entry.attempt ||
  (targets?.at ?? null) !== stored.targetsAt ||
  testedOnTip !== stored.testedOnTip ||
  entry.restartRequested;

function* endingsOf(shown: InputEntry, tip: string): Generator<PlannerEvent> {
  const { entry, stored } = shown;
  if (stored === null) return;
  const { stage } = entry;
  const pr = pullRequestNumber(shown);
  if (stored.attempt !== entry.attempt) yield { kind: 'ended', pr, reason: 'USER_REQUESTED' };
  else if (stage.kind === 'merged') yield { kind: 'merged-by-hand', pr, tip };
  else if (stage.kind === 'cancelled') yield { kind: 'ended', pr, reason: stage.reason };
}

function* changesOf(input: ReconcileInput, shown: InputEntry): Generator<PlannerEvent> {
  const { entry, stored, targets } = shown;
  const pr = pullRequestNumber(shown);
  if (isEnded(entry.stage)) return;
  if (stored === null || stored.attempt !== entry.attempt) {
    const { priority, seniority, noBatch } = entry;
    const item = {
      pr,
      priority,
      seniority,
      noBatch,
      submittedAt: entry.submittedAt.getTime(),
      ready: isEntryReady(input, shown),
      targets: effectiveTargets(input, shown),
      ...(shown.odds === undefined ? {} : { odds: shown.odds }),
    };
    yield { kind: 'submitted', item };
  } else if ((targets?.at ?? null) !== stored.targetsAt)
    yield { kind: 'targets', pr, targets: effectiveTargets(input, shown) };
  if (shown.testedOnTip !== (stored?.testedOnTip ?? null))
    yield { kind: 'tested-on-tip', pr, tip: shown.testedOnTip };
  if (entry.restartRequested) yield { kind: 'restart', pr };
}

function* reportOf(
  { queue }: ReconcileInput,
  { number: run, outcome, ...report }: RunReport,
  known: Run,
): Generator<PlannerEvent> {
  switch (outcome?.kind) {
    case 'not_started':
      yield { kind: 'run-not-started', run, ...(outcome.why === null ? {} : { why: outcome.why }) };
      return;
    case 'failed':
      yield { kind: 'run-failed', run, why: outcome.why };
      return;
    case 'conflict':
      yield { kind: 'conflict', run, pr: outcome.pr, with: outcome.with };
      return;
    case undefined:
  }
  if (report.pushedAt === null) return;
  if (known.pushedAt === null) yield { kind: 'run-pushed', run, at: report.pushedAt };
  const { rerun } = known;
  if (report.isRerunRefused === true && isRerunAwaited(known)) {
    yield { kind: 'rerun-refused', run };
    return;
  }
  // A new attempt of the failed jobs begins before its results count.
  const begunAt = rerun === undefined ? report.startedAt : findRerunStart(rerun.excused, report.checks);
  const since = rerun === undefined ? null : (rerun.since ?? begunAt);
  const checks = currentChecks(report.checks, rerun === undefined ? undefined : { ...rerun, since });
  const { skippableStatuses } = queue.settings;
  const verdict = evaluateChecks(report.required, checks, skippableStatuses);
  const mayRepeat = mayRepeatFlake(queue, known);
  const reports = mayRepeat || usesFailedTests(queue) ? report.failedTests : undefined;
  const at = begunAt;
  if (verdict.kind === 'passed' && known.tests === undefined) yield { kind: 'run-passed', run };
  else if (verdict.kind === 'passed' && reports?.isReading !== true)
    yield { kind: 'run-passed', run, ...(reports?.lacksResults === false ? {} : { lacksResults: true }) };
  else if (verdict.kind === 'failed' && reports?.isReading !== true)
    yield mayRepeat && isByFlakes(reports, verdict.by)
      ? { kind: 'run-failed-by-flakes', run, ...pickExcused(queue, { ...report, checks }) }
      : { kind: 'run-failed', run, ...pickFailedTests(queue, { ...report, checks }, verdict.by) };
  else if (verdict.kind === 'infrastructure') {
    const timedOut = verdict.by.some(({ conclusion }) => conclusion === 'timed_out');
    yield { kind: 'run-infrastructure-failed', run, timedOut };
  } else if (at !== null && known.status === 'starting') yield { kind: 'run-started', run, at };
}

/** The failed results, in the form of a field, if only the failed jobs may run again. */
function pickExcused(
  { settings }: ReconcileInput['queue'],
  { required, checks }: Pick<RunReport, 'required' | 'checks'>,
): { readonly excused?: readonly ExcusedCheck[] } {
  const excused = findExcused(required, checks, settings.skippableStatuses);
  return excused === null ? {} : { excused };
}

/** A failed check without a report of failed tests may have failed for any reason: then the failure counts. */
const isByFlakes = (reports: FailedTestsReport | undefined, failedChecks: readonly string[]): boolean =>
  reports?.areAllFlaky === true && explainsChecks(reports, failedChecks);

const explainsChecks = ({ failedJobs }: FailedTestsReport, failedChecks: readonly string[]): boolean =>
  failedChecks.length > 0 && failedJobs >= failedChecks.length;

/**
 * The tests that failed, in the form of a field, if they explain every failed check and the queue uses them. A required check
 * that was cancelled or has not ended may hide other failures.
 */
function pickFailedTests(
  queue: ReconcileInput['queue'],
  { failedTests, required, checks }: Omit<RunReport, 'number' | 'outcome'>,
  failedChecks: readonly string[],
): { readonly tests?: readonly string[] } {
  if (failedTests?.tests === undefined || !usesFailedTests(queue)) return {};
  const unpassed = unpassedChecks(required, checks, queue.settings.skippableStatuses);
  const isWhole = unpassed.length === failedChecks.length && explainsChecks(failedTests, failedChecks);
  return isWhole ? { tests: failedTests.tests } : {};
}

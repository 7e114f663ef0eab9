// From a picture to what the planner looks at: the snapshot it left, and the events that lead from there to the present.
// Events are found by comparing, never by counting signals: a signal that was lost, doubled or late changes nothing.

import { verdictOf } from '../check.ts';
import { isEnded } from '../model.ts';
import { noTargets, type Targets } from '../planner/lane.ts';
import { isActive, type Item, type Run, type Snapshot } from '../planner/model.ts';
import type { Current, Event } from '../planner/observe.ts';
import { isReady, readinessOf } from '../readiness.ts';
import type { Picture, PictureEntry, RunReport } from './picture.ts';
import type { StoredItem } from './stored.ts';

export function restore(picture: Picture): Snapshot {
  const { queue, stored, branchSha } = picture;
  const items = new Map<number, Item>();
  for (const entry of picture.entries)
    if (entry.stored !== null) items.set(numberOf(entry), restoreItem(picture, entry, entry.stored));
  return {
    state: queue.state,
    settings: queue.settings,
    limits: picture.limits,
    switching: queue.switching,
    tip: stored?.tip ?? branchSha ?? '',
    items,
    line: stored?.line ?? [],
    searches: stored?.searches ?? [],
    runs: new Map(stored?.runs.map((run) => [run.id, { pushedAt: null, timeouts: 0, ...run }])),
    landing: stored?.landing ?? null,
    gone: new Map(stored?.gone),
    frozenAt: stored?.frozenAt ?? null,
    outageSince: stored?.outageSince ?? null,
    nextId: stored?.nextId ?? 1,
  };
}

const numberOf = ({ entry }: PictureEntry): number => entry.pullRequest.number;

/** In a single line targets mean nothing; in lanes one without targets is not ready, and shares with everybody. */
function targetsOf({ queue }: Picture, { targets }: PictureEntry): Targets {
  if (queue.settings.mode === 'single' && queue.switching === null) return noTargets;
  return targets?.set ?? 'ALL';
}

/** An entry that may merge directly waits until it is known whether it may. */
export function needsProbe(picture: Picture, { entry, probedTip }: PictureEntry): boolean {
  const { queue, stored, branchSha } = picture;
  if (queue.settings.directMergeMode === 'off' || branchSha === null) return false;
  if ((stored?.line.length ?? 0) > 0 || (stored?.landing ?? null) !== null) return false;
  const waits = entry.stage.kind === 'not_ready' || entry.stage.kind === 'pending';
  return waits && probedTip !== branchSha;
}

const readyOf = (picture: Picture, shown: PictureEntry): boolean =>
  isReady(readinessOf(picture.queue, shown.entry, shown.targets !== null)) && !needsProbe(picture, shown);

/** What a command may change at any time is read from the entry, what the planner decides from what it left. */
function restoreItem(picture: Picture, shown: PictureEntry, stored: StoredItem): Item {
  const { entry } = shown;
  // Submitted anew since: what the planner knows is about the trip before.
  const isCurrent = stored.trip === entry.trip;
  return {
    pr: numberOf(shown),
    priority: entry.priority,
    seniority: entry.seniority,
    submittedAt: entry.submittedAt.getTime(),
    noBatch: entry.noBatch,
    ready: isCurrent && readyOf(picture, shown),
    queuedAt: stored.queuedAt,
    patienceFrom: stored.patienceFrom,
    testedOnTip: stored.testedOnTip,
    targets: targetsOf(picture, shown),
    place: stored.place,
    endRequested: entry.endRequested,
  };
}

/** What happened since the planner last looked. Each is asked for when those before it have been taken in. */
export function* eventsSince(picture: Picture, current: Current): Generator<Event> {
  const { branchSha, landing, hostAwayAt } = picture;
  const away = hostAwayAt !== null || branchSha === null;
  if (away !== (current.frozenAt !== null)) yield { kind: away ? 'host-away' : 'host-back' };
  if (landing !== null) yield* landingEvents(landing);
  if (current.landing === null && branchSha !== null && branchSha !== current.tip)
    yield { kind: 'branch-moved', tip: branchSha };
  for (const shown of picture.entries)
    if (mayHaveEnded(shown)) yield* endingsOf(shown, branchSha ?? current.tip);
  for (const shown of picture.entries) if (mayHaveChanged(shown)) yield* changesOf(picture, shown);
  for (const report of picture.runs) {
    const run = current.runs.get(report.number);
    if (run !== undefined && isActive(run)) yield* reportOf(picture, report, run);
  }
}

function* landingEvents(landing: NonNullable<Picture['landing']>): Generator<Event> {
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

// Asked of every entry of a queue that may have 10,000, hardly any of which has changed.
const mayHaveEnded = ({ entry, stored }: PictureEntry): boolean =>
  stored !== null && (stored.trip !== entry.trip || isEnded(entry.stage));

const mayHaveChanged = ({ entry, stored, targets, testedOnTip }: PictureEntry): boolean =>
  stored?.trip !== entry.trip ||
  (targets?.at ?? null) !== stored.targetsAt ||
  testedOnTip !== stored.testedOnTip ||
  entry.restartRequested;

function* endingsOf(shown: PictureEntry, tip: string): Generator<Event> {
  const { entry, stored } = shown;
  if (stored === null) return;
  const { stage } = entry;
  const pr = numberOf(shown);
  if (stored.trip !== entry.trip) yield { kind: 'ended', pr, reason: 'USER_REQUESTED' };
  else if (stage.kind === 'merged') yield { kind: 'merged-by-hand', pr, tip };
  else if (stage.kind === 'cancelled') yield { kind: 'ended', pr, reason: stage.reason };
}

function* changesOf(picture: Picture, shown: PictureEntry): Generator<Event> {
  const { entry, stored, targets } = shown;
  const pr = numberOf(shown);
  if (isEnded(entry.stage)) return;
  if (stored === null || stored.trip !== entry.trip) {
    const { priority, seniority, noBatch } = entry;
    const item = {
      pr,
      priority,
      seniority,
      noBatch,
      submittedAt: entry.submittedAt.getTime(),
      ready: readyOf(picture, shown),
      targets: targetsOf(picture, shown),
    };
    yield { kind: 'submitted', item };
  } else if ((targets?.at ?? null) !== stored.targetsAt)
    yield { kind: 'targets', pr, targets: targetsOf(picture, shown) };
  if (shown.testedOnTip !== (stored?.testedOnTip ?? null))
    yield { kind: 'tested-on-tip', pr, tip: shown.testedOnTip };
  if (entry.restartRequested) yield { kind: 'restart', pr };
}

function* reportOf(
  { queue }: Picture,
  { number: run, outcome, ...report }: RunReport,
  known: Run,
): Generator<Event> {
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
  const verdict = verdictOf(report.required, report.checks, queue.settings.skippableStatuses);
  const { startedAt: at } = report;
  if (verdict.kind === 'passed') yield { kind: 'run-passed', run };
  else if (verdict.kind === 'failed') yield { kind: 'run-failed', run };
  else if (verdict.kind === 'infrastructure') {
    const timedOut = verdict.by.some(({ conclusion }) => conclusion === 'timed_out');
    yield { kind: 'run-infrastructure-failed', run, timedOut };
  } else if (at !== null && known.status === 'starting') yield { kind: 'run-started', run, at };
}

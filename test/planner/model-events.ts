// What can happen next in a small world: the moves that belong to its life, and the disturbances.
import { computeDeadline } from '#core/queue/planner/clock.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import { isActive, isRerunAwaited, type Snapshot } from '#core/queue/planner/model.ts';
import type { Configuration, Node } from './model-check.ts';
import type { Input } from './reading.ts';
import { anItem } from './world.ts';

/** An event, or null for the clock alone, at a time that is now or later. */
export type Move = { readonly event: Input | null; readonly now: number };

/** Submissions, what CI says, landings that succeed, and the clock where nothing else is under way. */
export function movesOf(
  { snapshot, now, wakeAt, submitted }: Node,
  { entries, tests: named = [] }: Pick<Configuration, 'entries' | 'tests'>,
): Move[] {
  const { runs, landing, tip } = snapshot;
  const moves: Move[] = [];
  if (submitted < entries.length) {
    const item = anItem(submitted + 1, { submittedAt: now, ...entries[submitted] });
    moves.push({ event: { kind: 'submitted', item }, now });
  }
  let busy = landing !== null;
  for (const run of runs.values())
    if (isActive(run)) {
      busy = true;
      moves.push({ event: { kind: 'run-passed', run: run.id }, now });
      moves.push({ event: { kind: 'run-failed', run: run.id }, now });
      for (const tests of somePartsOf(run.tests ?? named))
        moves.push({ event: { kind: 'run-failed', run: run.id, tests }, now });
    }
  if (landing !== null)
    moves.push({
      event: { kind: 'landed', landing: landing.id, tip: [tip, ...landing.members].join() },
      now,
    });
  if (!busy && wakeAt !== null) moves.push({ event: null, now: wakeAt });
  return moves;
}

/** Every part of the list but the empty one. */
function somePartsOf(names: readonly string[]): string[][] {
  const parts = Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_name, at) => ((bits >> at) & 1) === 1),
  );
  return parts.slice(1);
}

const minuteMs = 60_000;

export function disturbancesOf(
  { snapshot, now, wakeAt }: Node,
  { only, canRerun = false }: Pick<Configuration, 'only' | 'canRerun'> = {},
): Move[] {
  const moves: Move[] = [];
  for (const event of [...eventsOf(snapshot), ...(canRerun ? rerunsOf(snapshot) : [])])
    if (only === undefined || only.includes(event.kind)) moves.push({ event, now });
  if (snapshot.frozenAt !== null) moves.push({ event: { kind: 'host-back' }, now: now + 10 * minuteMs });
  if (wakeAt !== null) moves.push({ event: null, now: wakeAt });
  return moves;
}

/** Targets 1 and 2 become both, and anything else becomes 1. */
const retargeted = (targets: Targets): Targets =>
  targets !== 'ALL' && targets.length === 1 ? Uint32Array.of(1, 2) : Uint32Array.of(1);

/** Only the failed jobs run again, or the Git host refuses that. */
function* rerunsOf({ runs }: Snapshot): Generator<Input> {
  const excused = [{ suite: 'ci', name: 'test', at: 0 }];
  for (const run of runs.values()) {
    if (isActive(run)) yield { kind: 'run-failed-by-flakes', run: run.id, excused };
    if (isRerunAwaited(run)) yield { kind: 'rerun-refused', run: run.id };
  }
}

function* eventsOf(snapshot: Snapshot): Generator<Input> {
  const { items, runs, landing, tip, state, settings, frozenAt } = snapshot;
  const moved = `${tip},x`;
  for (const { pr, place, priority, noBatch, ready, targets } of items.values()) {
    yield { kind: 'ended', pr, reason: 'USER_REQUESTED' };
    yield { kind: 'ended', pr, reason: 'PR_PUSHED_TO' };
    yield { kind: 'merged-by-hand', pr, tip: `${tip},${pr}` };
    yield { kind: 'readiness', pr, ready: !ready };
    if (priority !== 0) yield { kind: 'rewritten', pr, priority: 0, noBatch };
    if (noBatch) yield { kind: 'rewritten', pr, priority, noBatch: false };
    if (place.kind === 'line') yield { kind: 'restart', pr };
    yield { kind: 'tested-on-tip', pr, tip };
    if (settings.directMergeMode !== 'off') yield { kind: 'tested-on-tip', pr, tip: 'elsewhere' };
    if (settings.mode === 'parallel') yield { kind: 'targets', pr, targets: retargeted(targets) };
  }
  for (const run of runs.values()) {
    if (!isActive(run)) continue;
    yield { kind: 'run-not-started', run: run.id };
    yield { kind: 'run-infrastructure-failed', run: run.id, timedOut: false };
    yield { kind: 'run-infrastructure-failed', run: run.id, timedOut: true };
    yield { kind: 'run-failed-by-flakes', run: run.id };
    if (run.status === 'starting') yield { kind: 'run-started', run: run.id };
    // Told by another clock: it is not taken for later than now.
    if (run.pushedAt === null) yield { kind: 'run-pushed', run: run.id, at: Number.MAX_SAFE_INTEGER };
    const { members } = run.composition;
    for (const [index, pr] of members.entries()) {
      yield { kind: 'conflict', run: run.id, pr, with: 'tip' };
      if (index > 0) yield { kind: 'conflict', run: run.id, pr, with: members[index - 1]! };
    }
  }
  if (landing !== null) {
    yield { kind: 'landing-lost', landing: landing.id, tip: moved };
    yield { kind: 'landing-lost', landing: landing.id - 1, tip: moved };
    for (const pr of landing.members)
      yield { kind: 'landing-refused', landing: landing.id, pr, reason: 'MERGE_REFUSED_BY_HOST' };
    for (const [index, pr] of landing.members.entries()) {
      if (index === 0) continue;
      const taken = landing.members.slice(0, index);
      yield {
        kind: 'landed-in-part',
        landing: landing.id,
        members: taken,
        tip: [tip, ...taken].join(),
        pr,
        reason: 'MERGE_REFUSED_BY_HOST',
      };
      yield {
        kind: 'landed-in-part',
        landing: landing.id,
        members: taken,
        tip: [tip, ...taken].join(),
        pr: null,
        reason: null,
      };
    }
  }
  yield { kind: 'branch-moved', tip: moved };
  for (const next of ['RUNNING', 'PAUSED', 'DRAINING'] as const)
    if (state !== next) yield { kind: 'state', state: next };
  yield { kind: 'settings', settings: { mode: settings.mode === 'single' ? 'parallel' : 'single' } };
  yield { kind: 'settings', settings: { canOptimisticallyMerge: !settings.canOptimisticallyMerge } };
  yield { kind: frozenAt === null ? 'host-away' : 'host-back' };
}

/** What people call what can happen. A kind of event that is missing here does not compile. */
const names = {
  submitted: 'submit',
  rewritten: 'priority',
  readiness: 'readiness',
  targets: 'targets',
  'tested-on-tip': 'tested on tip',
  ended: 'cancel',
  'merged-by-hand': 'merge by hand',
  restart: 'restart',
  'run-pushed': 'push of a test branch',
  'run-started': 'start',
  'run-passed': 'pass',
  'run-failed': 'fail',
  'run-failed-by-flakes': 'fail by flakes',
  'rerun-refused': 'refused rerun',
  'run-not-started': 'no start',
  'run-infrastructure-failed': 'no result',
  conflict: 'conflict',
  landed: 'landing',
  'landed-in-part': 'landing in part',
  'landing-lost': 'lost landing',
  'landing-refused': 'refused landing',
  'branch-moved': 'external push',
  state: 'resume',
  settings: 'settings',
  'host-away': 'outage',
  'host-back': 'end of outage',
} as const satisfies Record<Input['kind'], string>;

export const moveNames = [...Object.values(names), 'push', 'pause', 'drain', 'clock', 'time-out'] as const;
export type MoveName = (typeof moveNames)[number];

export function nameOf({ event, now }: Move, snapshot: Snapshot): MoveName {
  if (event === null) return isTimeOut(snapshot, now) ? 'time-out' : 'clock';
  if (event.kind === 'ended' && event.reason === 'PR_PUSHED_TO') return 'push';
  if (event.kind === 'state' && event.state === 'PAUSED') return 'pause';
  if (event.kind === 'state' && event.state === 'DRAINING') return 'drain';
  return names[event.kind];
}

function isTimeOut(snapshot: Snapshot, now: number): boolean {
  for (const run of snapshot.runs.values()) {
    const deadline = isActive(run) ? computeDeadline(snapshot, run) : null;
    if (deadline !== null && deadline <= now) return true;
  }
  return false;
}

// What can happen next in a small world: the moves that belong to its life, and the disturbances.
import type { Targets } from '#core/queue/planner/lane.ts';
import { isActive } from '#core/queue/planner/model.ts';
import type { Event } from '#core/queue/planner/observe.ts';
import type { Move, Node } from './model-check.ts';
import { anItem } from './world.ts';

/** Submissions, what CI says, landings that succeed, and the clock where nothing else is under way. */
export function* movesOf(node: Node, entries: readonly Targets[]): Generator<Move> {
  const { snapshot, now, wakeAt, submitted } = node;
  if (submitted < entries.length) {
    const item = anItem(submitted + 1, { targets: entries[submitted]!, submittedAt: now });
    yield { event: { kind: 'submitted', item }, now };
  }
  let busy = snapshot.landing !== null;
  for (const run of snapshot.runs.values())
    if (isActive(run)) {
      busy = true;
      yield { event: { kind: 'run-passed', run: run.id }, now };
      yield { event: { kind: 'run-failed', run: run.id }, now };
    }
  const { landing, tip } = snapshot;
  if (landing !== null)
    yield { event: { kind: 'landed', landing: landing.id, tip: [tip, ...landing.members].join() }, now };
  if (!busy && wakeAt !== null) yield { event: null, now: wakeAt };
}

export function* disturbancesOf(node: Node): Generator<Move> {
  const { now, wakeAt } = node;
  for (const event of eventsOf(node)) yield { event, now };
  if (wakeAt !== null) yield { event: null, now: wakeAt };
}

/** Targets 1 and 2 become both, and anything else becomes 1. */
const retargeted = (targets: Targets): Targets =>
  targets !== 'ALL' && targets.length === 1 ? Uint32Array.of(1, 2) : Uint32Array.of(1);

function* eventsOf({ snapshot }: Node): Generator<Event> {
  const { items, runs, landing, tip, state, settings, frozenAt } = snapshot;
  const moved = `${tip},x`;
  for (const { pr, place, priority, ready, targets } of items.values()) {
    yield { kind: 'ended', pr, reason: 'PR_PUSHED_TO' };
    yield { kind: 'merged-by-hand', pr, tip: `${tip},${pr}` };
    yield { kind: 'readiness', pr, ready: !ready };
    if (priority !== 0) yield { kind: 'rewritten', pr, priority: 0, noBatch: false };
    if (place.kind === 'line') yield { kind: 'restart', pr };
    yield { kind: 'tested-on-tip', pr, tip };
    if (settings.mode === 'parallel') yield { kind: 'targets', pr, targets: retargeted(targets) };
  }
  for (const run of runs.values()) {
    if (!isActive(run)) continue;
    yield { kind: 'run-not-started', run: run.id };
    if (run.status === 'starting') yield { kind: 'run-started', run: run.id };
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
  }
  yield { kind: 'branch-moved', tip: moved };
  for (const next of ['RUNNING', 'PAUSED', 'DRAINING'] as const)
    if (state !== next) yield { kind: 'state', state: next };
  yield { kind: 'settings', settings: { mode: settings.mode === 'single' ? 'parallel' : 'single' } };
  yield { kind: 'settings', settings: { canOptimisticallyMerge: !settings.canOptimisticallyMerge } };
  yield { kind: frozenAt === null ? 'host-away' : 'host-back' };
}

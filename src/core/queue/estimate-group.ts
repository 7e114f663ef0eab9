// The line as it will be tested: who shares a run, what each group waits for, and when it can start. What is pending is
// grouped as planner/batch.ts would, without its targets: reading those would cost more than the estimate is worth.

import type { EntryState } from './model.ts';
import { isUrgent } from './priority.ts';
import type { QueueSettings } from './settings.ts';

const minuteMs = 60_000;

/** How far a line is looked at. Those behind are told by the rate at which the last of these land. */
export const placesMax = 500;

/** An entry in the line, as the tables have it. */
export type LineEntry = {
  readonly prNumber: number;
  readonly state: EntryState;
  /** The run it is in; null while it is pending. */
  readonly run: {
    readonly id: string;
    readonly isBisection: boolean;
    readonly isUnderWay: boolean;
    readonly createdAt: Date;
  } | null;
  /** In parallel mode: who its run assumes to land before it, the nearest first. Not asked for in single mode. */
  readonly behind: readonly number[];
  readonly noBatch: boolean;
  readonly priority: number;
  readonly stateChangedAt: Date;
  /** How often its tests began anew: such a one does not wait for a batch to fill. */
  readonly restarts: number;
};

/** Entries tested together. */
export type LineGroup = {
  readonly members: readonly number[];
  readonly kind:
    /** No run under way: it takes the next free slot. */
    | 'waiting'
    | 'running'
    | 'passed'
    /** Its run failed; whether it is to blame is open. */
    | 'failed'
    /** Searched for a culprit beside the line, which goes on without it. */
    | 'searched';
  /** For how long its run has been under way, in milliseconds; 0 without one. */
  readonly elapsedMs: number;
  /** It does not start before this: a batch that may still fill. */
  readonly notBefore: number;
  /** Whom it depends on, by how many groups ahead they are; null where that is not known. */
  readonly behind: readonly number[] | null;
};

/** The groups of a line, in its order. */
export function groupLine(
  line: readonly LineEntry[],
  settings: QueueSettings,
  arrivalGapMs: number,
  now: number,
): readonly LineGroup[] {
  const groups: LineGroup[] = [];
  const groupOf = new Map<number, number>();
  const places = line.slice(0, placesMax);
  for (let from = 0; from < places.length;) {
    const first = places[from]!;
    const size = first.state === 'pending' ? fillSize(places, from, settings) : runSize(places, from);
    const entries = places.slice(from, from + size);
    const isLast = from + size === line.length;
    for (const { prNumber } of entries) groupOf.set(prNumber, groups.length);
    groups.push({
      members: entries.map(({ prNumber }) => prNumber),
      kind: kindOf(first),
      elapsedMs: first.run?.isUnderWay === true ? Math.max(0, now - first.run.createdAt.getTime()) : 0,
      notBefore: isLast ? fillsBy(entries, settings, arrivalGapMs, now) : now,
      behind: behindOf(first, settings, groupOf, groups.length),
    });
    from += size;
  }
  return groups;
}

function kindOf({ state, run }: LineEntry): LineGroup['kind'] {
  if (run === null || state === 'pending') return 'waiting';
  if (run.isBisection) return 'searched';
  if (state === 'tests_passed') return 'passed';
  if (state === 'pending_failure') return 'failed';
  return run.isUnderWay ? 'running' : 'waiting';
}

const isSameRun = (one: LineEntry, other: LineEntry): boolean =>
  one.run !== null && one.run.id === other.run?.id && one.state === other.state;

function runSize(places: readonly LineEntry[], from: number): number {
  const end = places.findIndex((entry, at) => at > from && !isSameRun(places[from]!, entry));
  return (end === -1 ? places.length : end) - from;
}

const isAlone = ({ noBatch, priority }: LineEntry, { batch }: QueueSettings): boolean =>
  !batch || noBatch || isUrgent(priority);

function fillSize(places: readonly LineEntry[], from: number, settings: QueueSettings): number {
  if (isAlone(places[from]!, settings)) return 1;
  const most = Math.min(places.length, from + settings.batchingMinSize);
  let end = from + 1;
  while (end < most && !isAlone(places[end]!, settings)) end++;
  return end - from;
}

/** When the last batch of a line starts: once it is full at the rate at which they come, or has waited long enough. */
function fillsBy(
  entries: readonly LineEntry[],
  settings: QueueSettings,
  arrivalGapMs: number,
  now: number,
): number {
  const missing = settings.batchingMinSize - entries.length;
  const waits = ({ state, restarts }: LineEntry) => state === 'pending' && restarts === 0;
  if (missing <= 0 || isAlone(entries[0]!, settings) || !entries.every(waits)) return now;
  const since = Math.min(...entries.map(({ stateChangedAt }) => stateChangedAt.getTime()));
  const patience = since + settings.batchingMaxWaitTimeMinutes * minuteMs;
  return Math.max(now, Math.min(patience, now + missing * arrivalGapMs));
}

function behindOf(
  { run, behind }: LineEntry,
  { mode }: QueueSettings,
  groupOf: ReadonlyMap<number, number>,
  index: number,
): readonly number[] | null {
  if (mode === 'single') return index === 0 ? [] : [1];
  if (run === null) return null;
  const ahead = new Set(behind.flatMap((prNumber) => groupOf.get(prNumber) ?? []));
  ahead.delete(index);
  return [...ahead].map((group) => index - group);
}

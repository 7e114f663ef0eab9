// The queue as it will be tested: which entries share a run, what each group waits for, and when it can
// start. Pending entries are grouped as planner/batch.ts would, but without their targets: reading those
// would cost more than the estimate is worth.

import { minuteMs } from '#base/duration.ts';
import type { EntryState } from '../model.ts';
import { isUrgent } from '../priority.ts';
import type { QueueSettings } from '../settings.ts';

/** How many entries are simulated. Those behind are estimated from the landing rate of the last of these. */
export const placesMax = 500;

/** An entry in the queue, as the tables have it. */
export type LineEntry = {
  readonly prNumber: number;
  readonly state: EntryState;
  /** The run it is in; null while it is pending. */
  readonly run: {
    readonly id: string;
    readonly isBisection: boolean;
    /** It tests its batch on the branch, beside the line. */
    readonly isScreen: boolean;
    readonly isUnderWay: boolean;
    readonly createdAt: Date;
  } | null;
  /** In parallel mode: the entries that its run assumes to land first, the nearest first. Else unused. */
  readonly behind: readonly number[];
  /** It passed a screen. */
  readonly isScreened: boolean;
  readonly noBatch: boolean;
  readonly priority: number;
  readonly stateChangedAt: Date;
  /** How often its tests restarted: an entry that restarted does not wait for a batch to fill. */
  readonly restarts: number;
};

/** Entries tested together. */
export type LineGroup = {
  readonly members: readonly number[];
  readonly kind:
    /** No active run: it takes the next free slot. */
    | 'waiting'
    | 'running'
    | 'passed'
    /** Its run failed; the culprit is not known yet. */
    | 'failed'
    /** Bisected outside the line, which continues without it. */
    | 'searched'
    /** In a screen, outside the line. */
    | 'screening'
    /** Passed a screen, and waits for a group of the line. */
    | 'screened';
  /** For how long its run has been active, in milliseconds; 0 without one. */
  readonly elapsedMs: number;
  /** It does not start before this time: a batch that may still fill. */
  readonly notBefore: number;
  /** The groups that it depends on, by how many groups ahead they are; null where that is not known. */
  readonly behind: readonly number[] | null;
  /** All of its entries passed a screen. */
  readonly isScreened?: boolean;
};

/** The groups of a queue, in its order. */
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
      kind: classifyGroup(first),
      elapsedMs: first.run?.isUnderWay === true ? Math.max(0, now - first.run.createdAt.getTime()) : 0,
      notBefore: isLast ? fillsBy(entries, settings, arrivalGapMs, now) : now,
      behind: distancesToGroupsAhead(first, settings, groupOf, groups.length),
    });
    from += size;
  }
  return groups;
}

function classifyGroup({ state, run }: LineEntry): LineGroup['kind'] {
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

/** When the last batch of a queue starts: once full at the usual arrival rate, or after the longest wait. */
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

function distancesToGroupsAhead(
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

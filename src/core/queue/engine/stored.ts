// What the planner stores between two reconciles, and in which form. Everything else is read again: a queue's
// settings, an entry's priority and readiness, check results.

import type { Situation } from '../situation.ts';
import { computeDeadline, pushByMs } from '../planner/clock.ts';
import {
  type Departure,
  type Group,
  isActive,
  type Item,
  type Landing,
  type Run,
  type Search,
  type Snapshot,
  type Tip,
} from '../planner/model.ts';

/** A run that an earlier version stored lacks the fields that this version added. */
export type StoredPlanRun = Omit<Run, 'pushedAt' | 'timeouts'> & Partial<Pick<Run, 'pushedAt' | 'timeouts'>>;

/** Stored per queue: what is under test or landing. Its size follows the test slots, not the queue length. */
export type StoredPlan = {
  readonly tip: Tip;
  readonly line: readonly Group[];
  readonly searches: readonly Search[];
  readonly runs: readonly StoredPlanRun[];
  /**
   * Runs that run only some tests, apart from the others: the release before does not know that they prove no landing, and does
   * not see them here. Absent: there are none.
   */
  readonly targetedRuns?: readonly StoredPlanRun[];
  readonly landing: Landing | null;
  readonly gone: readonly (readonly [number, Departure])[];
  readonly frozenAt: number | null;
  /** Absent in a plan that an earlier version stored. */
  readonly outageSince?: number | null;
  readonly nextId: number;
};

export const emptyPlan = (tip: Tip): StoredPlan => ({
  tip,
  line: [],
  searches: [],
  runs: [],
  landing: null,
  gone: [],
  frozenAt: null,
  outageSince: null,
  nextId: 1,
});

/**
 * A run whose failed jobs run again has the form of one that is repeated as a whole, at the end of its time: the release before would
 * count the results that are excused. With this form it waits, and then repeats the run.
 */
function storedRun(snapshot: Snapshot, run: Run): Run {
  if (run.rerun === undefined || !isActive(run)) return run;
  const notBefore = computeDeadline(snapshot, run) ?? (run.startedAt ?? run.pushedAt!) + pushByMs;
  return { ...run, status: 'start_failed', attempt: -1, notBefore };
}

/** The reverse of `storedRun`. */
export function restoreRun(run: Run): Run {
  if (run.rerun === undefined || run.status !== 'start_failed') return run;
  const status = run.startedAt === null ? 'starting' : 'running';
  return { ...run, status, attempt: 0, notBefore: run.pushedAt! };
}

/** The part of a snapshot that is stored for the queue. */
export function storedPlan(snapshot: Snapshot): StoredPlan {
  const { tip, line, searches, landing, gone, frozenAt, outageSince, nextId } = snapshot;
  const runs = Array.from(snapshot.runs.values(), (run) => storedRun(snapshot, run));
  const targetedRuns = runs.filter(({ tests }) => tests !== undefined);
  return {
    tip,
    line,
    searches,
    runs: targetedRuns.length === 0 ? runs : runs.filter(({ tests }) => tests === undefined),
    ...(targetedRuns.length === 0 ? {} : { targetedRuns }),
    landing,
    gone: [...gone],
    frozenAt,
    outageSince,
    nextId,
  };
}

/** What the planner decides about an entry and therefore stores. */
export type RememberedItem = Pick<Item, 'place' | 'queuedAt' | 'patienceFrom' | 'testedOnTip'> & {
  /** Absent: none, as for most entries. */
  readonly screen?: Item['screen'];
  /** Absent: none, as for most entries. */
  readonly findings?: Item['findings'];
  /** Absent: it had no run yet. */
  readonly expectedMs?: Item['expectedMs'];
  /** As predicted when it was submitted; absent: nothing was. */
  readonly odds?: Item['odds'];
};

/** Stored per entry. */
export type StoredItem = RememberedItem & {
  /** Its attempt: to the planner, an entry that was submitted again is another one. */
  readonly attempt: number;
  /** The upload time of the targets that decided its position; null without targets. */
  readonly targetsAt: number | null;
  /** Why the entry waits, for display only. Null: it is not in the queue. An earlier version stored none. */
  readonly situation?: Situation | null;
};

/** If an entry did not move, its place is the very object that was restored. */
export const isSameItem = (a: StoredItem | null, b: StoredItem | null): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    a.attempt === b.attempt &&
    a.queuedAt === b.queuedAt &&
    a.patienceFrom === b.patienceFrom &&
    a.testedOnTip === b.testedOnTip &&
    a.targetsAt === b.targetsAt &&
    a.screen === b.screen &&
    isSameJson(a.findings, b.findings) &&
    a.expectedMs === b.expectedMs &&
    a.odds === b.odds &&
    isSameSituation(a.situation ?? null, b.situation ?? null) &&
    isSameJson(a.place, b.place));

/** Called for every entry of a queue that may have 10,000, most of which are pending. */
const isSameSituation = (a: Situation | null, b: Situation | null): boolean =>
  a?.kind === 'pending' && b?.kind === 'pending'
    ? a.conflictsWith === b.conflictsWith &&
      a.failedTogether === b.failedTogether &&
      a.startsAlone === b.startsAlone &&
      a.isScreened === b.isScreened &&
      a.startsLater === b.startsLater
    : isSameJson(a, b);

/** The database orders the fields of an object in its own way. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a, b].map((value) =>
    Object.entries(value).filter(([, field]) => field !== undefined),
  );
  return (
    left!.length === right!.length &&
    left!.every(([name, field]) => isSameJson(field, (b as Readonly<Record<string, unknown>>)[name]))
  );
}

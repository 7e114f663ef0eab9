// What the planner remembers between two looks, in the shape in which it is kept. Everything else is read anew: a
// queue's settings, an entry's priority and readiness, what CI said.

import type { Departure, Group, Landing, Place, Run, Search, Tip } from '../planner/model.ts';

/** A run that an earlier version stored lacks what was not kept then. */
type StoredRun = Omit<Run, 'pushedAt' | 'timeouts'> & Partial<Pick<Run, 'pushedAt' | 'timeouts'>>;

/** Kept per queue: what is under test, and what lands. Its size follows the test slots, not the length of the line. */
export type StoredPlan = {
  readonly tip: Tip;
  readonly line: readonly Group[];
  readonly searches: readonly Search[];
  readonly runs: readonly StoredRun[];
  readonly landing: Landing | null;
  readonly gone: readonly (readonly [number, Departure])[];
  readonly frozenAt: number | null;
  /** Absent in a plan that an earlier version stored. */
  readonly outageSince?: number | null;
  readonly nextId: number;
};

/** Kept per entry. */
export type StoredItem = {
  /** The trip it is about: an entry that was submitted anew is another one to the planner. */
  readonly trip: number;
  readonly place: Place;
  readonly queuedAt: number | null;
  readonly patienceFrom: number;
  readonly testedOnTip: Tip | null;
  /** When the targets were uploaded that it was placed by; null without targets. */
  readonly targetsAt: number | null;
};

/** The place of an entry that stayed where it is is the very object that was restored. */
export const isSameItem = (a: StoredItem | null, b: StoredItem | null): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    a.trip === b.trip &&
    a.queuedAt === b.queuedAt &&
    a.patienceFrom === b.patienceFrom &&
    a.testedOnTip === b.testedOnTip &&
    a.targetsAt === b.targetsAt &&
    isSameJson(a.place, b.place));

/** The database keeps the fields of an object in an order of its own. */
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

// Whether a queue stands still though somebody waits, in one sentence. The first reason that holds is told: a host that
// does not answer explains a run that does not end, and a queue that was stopped needs no other explanation.
//
// A run counts as overdue after three times the usual, and a line as stuck when nothing began, ended or moved for a
// quarter of an hour beyond what a batch may wait to fill: shorter spans occur in every healthy queue.

import type { Queue } from './model.ts';

/** What is known of a queue's progress. */
export type Progress = {
  readonly queue: Pick<Queue, 'state' | 'stateReason' | 'settings'>;
  readonly host: string;
  /** Since when the host does not answer. */
  readonly hostAwayAt: Date | null;
  /** Pull requests in line or under test. */
  readonly depth: number;
  /** The one that is under test for longest. */
  readonly longestTest: { readonly number: number; readonly since: Date } | null;
  /** When anything of the line last changed its state. */
  readonly movedAt: Date | null;
  /** Median time under test of what merged within a day, in milliseconds. */
  readonly usualTestMs: number | null;
};

const minuteMs = 60_000;
/** Without a run to compare with. */
const unknownTestMs = 2 * 60 * minuteMs;
const shortTestMs = 10 * minuteMs;
const overdueFactor = 3;
const stuckMs = 15 * minuteMs;

/** Null: it goes on, or nobody waits. */
export function stallOf(progress: Progress, now: Date): string | null {
  const { queue, host, hostAwayAt, depth } = progress;
  if (hostAwayAt !== null) return `${host} has not answered for ${span(now, hostAwayAt)}.`;
  if (queue.state === 'PAUSED' && queue.stateReason !== null) return queue.stateReason;
  if (depth === 0) return null;
  if (queue.state === 'PAUSED') return `It is paused while ${waiting(depth)}.`;
  return overdueTest(progress, now) ?? stuckLine(progress, now);
}

function overdueTest({ longestTest, usualTestMs }: Progress, now: Date): string | null {
  if (longestTest === null) return null;
  const allowedMs = usualTestMs === null ? unknownTestMs : Math.max(shortTestMs, overdueFactor * usualTestMs);
  if (now.getTime() - longestTest.since.getTime() <= allowedMs) return null;
  const usual = usualTestMs === null ? '' : `, where ${spanOf(usualTestMs)} is usual`;
  return `#${longestTest.number} has been under test for ${span(now, longestTest.since)}${usual}.`;
}

function stuckLine({ longestTest, movedAt, depth, queue }: Progress, now: Date): string | null {
  if (longestTest !== null || movedAt === null) return null;
  const { batch, batchingMaxWaitTimeMinutes } = queue.settings;
  const allowedMs = stuckMs + (batch ? batchingMaxWaitTimeMinutes * minuteMs : 0);
  if (now.getTime() - movedAt.getTime() <= allowedMs) return null;
  return `Nothing has moved for ${span(now, movedAt)} while ${waiting(depth)}.`;
}

const waiting = (depth: number): string =>
  depth === 1 ? '1 pull request waits' : `${depth} pull requests wait`;

const span = (now: Date, since: Date): string => spanOf(now.getTime() - since.getTime());

/** `40 min`, `3 h`, `2 d`: how long roughly. */
function spanOf(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / minuteMs));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

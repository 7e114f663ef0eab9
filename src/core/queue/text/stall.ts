// Whether a queue makes no progress though pull requests wait, in one sentence. The first reason that holds
// is reported: a host that does not answer explains a run that does not end, and a queue that was stopped
// needs no other explanation.
//
// A run counts as overdue after three times the usual time, and a queue as stuck when nothing began, ended or
// moved for a quarter of an hour beyond what a batch may wait to fill: shorter spans occur in every healthy
// queue.

import { minuteMs } from '#base/duration.ts';
import type { Queue } from '../model.ts';

/** What is known of a queue's progress. */
export type Progress = {
  readonly queue: Pick<Queue, 'state' | 'stateReason' | 'settings'>;
  readonly host: string;
  /** Since when the host does not answer. */
  readonly hostAwayAt: Date | null;
  /** Pull requests waiting or under test. */
  readonly depth: number;
  /** The pull request that has been under test for longest. */
  readonly longestTest: { readonly number: number; readonly since: Date } | null;
  /** When any entry of the queue last changed its state. */
  readonly movedAt: Date | null;
  /** Median time under test of what merged within a day, in milliseconds. */
  readonly usualTestMs: number | null;
};

/** Used if there is no run to compare with. */
const unknownTestMs = 2 * 60 * minuteMs;
const shortTestMs = 10 * minuteMs;
const overdueFactor = 3;
const stuckMs = 15 * minuteMs;

/** Null: the queue makes progress, or no pull request waits. */
export function explainStall(progress: Progress, now: Date): string | null {
  const { queue, host, hostAwayAt, depth } = progress;
  if (hostAwayAt !== null) return `${host} has not answered for ${span(now, hostAwayAt)}.`;
  if (queue.state === 'PAUSED' && queue.stateReason !== null) return queue.stateReason;
  if (depth === 0) return null;
  if (queue.state === 'PAUSED') return `The queue is paused while ${waiting(depth)}.`;
  return overdueTest(progress, now) ?? stuckQueue(progress, now);
}

/** A Git host that is unreachable for a shorter time is not reported as a standstill. */
const unreachableMs = 5 * minuteMs;

/** Why pull requests wait in vain in a queue that no one stopped, once that lasts; null: they do not. */
export function explainStandstill(progress: Progress, now: Date): string | null {
  const { queue, hostAwayAt, depth } = progress;
  if (depth === 0 || queue.state === 'PAUSED') return null;
  if (hostAwayAt !== null && now.getTime() - hostAwayAt.getTime() < unreachableMs) return null;
  return explainStall(progress, now);
}

function overdueTest({ longestTest, usualTestMs }: Progress, now: Date): string | null {
  if (longestTest === null) return null;
  const allowedMs = usualTestMs === null ? unknownTestMs : Math.max(shortTestMs, overdueFactor * usualTestMs);
  if (now.getTime() - longestTest.since.getTime() <= allowedMs) return null;
  const usual = usualTestMs === null ? '' : `; the usual time is ${formatRoughDuration(usualTestMs)}`;
  return `#${longestTest.number} has been under test for ${span(now, longestTest.since)}${usual}.`;
}

function stuckQueue({ longestTest, movedAt, depth, queue }: Progress, now: Date): string | null {
  if (longestTest !== null || movedAt === null) return null;
  const { batch, batchingMaxWaitTimeMinutes } = queue.settings;
  const allowedMs = stuckMs + (batch ? batchingMaxWaitTimeMinutes * minuteMs : 0);
  if (now.getTime() - movedAt.getTime() <= allowedMs) return null;
  return `No pull request has moved for ${span(now, movedAt)} while ${waiting(depth)}.`;
}

const waiting = (depth: number): string =>
  depth === 1 ? '1 pull request waits' : `${depth} pull requests wait`;

const span = (now: Date, since: Date): string => formatRoughDuration(now.getTime() - since.getTime());

/** `40 min`, `3 h`, `2 d`: how long roughly. */
export function formatRoughDuration(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / minuteMs));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

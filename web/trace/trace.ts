// The trace of an attempt: its phases and its test runs beneath each other on one time axis, drawn to scale. Segments follow
// each other without a gap, so the times of the rows add up to the whole.

import { describeCause, segmentLabel, segmentTone, type TimeRow } from '#contract/text/time-rows.ts';
import type { TimeSpent } from '#contract/time-spent.ts';

export type TracedAttempt = Pick<
  TimeSpent,
  'trip' | 'submittedAt' | 'concludedAt' | 'totalMs' | 'inQueueMs' | 'segments'
>;
type Segment = TracedAttempt['segments'][number];

/** In milliseconds since 1970. */
type TraceBar = { readonly from: number; readonly to: number };

export type TraceRow = Pick<TimeRow, 'text' | 'culprit' | 'cause' | 'tone'> & {
  readonly key: string;
  /** The run that the row shows; null: it shows a phase. */
  readonly testRunId: string | null;
  readonly bars: readonly TraceBar[];
  readonly ms: number;
  /** It reaches to now. */
  readonly isOpen: boolean;
};

/** An attempt that has not ended lasts until now, also if that is after the answer of the server. */
export function extendToNow(attempt: TracedAttempt, nowMs: number): TracedAttempt {
  const last = attempt.segments.at(-1);
  if (attempt.concludedAt !== null || last === undefined) return attempt;
  const moreMs = Math.max(0, nowMs - Date.parse(last.to));
  return {
    ...attempt,
    totalMs: attempt.totalMs + moreMs,
    segments: [
      ...attempt.segments.slice(0, -1),
      { ...last, to: new Date(Date.parse(last.to) + moreMs).toISOString(), ms: last.ms + moreMs },
    ],
  };
}

/**
 * A run is one row, and so is a phase with one cause, in the order in which each began. Of several rows with one cause
 * after each other only the first names it.
 */
export function traceRows({ segments, concludedAt }: TracedAttempt): readonly TraceRow[] {
  const last = concludedAt === null ? segments.at(-1) : undefined;
  const groups = [...Map.groupBy(segments, rowKey)];
  return groups.map(([key, own], index) => {
    const first = own[0]!;
    const cause = describeCause(first);
    const before = groups[index - 1]?.[1][0];
    return {
      key,
      testRunId: runOf(first),
      text: segmentLabel(first),
      ...(before !== undefined && isSameCause(cause, describeCause(before)) ? noCause : cause),
      tone: segmentTone(first),
      bars: own.map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) })),
      ms: own.reduce((sum, { ms }) => sum + ms, 0),
      isOpen: last !== undefined && own.includes(last),
    };
  });
}

type Cause = Pick<TimeRow, 'culprit' | 'cause'>;
const noCause: Cause = { culprit: null, cause: '' };
const isSameCause = (a: Cause, b: Cause): boolean => a.culprit === b.culprit && a.cause === b.cause;

const runOf = ({ kind, testRunId }: Segment): string | null =>
  kind === 'testing' ? (testRunId ?? null) : null;

function rowKey(segment: Segment): string {
  const { culprit, cause } = describeCause(segment);
  return runOf(segment) ?? `${segmentLabel(segment)} ${culprit} ${cause}`;
}

/** The runs of an attempt, latest first. */
export const listRunIds = ({ segments }: TracedAttempt): readonly string[] =>
  [...new Set(segments.flatMap((segment) => runOf(segment) ?? []))].toReversed();

export type TraceAxis = TraceBar & {
  /** `at` is the place on the axis, from 0 to 1. */
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  /** The label of the end of what is over. */
  readonly end: string;
};

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 30].map((count) => count * day),
];
const ticksMax = 5;
/** The share of the narrowest axis that a character takes. */
const characterShare = 0.025;

/** Ticks are at whole times of the clock; `offsetMs` is what the local clock is behind UTC. */
export function traceAxis({ segments }: TracedAttempt, offsetMs: number): TraceAxis {
  const from = Date.parse(segments[0]?.from ?? '');
  const to = Date.parse(segments.at(-1)?.to ?? '');
  const step = steps.find((each) => (to - from) / each <= ticksMax) ?? (to - from) / ticksMax;
  const ticks = [];
  const rangeMs = to - from;
  for (let at = Math.ceil((from - offsetMs) / step) * step + offsetMs; at < to; at += step) {
    const place = (at - from) / rangeMs;
    const label = formatTick(at - offsetMs, step, rangeMs);
    // The label of the end of the axis is as long.
    if (place <= 1 - 2 * label.length * characterShare) ticks.push({ at: place, label });
  }
  return { from, to, ticks, end: Number.isNaN(to) ? '' : formatTick(to - offsetMs, step, rangeMs) };
}

function formatTick(localMs: number, step: number, rangeMs: number): string {
  const [date = '', time = ''] = new Date(localMs).toISOString().split('T');
  if (step < minute) return time.slice(0, 8);
  if (rangeMs < day) return time.slice(0, 5);
  const [, month = '', dayOfMonth = ''] = date.split('-');
  const dayName = `${Number(dayOfMonth)} ${months[Number(month) - 1]}`;
  return step < day ? `${dayName} ${time.slice(0, 5)}` : dayName;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

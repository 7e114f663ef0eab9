import { expect, it } from 'vitest';
import { extendToNow, listRunIds, traceAxis, type TracedAttempt, traceRows } from './trace.ts';

type Segment = TracedAttempt['segments'][number];

const startMs = Date.parse('2026-01-05T10:03:20.000Z');
const minuteMs = 60_000;

/** Segments that follow each other, each so many minutes long. */
function attemptOf(
  parts: readonly (Partial<Segment> & { readonly kind: Segment['kind']; readonly minutes: number })[],
  isOpen = false,
): TracedAttempt {
  let atMs = startMs;
  const segments = parts.map(({ minutes, ...part }) => {
    const from = new Date(atMs).toISOString();
    atMs += minutes * minuteMs;
    const to = new Date(atMs).toISOString();
    return { because: null, isPaused: false, ...part, from, to, ms: minutes * minuteMs };
  });
  const end = new Date(atMs).toISOString();
  return {
    trip: 1,
    submittedAt: new Date(startMs).toISOString(),
    concludedAt: isOpen ? null : end,
    totalMs: atMs - startMs,
    inQueueMs: atMs - startMs,
    segments,
  };
}

const because = { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', actor: 'queue', prNumber: 12 } as const;
const restarted = [
  { kind: 'waiting', minutes: 2 },
  { kind: 'testing', minutes: 10, testRunId: 'one' },
  { kind: 'waiting', minutes: 1, because },
  { kind: 'testing', minutes: 12, testRunId: 'two', because },
  { kind: 'passed', minutes: 1 },
] as const;

it('has a row for each run and for each phase with its cause, and the rows add up; a cause is named once', () => {
  const attempt = attemptOf(restarted);
  const rows = traceRows(attempt);
  expect(
    rows.map(({ text, testRunId, culprit, cause, ms }) => [text, testRunId, culprit, cause, ms]),
  ).toEqual([
    ['Queued', null, null, '', 2 * minuteMs],
    ['Tested', 'one', null, '', 10 * minuteMs],
    ['Queued again', null, 12, 'ahead of it failed', minuteMs],
    ['Tested again', 'two', null, '', 12 * minuteMs],
    ['Passed, waiting to merge', null, null, '', minuteMs],
  ]);
  expect(rows.reduce((sum, { ms }) => sum + ms, 0)).toBe(attempt.totalMs);
});

it('shows a phase that comes twice as two bars of one row', () => {
  const rows = traceRows(
    attemptOf([
      { kind: 'in_doubt', minutes: 1 },
      { kind: 'testing', minutes: 2, testRunId: 'one' },
      { kind: 'in_doubt', minutes: 3 },
    ]),
  );
  expect(rows.map(({ text, bars }) => [text, bars.length])).toEqual([
    ['Pending failure', 2],
    ['Tested', 1],
  ]);
});

it('lists the runs of an attempt, latest first', () => {
  expect(listRunIds(attemptOf(restarted))).toEqual(['two', 'one']);
});

it('extends what has not ended to now, and nothing else', () => {
  const open = attemptOf(restarted, true);
  const laterMs = startMs + 30 * minuteMs;
  const extended = extendToNow(open, laterMs);
  expect(extended.totalMs).toBe(30 * minuteMs);
  expect(traceRows(extended).map(({ isOpen }) => isOpen)).toEqual([false, false, false, false, true]);
  expect(traceRows(extended).at(-1)?.bars.at(-1)?.to).toBe(laterMs);
  expect(extendToNow(open, startMs).totalMs).toBe(open.totalMs);
  const ended = attemptOf(restarted);
  expect(extendToNow(ended, laterMs)).toBe(ended);
  expect(traceRows(ended).some(({ isOpen }) => isOpen)).toBe(false);
});

const labels = (minutes: number, offsetMinutes = 0) =>
  traceAxis(attemptOf([{ kind: 'waiting', minutes }]), offsetMinutes * minuteMs).ticks.map(
    ({ label }) => label,
  );

it('has ticks at whole times of the local clock, with room for the end of the axis', () => {
  expect(labels(26)).toEqual(['10:10', '10:20']);
  expect(labels(4)).toEqual(['10:04', '10:05', '10:06']);
  expect(labels(0.3)).toEqual(['10:03:20', '10:03:25', '10:03:30']);
  expect(labels(26, -60)).toEqual(['11:10', '11:20']);
  expect(labels(3 * 24 * 60)).toEqual(['6 Jan', '7 Jan']);
  expect(labels(40 * 60)).toEqual(['5 Jan 12:00', '6 Jan 00:00']);
});

it('places ticks to scale', () => {
  const { from, to, ticks, end } = traceAxis(attemptOf([{ kind: 'waiting', minutes: 20 }]), 0);
  expect(to - from).toBe(20 * minuteMs);
  // 10:05 is 100 seconds after 10:03:20.
  expect(ticks[0]).toEqual({ at: 100 / 1_200, label: '10:05' });
  expect(end).toBe('10:23');
});

it('has no ticks before anything took time', () => {
  expect(traceAxis(attemptOf([]), 0).ticks).toEqual([]);
});

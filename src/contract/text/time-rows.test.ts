import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TimeSpent } from '../time-spent.ts';
import { exactSpan, timeRows, wholeSeconds } from './time-rows.ts';

type Segment = TimeSpent['segments'][number];
const nothing = { from: '', to: '', isPaused: false, because: null };

const createAttempt = (segments: readonly Segment[]): TimeSpent => ({
  trip: 1,
  submittedAt: '',
  concludedAt: null,
  totalMs: segments.reduce((sum, { ms }) => sum + ms, 0),
  waitMs: 0,
  testMs: 0,
  inQueueMs: 0,
  segments: [...segments],
});

it('puts time of one kind with one cause into one row, and names the pull request that caused it', () => {
  const because = { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', actor: 'queue', prNumber: 12 } as const;
  const rows = timeRows(
    createAttempt([
      { ...nothing, kind: 'waiting', ms: 60_000 },
      { ...nothing, kind: 'testing', ms: 600_000 },
      { ...nothing, kind: 'testing', ms: 840_000, because },
      { ...nothing, kind: 'waiting', ms: 30_000 },
      { ...nothing, kind: 'waiting', ms: 5_000, isPaused: true },
      { ...nothing, kind: 'testing', ms: 1_000, because: { ...because, reason: null, prNumber: null } },
    ]),
  );
  expect(rows.map(({ text, culprit, cause, seconds }) => [text, culprit, cause, seconds])).toEqual([
    ['Queued', null, '', 90],
    ['Tested', null, '', 600],
    ['Tested again', 12, 'ahead of it failed', 840],
    ['Queued, the queue was paused', null, '', 5],
    ['Tested again', null, 'its run restarted', 1],
  ]);
});

it('adds up as it is shown, whatever the parts', () => {
  const someSegment = fc.record({
    kind: fc.constantFrom<Segment['kind']>(
      'not_ready',
      'waiting',
      'testing',
      'in_doubt',
      'passed',
      'landing',
    ),
    ms: fc.nat({ max: 200_000_000 }),
    isPaused: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(someSegment, { maxLength: 20 }), (parts) => {
      const attempt = createAttempt(parts.map((part) => ({ ...nothing, ...part })));
      const rows = timeRows(attempt);
      expect(rows.every(({ seconds }) => seconds >= 0)).toBe(true);
      expect(rows.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(wholeSeconds(attempt.totalMs));
    }),
  );
});

it.each([
  [0, '0 s'],
  [59, '59 s'],
  [3_600, '1 h'],
  [3_725, '1 h 2 min 5 s'],
  [90_061, '1 d 1 h 1 min 1 s'],
])('formats %i seconds exactly', (seconds, text) => {
  expect(exactSpan(seconds)).toBe(text);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TimeSpent } from '#contract/time-spent.ts';
import { exactSpan, timeRows, wholeSeconds } from './time-rows.ts';

type Segment = TimeSpent['segments'][number];
const nothing = { from: '', to: '', isPaused: false, because: null };

const tripOf = (segments: readonly Segment[]): TimeSpent => ({
  trip: 1,
  submittedAt: '',
  concludedAt: null,
  totalMs: segments.reduce((sum, { ms }) => sum + ms, 0),
  waitMs: 0,
  testMs: 0,
  inQueueMs: 0,
  segments: [...segments],
});

it('puts what is of one kind for one cause into one row, and names who caused it', () => {
  const because = { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', actor: 'queue', prNumber: 12 } as const;
  const rows = timeRows(
    tripOf([
      { ...nothing, kind: 'waiting', ms: 60_000 },
      { ...nothing, kind: 'testing', ms: 600_000 },
      { ...nothing, kind: 'testing', ms: 840_000, because },
      { ...nothing, kind: 'waiting', ms: 30_000 },
      { ...nothing, kind: 'waiting', ms: 5_000, isPaused: true },
      { ...nothing, kind: 'testing', ms: 1_000, because: { ...because, reason: null, prNumber: null } },
    ]),
  );
  expect(rows.map(({ words, culprit, cause, seconds }) => [words, culprit, cause, seconds])).toEqual([
    ['In line', null, '', 90],
    ['Tested', null, '', 600],
    ['Tested again', 12, 'ahead of it failed', 840],
    ['In line, the queue was paused', null, '', 5],
    ['Tested again', null, 'its run was begun anew', 1],
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
      const trip = tripOf(parts.map((part) => ({ ...nothing, ...part })));
      const rows = timeRows(trip);
      expect(rows.every(({ seconds }) => seconds >= 0)).toBe(true);
      expect(rows.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(wholeSeconds(trip.totalMs));
    }),
  );
});

it.each([
  [0, '0 s'],
  [59, '59 s'],
  [3_600, '1 h'],
  [3_725, '1 h 2 min 5 s'],
  [90_061, '1 d 1 h 1 min 1 s'],
])('tells %i seconds exactly', (seconds, words) => {
  expect(exactSpan(seconds)).toBe(words);
});

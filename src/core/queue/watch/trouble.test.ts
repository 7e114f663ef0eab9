import { expect, it } from 'vitest';
import { defaultSettings } from '../settings.ts';
import { type OpenTrouble, type TroubleKind, type ObservedQueue, watchTroubles } from './trouble.ts';

const now = new Date('2026-03-01T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const running = { state: 'RUNNING', stateReason: null, settings: defaultSettings } as const;
const paused = { ...running, state: 'PAUSED' } as const;

const watched = (over: Partial<ObservedQueue> = {}): ObservedQueue => ({
  queue: running,
  host: 'git.example',
  hostAwayAt: null,
  depth: 3,
  longestTest: { number: 7, since: minutesAgo(5) },
  movedAt: minutesAgo(5),
  usualTestMs: 15 * 60_000,
  recentInQueueMs: null,
  usualInQueueMs: null,
  ...over,
});

const stuck = { longestTest: null, movedAt: minutesAgo(20) };
const took = (recent: number, usual: number) => ({
  recentInQueueMs: recent * 60_000,
  usualInQueueMs: usual * 60_000,
});
const open = (kind: TroubleKind, clearMinutes: number | null = null): OpenTrouble => ({
  kind,
  clearSince: clearMinutes === null ? null : minutesAgo(clearMinutes),
});

it.each([
  ['a queue that moves', watched()],
  [
    'an empty queue whose Git host is unreachable',
    watched({ depth: 0, ...stuck, hostAwayAt: minutesAgo(60) }),
  ],
  ['a Git host that is unreachable for a moment', watched({ ...stuck, hostAwayAt: minutesAgo(4) })],
  ['a queue that someone paused', watched({ queue: paused, ...stuck, ...took(90, 30) })],
  ['one that Signalbox stopped', watched({ queue: { ...paused, stateReason: 'Why.' }, ...stuck })],
  ['one that takes twice as long', watched(took(60, 30))],
  ['one that takes ten minutes longer', watched(took(12, 2))],
  ['one of which nothing usual is known', watched({ recentInQueueMs: 9e6 })],
  ['one in which little merges', watched({ usualInQueueMs: 60_000 })],
])('nothing is reported of %s', (_what, given) => {
  expect(watchTroubles(given, [], now)).toEqual([]);
});

it.each([
  ['stalled', watched(stuck), 'No pull request has moved for 20 min while 3 pull requests wait.'],
  ['stalled', watched({ hostAwayAt: minutesAgo(5), depth: 1 }), 'git.example has not answered for 5 min.'],
  [
    'slow',
    watched(took(61, 30)),
    'Half of the last pull requests took longer than 61 min to merge; the usual time is 30 min.',
  ],
] as const)('a queue that is %s is reported once', (trouble, given, reason) => {
  expect(watchTroubles(given, [], now)).toEqual([{ kind: 'begin', trouble, reason }]);
  expect(watchTroubles(given, [open(trouble)], now)).toEqual([]);
});

it('a trouble is over when nothing of it was seen for five minutes', () => {
  const after = (clear: number | null, given = watched()) =>
    watchTroubles(given, [open('stalled', clear)], now);
  expect(after(null)).toEqual([{ kind: 'mark', trouble: 'stalled', isClear: true }]);
  expect(after(4)).toEqual([]);
  expect(after(5)).toEqual([{ kind: 'end', trouble: 'stalled', isReported: true }]);
  expect(after(4, watched(stuck))).toEqual([{ kind: 'mark', trouble: 'stalled', isClear: false }]);
});

it('a slow queue is slow until it is down to one and a half times the usual time', () => {
  expect(watchTroubles(watched(took(46, 30)), [open('slow')], now)).toEqual([]);
  expect(watchTroubles(watched(took(45, 30)), [open('slow')], now)).toEqual([
    { kind: 'mark', trouble: 'slow', isClear: true },
  ]);
});

it('troubles end without a message when someone stops the queue', () => {
  const given = watched({ queue: paused, ...stuck, ...took(90, 30) });
  expect(watchTroubles(given, [open('stalled'), open('slow', 1)], now)).toEqual([
    { kind: 'end', trouble: 'stalled', isReported: false },
    { kind: 'end', trouble: 'slow', isReported: false },
  ]);
});

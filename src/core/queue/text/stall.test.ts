import { expect, it } from 'vitest';
import { defaultSettings } from '../settings.ts';
import { type Progress, explainStall } from './stall.ts';

const now = new Date('2026-03-01T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

const progress = (over: Partial<Progress> = {}): Progress => ({
  queue: { state: 'RUNNING', stateReason: null, settings: defaultSettings },
  host: 'git.example',
  hostAwayAt: null,
  depth: 3,
  longestTest: { number: 7, since: minutesAgo(20) },
  movedAt: minutesAgo(1),
  usualTestMs: 15 * 60_000,
  ...over,
});

const paused = { state: 'PAUSED', stateReason: null, settings: defaultSettings } as const;
const idle = { longestTest: null } as const;

it.each([
  ['tests that take about as long as usual', progress()],
  ['an empty queue that is paused', progress({ queue: paused, depth: 0, ...idle, movedAt: null })],
  ['an empty queue that nothing happened in for long', progress({ depth: 0, ...idle, movedAt: null })],
  ['a line that moved a moment ago', progress({ ...idle, movedAt: minutesAgo(14) })],
  [
    'a short run that takes ten minutes for once',
    progress({ usualTestMs: 1_000, longestTest: { number: 7, since: minutesAgo(10) } }),
  ],
  [
    'a batch that may wait to fill',
    progress({
      ...idle,
      movedAt: minutesAgo(60),
      queue: {
        ...paused,
        state: 'RUNNING',
        settings: { ...defaultSettings, batch: true, batchingMaxWaitTimeMinutes: 60 },
      },
    }),
  ],
])('%s is no stall', (_what, given) => {
  expect(explainStall(given, now)).toBeNull();
});

it.each([
  [
    'a host that is unreachable',
    progress({ hostAwayAt: minutesAgo(5) }),
    'git.example has not answered for 5 min.',
  ],
  [
    'a queue that was stopped by Signalbox, even an empty one',
    progress({ queue: { ...paused, stateReason: 'The branch is gone.' }, depth: 0 }),
    'The branch is gone.',
  ],
  [
    'a pause while pull requests wait',
    progress({ queue: paused }),
    'The queue is paused while 3 pull requests wait.',
  ],
  [
    'a test that takes much longer than usual',
    progress({ longestTest: { number: 7, since: minutesAgo(46) } }),
    '#7 has been under test for 46 min; the usual time is 15 min.',
  ],
  [
    'a test that takes very long where nothing is known',
    progress({ usualTestMs: null, longestTest: { number: 7, since: minutesAgo(180) } }),
    '#7 has been under test for 3 h.',
  ],
  [
    'a line in which nothing begins',
    progress({ ...idle, depth: 1, movedAt: minutesAgo(3 * 24 * 60) }),
    'No pull request has moved for 3 d while 1 pull request waits.',
  ],
  [
    'a draining queue that is stuck',
    progress({ ...idle, movedAt: minutesAgo(40), queue: { ...paused, state: 'DRAINING' } }),
    'No pull request has moved for 40 min while 3 pull requests wait.',
  ],
])('%s is reported', (_what, given, sentence) => {
  expect(explainStall(given, now)).toBe(sentence);
});

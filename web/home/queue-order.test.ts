import { expect, it } from 'vitest';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { failureRate, sortQueues } from './queue-order.ts';

type Listed = ResponseOf<'listQueues'>['queues'][number];

const queue = (targetBranch: string, over: Partial<Listed>): Listed => ({
  repo: { host: 'git.example', owner: 'acme', name: 'widgets' },
  targetBranch,
  state: 'RUNNING',
  stateReason: null,
  mode: 'single',
  depth: 0,
  testing: 0,
  notReady: 0,
  oldestEntryAt: null,
  mergedLast24h: 0,
  failedLast24h: 0,
  timeInQueueP50Seconds: null,
  isHostAway: false,
  usualTestSeconds: null,
  stall: null,
  ...over,
});

const list = [
  queue('a', { depth: 2, mergedLast24h: 4, timeInQueueP50Seconds: 60 }),
  queue('b', { depth: 2, stall: 'The queue is paused while 2 pull requests wait.' }),
  queue('c', { depth: 9, mergedLast24h: 1, failedLast24h: 3, timeInQueueP50Seconds: 30 }),
];
const branches = (sort: Parameters<typeof sortQueues>[1]) =>
  sortQueues(list, sort)
    .map(({ targetBranch }) => targetBranch)
    .join('');

it('sorts queues by the chosen value, keeps the order of equal ones, and puts those without a value last', () => {
  expect(branches('name')).toBe('abc');
  expect(branches('stalled')).toBe('bac');
  expect(branches('depth')).toBe('cab');
  expect(branches('wait')).toBe('acb');
  expect(branches('failing')).toBe('cab');
});

it('the failure rate counts merged and failed pull requests only', () => {
  expect(list.map(failureRate)).toEqual([0, null, 0.75]);
});

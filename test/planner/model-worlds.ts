// The small worlds of the model check: every combination of what a queue can be set to that behaves in its own way.
// From small to large, so that what a small one leaves of the time goes to the large ones.
import { noTargets, type Targets } from '#core/queue/planner/lane.ts';
import type { Configuration } from './model-check.ts';

const on = (...targets: number[]): { readonly targets: Targets } => ({ targets: Uint32Array.from(targets) });
const alike = (count: number) => Array.from({ length: count }, () => on(1));
const batch = { batch: true, batchingMaxWaitTimeMinutes: 5 };

const outage = { only: ['run-infrastructure-failed', 'ended'] as const, disturbances: 6 };

export const worlds: readonly Configuration[] = [
  { name: 'an outage, one at a time', settings: { concurrency: 1 }, entries: alike(2), ...outage },
  { name: 'an outage, a train of two', settings: { concurrency: 2 }, entries: alike(2), ...outage },
  {
    name: 'an outage, batches of two',
    settings: { ...batch, batchingMinSize: 2, concurrency: 2, bisectionConcurrency: 1 },
    entries: alike(2),
    ...outage,
  },
  {
    name: 'an outage, two lanes',
    settings: { mode: 'parallel', concurrency: 2 },
    entries: [on(1), on(2)],
    ...outage,
  },
  { name: 'one at a time', settings: { concurrency: 1 }, entries: alike(3), disturbances: 3 },
  {
    name: 'with an end to its patience',
    settings: { concurrency: 2, notReadyTimeoutHours: 1 },
    entries: [{ ...on(1), ready: false }, on(1), on(1)],
    disturbances: 3,
  },
  {
    name: 'batches of three, with known results',
    settings: {
      ...batch,
      batchingMinSize: 3,
      concurrency: 2,
      bisectionConcurrency: 1,
      optimizationMode: 'bisection_skip_redundant_tests',
    },
    entries: alike(4),
    disturbances: 2,
  },
  { name: 'a train of four', settings: { concurrency: 3 }, entries: alike(4), disturbances: 2 },
  {
    name: 'optimistic',
    settings: { concurrency: 3, canOptimisticallyMerge: true },
    entries: alike(4),
    disturbances: 2,
  },
  {
    name: 'a train, with a depth of 2',
    settings: { concurrency: 3, pendingFailureDepth: 2 },
    entries: alike(4),
    disturbances: 2,
  },
  {
    name: 'a train, with a depth of 1',
    settings: { concurrency: 2, pendingFailureDepth: 1 },
    entries: alike(3),
    disturbances: 3,
  },
  {
    name: 'batches, and one that is alone',
    settings: { ...batch, batchingMinSize: 2, concurrency: 2, bisectionConcurrency: 1 },
    entries: [on(1), on(1), { ...on(1), noBatch: true }, on(1)],
    disturbances: 2,
  },
  {
    name: 'optimistic, with a depth of 2',
    settings: { concurrency: 3, canOptimisticallyMerge: true, pendingFailureDepth: 2 },
    entries: alike(4),
    disturbances: 2,
  },
  {
    name: 'batches of three, searched by two',
    settings: { ...batch, batchingMinSize: 3, concurrency: 2, bisectionConcurrency: 2 },
    entries: alike(3),
    disturbances: 3,
  },
  {
    name: 'optimistic, with a depth of 1',
    settings: { concurrency: 2, canOptimisticallyMerge: true, pendingFailureDepth: 1 },
    entries: alike(3),
    disturbances: 3,
  },
  { name: 'a train of two', settings: { concurrency: 2 }, entries: alike(3), disturbances: 3 },
  {
    name: 'optimistic batches',
    settings: {
      ...batch,
      batchingMinSize: 2,
      concurrency: 2,
      canOptimisticallyMerge: true,
      pendingFailureDepth: 1,
    },
    entries: alike(4),
    disturbances: 2,
  },
  {
    name: 'batches of two',
    settings: { ...batch, batchingMinSize: 2, concurrency: 2, bisectionConcurrency: 1 },
    entries: alike(4),
    disturbances: 2,
  },
  {
    name: 'optimistic batches in lanes, and one that is alone',
    settings: {
      mode: 'parallel',
      ...batch,
      batchingMinSize: 2,
      concurrency: 2,
      canOptimisticallyMerge: true,
      pendingFailureDepth: 1,
      optimizationMode: 'bisection_skip_redundant_tests',
    },
    entries: [on(1), on(2), on(1), { ...on(2), noBatch: true }],
    disturbances: 2,
  },
  {
    name: 'batches of two, with a depth of 1',
    settings: { ...batch, batchingMinSize: 2, concurrency: 2, pendingFailureDepth: 1 },
    entries: alike(4),
    disturbances: 2,
  },
  {
    name: 'two lanes',
    settings: { mode: 'parallel', concurrency: 2 },
    entries: [on(1), on(2), on(1)],
    disturbances: 3,
  },
  {
    name: 'direct merge',
    settings: { mode: 'parallel', concurrency: 2, directMergeMode: 'always' },
    entries: [on(1), on(2), on(1)],
    disturbances: 3,
  },
  {
    name: 'batches in lanes',
    settings: { mode: 'parallel', ...batch, batchingMinSize: 2, concurrency: 2, bisectionConcurrency: 1 },
    entries: [on(1), on(2), on(1), on(2)],
    disturbances: 2,
  },
  {
    name: 'a chain of lanes',
    settings: { mode: 'parallel', concurrency: 3, canOptimisticallyMerge: true },
    entries: [on(1), on(1, 2), on(2)],
    disturbances: 3,
  },
  {
    name: 'lanes, with a depth of 2',
    settings: { mode: 'parallel', concurrency: 3, pendingFailureDepth: 2 },
    entries: [on(1), on(2), on(1, 2), on(1)],
    disturbances: 2,
  },
  {
    name: 'lanes, everything and nothing',
    settings: { mode: 'parallel', concurrency: 3 },
    entries: [on(1), on(2), { targets: 'ALL' }, { targets: noTargets }],
    disturbances: 2,
  },
];

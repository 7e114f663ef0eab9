// The small worlds of the model check: every combination of what a queue can be set to that behaves in its own way.
// From small to large, so that what a small one leaves of the time goes to the large ones.
import { noTargets, type Targets } from '#core/queue/planner/lane.ts';
import { screenThenChain } from '#core/queue/planner/strategy/screen-then-chain.ts';
import type { Configuration } from './model-check.ts';
import { betOnEverything } from './betting.ts';
import { screenByTwos } from './screening.ts';

const on = (...targets: number[]): { readonly targets: Targets } => ({ targets: Uint32Array.from(targets) });
const alike = (count: number) => Array.from({ length: count }, () => on(1));
const batch = { batch: true, batchingMaxWaitTimeMinutes: 5 };

const screening = { strategy: screenByTwos, settings: { concurrency: 2 } };

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
  { name: 'screens of two, in an outage', ...screening, entries: alike(2), ...outage, disturbances: 3 },
  {
    name: 'failed jobs that run again',
    settings: { concurrency: 2, flakeReruns: 2 },
    entries: alike(2),
    canRerun: true,
    only: [
      'run-failed-by-flakes',
      'rerun-refused',
      'run-infrastructure-failed',
      'run-started',
      'ended',
      'state',
      'host-away',
      'host-back',
    ],
    disturbances: 4,
  },
  {
    name: 'failed jobs that run again, screens of two',
    ...screening,
    entries: alike(2),
    canRerun: true,
    only: ['run-failed-by-flakes', 'rerun-refused', 'run-infrastructure-failed', 'ended', 'branch-moved'],
    disturbances: 3,
  },
  { name: 'screens of two', ...screening, entries: alike(3), disturbances: 2 },
  {
    name: 'screens, then a group of three that is screened again',
    strategy: screenByTwos,
    settings: { concurrency: 3 },
    entries: alike(3),
    disturbances: 2,
  },
  {
    name: 'screens of two, whose tests are named',
    ...screening,
    tests: ['a', 'b'],
    entries: alike(2),
    only: ['run-infrastructure-failed', 'ended', 'branch-moved'],
    disturbances: 1,
  },
  {
    name: 'a group of three, whose tests are named',
    isLarge: true,
    strategy: screenThenChain,
    settings: { concurrency: 2 },
    tests: ['a'],
    entries: alike(3),
    only: ['run-infrastructure-failed', 'ended', 'branch-moved'],
    disturbances: 1,
  },
  {
    name: 'direct lanes, whose tests are named',
    settings: { strategy: 'adaptive', mode: 'parallel', concurrency: 2 },
    tests: ['a'],
    entries: [on(1), on(1)],
    only: ['run-infrastructure-failed', 'ended'],
    disturbances: 1,
  },
  {
    name: 'screens in lanes, and one that is alone',
    strategy: screenByTwos,
    settings: { mode: 'parallel', concurrency: 2 },
    entries: [on(1), on(2), { ...on(1), noBatch: true }],
    disturbances: 2,
  },
  {
    name: 'screen, then chain',
    strategy: screenThenChain,
    settings: { concurrency: 3, canOptimisticallyMerge: true },
    entries: alike(3),
    disturbances: 2,
  },
  {
    name: 'direct lanes, two that share',
    settings: { strategy: 'adaptive', mode: 'parallel', concurrency: 2 },
    entries: [on(1), on(1)],
    disturbances: 1,
  },
  {
    name: 'direct lanes, a chain of three',
    settings: { strategy: 'adaptive', mode: 'parallel', concurrency: 2 },
    entries: [on(1), on(1, 2), on(2)],
    only: ['run-infrastructure-failed', 'ended'],
    disturbances: 1,
  },
  {
    name: 'direct lanes, every path of a chain',
    strategy: betOnEverything,
    ignoresFindings: true,
    settings: { mode: 'parallel', concurrency: 3 },
    entries: [on(1), on(1, 2), on(2)],
    disturbances: 1,
  },
  {
    name: 'direct lanes, every path of three that share',
    strategy: betOnEverything,
    ignoresFindings: true,
    settings: { mode: 'parallel', concurrency: 2, canOptimisticallyMerge: true },
    entries: alike(3),
    disturbances: 1,
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

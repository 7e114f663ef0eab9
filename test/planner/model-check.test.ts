import { afterAll, expect, it } from 'vitest';
import { noTargets, type Targets } from '#core/queue/planner/lane.ts';
import { type Configuration, explore } from './model-check.ts';

/** What all configurations together may take; whatever is not finished by then says how far it came. */
const budgetMs = 165_000;

const on = (...list: number[]): Targets => Uint32Array.from(list);
const alike = (count: number): Targets[] => Array.from({ length: count }, () => on(1));
const batch = { batch: true, batchingMaxWaitTimeMinutes: 5 };

const configurations: readonly Configuration[] = [
  { name: 'one at a time', settings: { concurrency: 1 }, entries: alike(3), disturbances: 3 },
  { name: 'a train of two', settings: { concurrency: 2 }, entries: alike(3), disturbances: 3 },
  { name: 'a train of four', settings: { concurrency: 3 }, entries: alike(4), disturbances: 2 },
  {
    name: 'optimistic, with a depth of 1',
    settings: { concurrency: 2, canOptimisticallyMerge: true, pendingFailureDepth: 1 },
    entries: alike(3),
    disturbances: 3,
  },
  {
    name: 'optimistic, with a depth of 2',
    settings: { concurrency: 3, canOptimisticallyMerge: true, pendingFailureDepth: 2 },
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
    name: 'batches of three, searched by two',
    settings: { ...batch, batchingMinSize: 3, concurrency: 2, bisectionConcurrency: 2 },
    entries: alike(3),
    disturbances: 2,
  },
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
    name: 'two lanes',
    settings: { mode: 'parallel', concurrency: 2 },
    entries: [on(1), on(2), on(1)],
    disturbances: 3,
  },
  {
    name: 'a chain of lanes',
    settings: { mode: 'parallel', concurrency: 3, canOptimisticallyMerge: true },
    entries: [on(1), on(1, 2), on(2)],
    disturbances: 3,
  },
  {
    name: 'lanes, everything and nothing',
    settings: { mode: 'parallel', concurrency: 3 },
    entries: [on(1), on(2), 'ALL', noTargets],
    disturbances: 2,
  },
  {
    name: 'batches in lanes',
    settings: { mode: 'parallel', ...batch, batchingMinSize: 2, concurrency: 2, bisectionConcurrency: 1 },
    entries: [on(1), on(2), on(1), on(2)],
    disturbances: 2,
  },
  {
    name: 'direct merge',
    settings: { mode: 'parallel', concurrency: 2, directMergeMode: 'always' },
    entries: [on(1), on(2), on(1)],
    disturbances: 3,
  },
];

const total = { states: 0, transitions: 0 };
const startedAt = performance.now();

afterAll(() => {
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(`in total: ${total.states} states, ${total.transitions} transitions, ${seconds} s`);
});

it.each(configurations.map((configuration, index) => ({ ...configuration, index })))(
  'keeps its promises on every path: $name',
  { timeout: budgetMs * 2 },
  ({ index, ...configuration }) => {
    // What earlier configurations left over goes to the later ones.
    const left = budgetMs - (performance.now() - startedAt);
    const { states, transitions, level } = explore(configuration, left / (configurations.length - index));
    total.states += states;
    total.transitions += transitions;
    console.log(
      `${configuration.name}: ${states} states, ${transitions} transitions, ${level} of ${configuration.disturbances} disturbances`,
    );
    expect(level).toBeGreaterThanOrEqual(0);
  },
);

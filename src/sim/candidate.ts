// Settings that are worth trying on a queue: few enough to try all of them, and only what changes how fast and how
// cheaply it works.

import type { QueueSettings } from '#core/queue/settings.ts';

/** The settings that a simulation may change. */
const tunedSettings = [
  'concurrency',
  'batch',
  'batchingMinSize',
  'batchingMaxWaitTimeMinutes',
  'canOptimisticallyMerge',
  'pendingFailureDepth',
  'bisectionConcurrency',
  'optimizationMode',
] as const satisfies readonly (keyof QueueSettings)[];

type Tuning = Partial<Pick<QueueSettings, (typeof tunedSettings)[number]>>;

const batchSizes = [2, 4, 8];

/** What a failure does: is final at once; is forgiven by what passes on top of it, and waits for one or two of those. */
const mercies: readonly Tuning[] = [
  { canOptimisticallyMerge: false, pendingFailureDepth: 0 },
  { canOptimisticallyMerge: true, pendingFailureDepth: 0 },
  { canOptimisticallyMerge: true, pendingFailureDepth: 1 },
  { canOptimisticallyMerge: true, pendingFailureDepth: 2 },
];

const unique = (values: readonly number[]): readonly number[] =>
  [...new Set(values)].toSorted((a, b) => a - b);

export type Bounds = {
  readonly concurrencyMax: number;
  /** How long a run usually takes: a batch that waits longer than a third of it gains nothing. */
  readonly runMinutes: number;
};

/** The coarse grid: batches, what a failure does, and how much at once. The present settings are the first. */
export function coarseCandidates(
  present: QueueSettings,
  { concurrencyMax, runMinutes }: Bounds,
): QueueSettings[] {
  const waits = unique([0, Math.min(60, Math.round(runMinutes / 3))]);
  const batches: readonly Tuning[] = [
    { batch: false },
    ...batchSizes.flatMap((batchingMinSize) =>
      waits.map((batchingMaxWaitTimeMinutes) => ({
        batch: true,
        batchingMinSize,
        batchingMaxWaitTimeMinutes,
      })),
    ),
  ];
  const { concurrency } = present;
  const slots = unique(
    [Math.ceil(concurrency / 2), concurrency, concurrency * 2].map((wish) => Math.min(wish, concurrencyMax)),
  );
  const grid = slots.flatMap((count) =>
    batches.flatMap((batch) =>
      mercies.map((mercy): QueueSettings => ({ ...present, ...batch, ...mercy, concurrency: count })),
    ),
  );
  return distinct([present, ...grid]);
}

/** Around good settings: how a failed batch is searched, and batches a little larger or smaller. */
export function fineCandidates(around: QueueSettings): QueueSettings[] {
  if (!around.batch) return [around];
  const half = Math.max(1, Math.floor(around.concurrency / 2));
  const searches: readonly Tuning[] = [
    { bisectionConcurrency: 0 },
    { bisectionConcurrency: half },
    { bisectionConcurrency: 0, optimizationMode: 'bisection_skip_redundant_tests' },
  ];
  const sizes = unique([around.batchingMinSize, Math.round(around.batchingMinSize * 1.5)]);
  return distinct([
    around,
    ...searches.map((search) => ({ ...around, ...search })),
    ...sizes.map((batchingMinSize) => ({ ...around, batchingMinSize })),
  ]);
}

/** What is told apart by settings that matter: without batches their sizes do not. */
export function keyOf(settings: QueueSettings): string {
  const { batch } = settings;
  return tunedSettings
    .map((name) => (!batch && /batching|bisection|optimization/.test(name) ? '' : String(settings[name])))
    .join(' ');
}

export function distinct(list: readonly QueueSettings[]): QueueSettings[] {
  return [...new Map(list.toReversed().map((settings) => [keyOf(settings), settings])).values()].toReversed();
}

/** What has to be set to come from one to the other. */
export function changesBetween(from: QueueSettings, to: QueueSettings): Tuning {
  const keys = tunedSettings.filter(
    (name) => from[name] !== to[name] && (to.batch || !/batching|bisection|optimization/.test(name)),
  );
  return Object.fromEntries(keys.map((name) => [name, to[name]]));
}

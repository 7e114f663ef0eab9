// Settings that are worth trying on a queue: few enough to try all of them, and only those that change its
// speed and cost.

import type { QueueSettings } from '#core/queue/settings.ts';

/** The settings that a simulation may change. */
const tunedSettings = [
  'strategy',
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

/** The effect of a failure: final at once, or forgiven by a pass on top of it, which it may wait for. */
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
  /** The usual duration of a run: a batch that waits longer than a third of it gains nothing. */
  readonly runMinutes: number;
};

/** The coarse grid: batches, the effect of a failure, and concurrency. The present settings come first. */
export function coarseCandidates(
  present: QueueSettings,
  { concurrencyMax, runMinutes }: Bounds,
): QueueSettings[] {
  const waits = unique([0, Math.min(60, Math.round(runMinutes / 3))]);
  const batches: readonly Tuning[] = [
    { strategy: 'adaptive' },
    { strategy: 'manual', batch: false },
    ...batchSizes.flatMap((batchingMinSize) =>
      waits.map((batchingMaxWaitTimeMinutes) => ({
        strategy: 'manual' as const,
        batch: true,
        batchingMinSize,
        batchingMaxWaitTimeMinutes,
      })),
    ),
  ];
  const { concurrency } = present;
  const slots = unique(
    [Math.ceil(concurrency / 2), concurrency, concurrency * 2].map((slotCount) =>
      Math.min(slotCount, concurrencyMax),
    ),
  );
  const grid = slots.flatMap((count) =>
    batches.flatMap((batch) =>
      mercies.map((mercy): QueueSettings => ({ ...present, ...batch, ...mercy, concurrency: count })),
    ),
  );
  return distinct([present, ...grid]);
}

/** Variations of good settings: how a failed batch is bisected, and slightly larger or smaller batches. */
export function fineCandidates(around: QueueSettings): QueueSettings[] {
  if (!hasBatchSettings(around)) return [around];
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

const hasBatchSettings = ({ strategy, batch }: QueueSettings): boolean => strategy === 'manual' && batch;

/** Whether the setting has an effect beside the others: without batches their sizes have none. */
const hasEffect = (name: (typeof tunedSettings)[number], settings: QueueSettings): boolean =>
  hasBatchSettings(settings) ||
  !(name === 'batch' ? settings.strategy === 'adaptive' : /batching|bisection|optimization/.test(name));

/** The same for settings that differ only without effect. */
export const buildSettingsKey = (settings: QueueSettings): string =>
  tunedSettings.map((name) => (hasEffect(name, settings) ? String(settings[name]) : '')).join(' ');

export function distinct(list: readonly QueueSettings[]): QueueSettings[] {
  return [
    ...new Map(list.toReversed().map((settings) => [buildSettingsKey(settings), settings])).values(),
  ].toReversed();
}

/** The settings that differ. */
export function changesBetween(from: QueueSettings, to: QueueSettings): Tuning {
  const keys = tunedSettings.filter((name) => from[name] !== to[name] && hasEffect(name, to));
  return Object.fromEntries(keys.map((name) => [name, to[name]]));
}

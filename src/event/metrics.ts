// Queue metrics in the Prometheus text format. Written by hand because these are counts over the last hour, computed
// by the database: metric libraries hold counters of their own process and cannot be handed finished histograms.

import { fullName } from '#core/repository.ts';
import { bucketBounds, type DurationKind, type QueueNumbers } from '#db/metrics-view.ts';

const queueTypes = ['main', 'bisection'] as const;
type QueueType = (typeof queueTypes)[number];

type Labels = Readonly<Record<string, string>>;

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const renderLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

type Sample = { readonly suffix?: string; readonly labels: Labels; readonly value: number };
type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'histogram' | 'untyped';
  readonly samples: (queue: QueueNumbers, queueType: QueueType) => readonly Sample[];
};

/** What isolates failures has no entries of its own: its series are there, and zero. */
const onMain = (queueType: QueueType, value: number): number => (queueType === 'main' ? value : 0);

/** Counts over the last hour rise and fall, and are named `_total` by contract: neither a gauge's name nor a counter. */
const windowCount = 'untyped';

const gauge = (
  name: string,
  help: string,
  value: (queue: QueueNumbers) => number,
  type: Family['type'] = 'gauge',
): Family => ({
  name,
  help,
  type,
  samples: (queue, queueType) => [{ labels: {}, value: onMain(queueType, value(queue)) }],
});

const durations = (name: string, help: string, kind: DurationKind): Family => ({
  name,
  help,
  type: 'histogram',
  samples: (queue, queueType) => {
    const { buckets, sum } = queue.durations[kind];
    const bounds = [...bucketBounds.map(String), '+Inf'];
    const count = buckets.at(-1) ?? 0;
    return [
      ...bounds.map((le, index) => ({
        suffix: '_bucket',
        labels: { le },
        value: onMain(queueType, buckets[index] ?? 0),
      })),
      { suffix: '_sum', labels: {}, value: onMain(queueType, sum) },
      { suffix: '_count', labels: {}, value: onMain(queueType, count) },
    ];
  },
});

const families: readonly Family[] = [
  gauge('mq_depth_current', 'Pull requests in the queue, not_ready excluded.', (queue) => queue.depth),
  gauge(
    'mq_awaiting_mergeability',
    'Submitted pull requests that are not ready yet.',
    (queue) => queue.not_ready,
  ),
  gauge('mq_testing_slots_active', 'Pull requests under test.', (queue) => queue.testing),
  {
    name: 'mq_pr_conclusions_1h_total',
    help: 'Pull requests that left the queue within the last hour, by conclusion.',
    type: windowCount,
    samples: (queue, queueType) =>
      (['merged', 'failed', 'cancelled'] as const).map((conclusion) => ({
        labels: { conclusion },
        value: onMain(queueType, queue[conclusion]),
      })),
  },
  gauge(
    'mq_pr_restarts_1h_total',
    'Test restarts within the last hour.',
    (queue) => queue.restarts,
    windowCount,
  ),
  durations(
    'mq_pr_wait_duration_1h_seconds',
    'Time that pull requests concluded within the last hour waited to be tested.',
    'wait',
  ),
  durations(
    'mq_pr_test_duration_1h_seconds',
    'Time that pull requests concluded within the last hour were under test.',
    'test',
  ),
  durations(
    'mq_pr_time_in_queue_1h_seconds',
    'Time that pull requests concluded within the last hour were in the queue.',
    'in_queue',
  ),
];

export function renderMetrics(queues: readonly QueueNumbers[]): string {
  const lines: string[] = [];
  for (const family of families) {
    lines.push(`# HELP ${family.name} ${family.help}`, `# TYPE ${family.name} ${family.type}`);
    for (const queue of queues)
      for (const queueType of queueTypes)
        for (const { suffix = '', labels, value } of family.samples(queue, queueType)) {
          const all = {
            repo: fullName({ ...queue, host: '' }),
            branch: queue.branch,
            queue_type: queueType,
            ...labels,
          };
          lines.push(`${family.name}${suffix}{${renderLabels(all)}} ${value}`);
        }
  }
  return `${lines.join('\n')}\n`;
}

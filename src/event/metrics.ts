// The metrics of queues, as the token of an organization reads them.

import { fullName } from '#core/repository.ts';
import { bucketBounds, type DurationKind, type QueueNumbers } from '#db/history/metrics-view.ts';
import { type Family, renderFamilies, type Sample } from './exposition.ts';

const queueTypes = ['main', 'bisection'] as const;
type QueueType = (typeof queueTypes)[number];

type QueueFamily = Omit<Family, 'samples'> & {
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
): QueueFamily => ({
  name,
  help,
  type,
  samples: (queue, queueType) => [{ labels: {}, value: onMain(queueType, value(queue)) }],
});

const durations = (name: string, help: string, kind: DurationKind): QueueFamily => ({
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

const families: readonly QueueFamily[] = [
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
  // Ours: the names above are given.
  gauge(
    'signalbox_queue_host_away_seconds',
    'How long the Git host of the queue has been unreachable; 0: it is reachable.',
    (queue) => queue.host_away_seconds,
  ),
];

const ofQueue = (queue: QueueNumbers, queueType: QueueType) => ({
  repo: fullName({ ...queue, host: '' }),
  branch: queue.branch,
  queue_type: queueType,
});

export function renderMetrics(queues: readonly QueueNumbers[]): string {
  return renderFamilies(
    families.map(({ samples, ...family }) => ({
      ...family,
      samples: queues.flatMap((queue) =>
        queueTypes.flatMap((queueType) =>
          samples(queue, queueType).map(({ labels, ...sample }) => ({
            ...sample,
            labels: { ...ofQueue(queue, queueType), ...labels },
          })),
        ),
      ),
    })),
  );
}

// The order in which queues are shown.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';

type SortableQueue = ResponseOf<'listQueues'>['queues'][number];

export const queueSorts = ['name', 'stalled', 'depth', 'wait', 'failing'] as const;
export type QueueSort = (typeof queueSorts)[number];

export const sortLabels: Readonly<Record<QueueSort, string>> = {
  name: 'name',
  stalled: 'stalled queues first',
  depth: 'most pull requests first',
  wait: 'longest time in queue first',
  failing: 'highest failure rate first',
};

/** The share of failed among merged and failed pull requests of the last day; null without any. */
export function failureRate({ mergedLast24h, failedLast24h }: SortableQueue): number | null {
  const ended = mergedLast24h + failedLast24h;
  return ended === 0 ? null : failedLast24h / ended;
}

/** Queues with a larger weight are shown first; a queue without a value is last. */
const weights: Readonly<Record<Exclude<QueueSort, 'name'>, (queue: SortableQueue) => number>> = {
  stalled: ({ stall }) => (stall === null ? 0 : 1),
  depth: ({ depth }) => depth,
  wait: ({ timeInQueueP50Seconds }) => timeInQueueP50Seconds ?? -1,
  failing: (queue) => failureRate(queue) ?? -1,
};

/** Equal queues, and the order by name, keep the server's order. */
export function sortQueues(queues: readonly SortableQueue[], sort: QueueSort): readonly SortableQueue[] {
  if (sort === 'name') return queues;
  const weight = weights[sort];
  return queues.toSorted((a, b) => weight(b) - weight(a));
}

// The order in which queues are shown.

import type { ResponseOf } from '#contract/endpoint.ts';

type Listed = ResponseOf<'listQueues'>['queues'][number];

export const queueSorts = ['name', 'stalled', 'depth', 'wait', 'failing'] as const;
export type QueueSort = (typeof queueSorts)[number];

export const sortLabels: Readonly<Record<QueueSort, string>> = {
  name: 'by name',
  stalled: 'stalled first',
  depth: 'longest line first',
  wait: 'slowest first',
  failing: 'most failing first',
};

/** Failed of what merged or failed within a day; null: nothing did. */
export function failingRate({ mergedLast24h, failedLast24h }: Listed): number | null {
  const ended = mergedLast24h + failedLast24h;
  return ended === 0 ? null : failedLast24h / ended;
}

/** The larger, the further up; what has no figure is last. */
const weights: Readonly<Record<Exclude<QueueSort, 'name'>, (queue: Listed) => number>> = {
  stalled: ({ stall }) => (stall === null ? 0 : 1),
  depth: ({ depth }) => depth,
  wait: ({ timeInQueueP50Seconds }) => timeInQueueP50Seconds ?? -1,
  failing: (queue) => failingRate(queue) ?? -1,
};

/** Among equals, and by name, as the server has them. */
export function inQueueOrder(queues: readonly Listed[], sort: QueueSort): readonly Listed[] {
  if (sort === 'name') return queues;
  const weight = weights[sort];
  return queues.toSorted((a, b) => weight(b) - weight(a));
}

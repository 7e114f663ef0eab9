// The metrics of cells, for the operator: part of /metrics. Every process reports the same values.

import type { CellNumbers, TaskNumbers } from '#db/job/cell-numbers-view.ts';
import { type Family, renderFamilies, type Sample } from './exposition.ts';

/** Null: the cell did not answer in time. */
export type CellReading = { readonly cell: string; readonly numbers: CellNumbers | null };

type CellFamily = Omit<Family, 'samples' | 'type'> & {
  readonly samples: (numbers: CellNumbers) => readonly Sample[];
};

const ofCell = (name: string, help: string, value: (numbers: CellNumbers) => number): CellFamily => ({
  name,
  help,
  samples: (numbers) => [{ labels: {}, value: value(numbers) }],
});

const ofTasks = (name: string, help: string, value: (numbers: TaskNumbers) => number): CellFamily => ({
  name,
  help,
  samples: ({ tasks }) => tasks.map((numbers) => ({ labels: { task: numbers.task }, value: value(numbers) })),
});

const families: readonly CellFamily[] = [
  ofCell('signalbox_workers_alive', 'Workers with a recent heartbeat.', ({ workers }) => workers),
  ofTasks('signalbox_jobs_due', 'Jobs that are due and that no worker has started.', ({ due }) => due),
  ofTasks(
    'signalbox_job_lag_seconds',
    'How long the oldest due job has waited for a worker.',
    ({ lagSeconds }) => lagSeconds,
  ),
  ofTasks('signalbox_jobs_retrying', 'Jobs that failed and will be retried.', ({ retrying }) => retrying),
  ofTasks('signalbox_jobs_failed', 'Jobs that failed for good.', ({ failed }) => failed),
  ofCell(
    'signalbox_jobs_set_aside',
    'Jobs of the last day that stopped the event loop of a process twice.',
    ({ jobs_set_aside }) => jobs_set_aside,
  ),
  ofCell(
    'signalbox_queues_host_away',
    'Queues whose Git host is unreachable.',
    ({ queues_away }) => queues_away,
  ),
  ofCell(
    'signalbox_host_away_seconds',
    'How long the Git host of a queue has been unreachable, at most.',
    ({ host_away_seconds }) => host_away_seconds,
  ),
  {
    name: 'signalbox_webhook_endpoints',
    help: 'Webhook endpoints by state.',
    samples: ({ endpoints_active, endpoints_failing, endpoints_disabled }) => [
      { labels: { state: 'active' }, value: endpoints_active },
      { labels: { state: 'failing' }, value: endpoints_failing },
      { labels: { state: 'disabled' }, value: endpoints_disabled },
    ],
  },
  ofCell(
    'signalbox_webhook_deliveries_due',
    'Deliveries that are due and that no worker has started.',
    ({ deliveries_due }) => deliveries_due,
  ),
  ofCell(
    'signalbox_webhook_delivery_lag_seconds',
    'How long the oldest due delivery to a working endpoint has waited.',
    ({ delivery_lag_seconds }) => delivery_lag_seconds,
  ),
];

export function renderCellMetrics(readings: readonly CellReading[]): string {
  return renderFamilies([
    {
      name: 'signalbox_cell_up',
      help: 'Whether the database of the cell answered this process in time.',
      type: 'gauge',
      samples: readings.map(({ cell, numbers }) => ({ labels: { cell }, value: numbers === null ? 0 : 1 })),
    },
    ...families.map(({ samples, ...family }) => ({
      ...family,
      type: 'gauge' as const,
      samples: readings.flatMap(({ cell, numbers }) =>
        numbers === null
          ? []
          : samples(numbers).map(({ labels, value }) => ({ labels: { cell, ...labels }, value })),
      ),
    })),
  ]);
}

// The process's own metrics at /metrics: those of Node.js, and every request by operation and status.

import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export type ProcessMetrics = {
  readonly observe: (operation: string, status: number, seconds: number) => void;
  readonly render: () => Promise<string>;
  readonly contentType: string;
};

export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'signalbox_http_request_duration_seconds',
    help: 'Time from a request’s arrival to the end of its response.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return {
    observe: (operation, status, seconds) =>
      durations.observe({ operation, status: String(status) }, seconds),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

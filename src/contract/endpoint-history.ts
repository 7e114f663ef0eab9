// The rows of the endpoint table about what became of the pull requests of a queue over time.

import type { Endpoint } from './endpoint.ts';
import * as history from './queue-history.ts';

const read = { method: 'POST', scopes: ['read'], tag: 'Queues' } as const;

export const historyEndpoints = {
  getQueueHistory: {
    ...read,
    path: '/v1/getQueueHistory',
    summary: 'What became of the pull requests of a queue over time, and how long it took',
    request: history.QueueHistoryRequest,
    response: history.QueueHistoryResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  },
  listTrips: {
    ...read,
    path: '/v1/listTrips',
    summary: 'List the trips of pull requests through a queue that a figure of its history counts',
    request: history.ListTripsRequest,
    response: history.ListTripsResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'INVALID_PAGE_TOKEN'],
  },
  listTestRuns: {
    ...read,
    path: '/v1/listTestRuns',
    summary: 'List the test runs of a queue in few words each: what was in them, when they began and ended',
    request: history.ListTestRunsRequest,
    response: history.ListTestRunsResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'INVALID_PAGE_TOKEN'],
  },
} as const satisfies Record<string, Endpoint>;

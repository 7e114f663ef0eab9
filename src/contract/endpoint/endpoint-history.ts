// The rows of the endpoint table about the history of a queue.

import type { Endpoint } from './endpoint-type.ts';
import * as history from '../queue-history.ts';

const read = { method: 'POST', scopes: ['read'], tag: 'Queues' } as const;

export const historyEndpoints = {
  getQueueHistory: {
    ...read,
    path: '/v1/getQueueHistory',
    summary:
      'Read the history of a queue: merged, failed and cancelled pull requests over time, and durations',
    request: history.QueueHistoryRequest,
    response: history.QueueHistoryResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  },
  listTrips: {
    ...read,
    path: '/v1/listTrips',
    summary: 'List the attempts of pull requests through a queue that a figure of its history counts',
    request: history.ListTripsRequest,
    response: history.ListTripsResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'INVALID_PAGE_TOKEN'],
  },
  listTestRuns: {
    ...read,
    path: '/v1/listTestRuns',
    summary: 'List the test runs of a queue in short form: pull requests, start and end',
    request: history.ListTestRunsRequest,
    response: history.ListTestRunsResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'INVALID_PAGE_TOKEN'],
  },
  getFailurePredictions: {
    ...read,
    path: '/v1/getFailurePredictions',
    summary: 'Compare the failures that a queue predicts with what happened',
    request: history.FailurePredictionsRequest,
    response: history.FailurePredictionsResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>;

// What the doctor finds at the Git host, and what it can fix there.

import type { ErrorCode } from '#base/error.ts';
import * as queue from '../queue.ts';
import type { Endpoint } from './endpoint-type.ts';

const admin = { method: 'POST', scopes: ['admin'] } as const;
const inQueue = ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'] as const satisfies readonly ErrorCode[];

export const diagnosisEndpoints = {
  diagnoseQueue: {
    ...admin,
    path: '/v1/diagnoseQueue',
    tag: 'Queues',
    summary:
      'Check at the Git host whether a queue can work: permissions, webhook, rules of the branch, required checks, workflows',
    request: queue.QueueRequest,
    response: queue.QueueDiagnosis,
    errors: [...inQueue, 'HOST_ERROR'],
  },
  getDiagnosis: {
    ...admin,
    path: '/v1/getDiagnosis',
    tag: 'Queues',
    summary: 'Read what was found when a queue was checked last. Signalbox checks it every few hours',
    request: queue.QueueRequest,
    response: queue.KeptDiagnosis,
    errors: inQueue,
  },
  proposeTriggers: {
    ...admin,
    path: '/v1/proposeTriggers',
    tag: 'Queues',
    summary:
      'Open a pull request that makes the workflows of the required checks run for test branches, or find the open one',
    request: queue.QueueRequest,
    response: queue.TriggerProposal,
    errors: [...inQueue, 'HOST_ERROR'],
  },
  checkRepository: {
    ...admin,
    path: '/v1/checkRepository',
    tag: 'Queues',
    summary:
      'Check at the Git host whether a queue with default settings could work for a branch, and which checks it could require',
    request: queue.QueueRequest,
    response: queue.RepositoryCheck,
    errors: ['REPOSITORY_NOT_FOUND', 'HOST_ERROR'],
  },
} as const satisfies Record<string, Endpoint>;

// The table of endpoints: the path, the required scopes, the schemas of request and response, and the errors of each.
// The server validates by this table, and the published OpenAPI document is generated from it.

import { z } from 'zod';
import type { ErrorCode } from '#base/error.ts';
import { Empty, part } from '../common.ts';
import { GetOrganizationRequest, GetOrganizationResponse } from '../organization.ts';
import { QueueGraph } from '../graph.ts';
import * as landing from '../landing.ts';
import * as pullRequest from '../pull-request.ts';
import * as queue from '../queue.ts';
import * as sandbox from '../sandbox.ts';
import type { Endpoint } from './endpoint-type.ts';
import { diagnosisEndpoints } from './endpoint-diagnosis.ts';
import { historyEndpoints } from './endpoint-history.ts';
import { searchEndpoints } from './endpoint-search.ts';
import { testHealthEndpoints } from './endpoint-test-health.ts';
import * as testing from '../testing.ts';
import { sandboxCommentEndpoints } from './endpoint-sandbox-comment.ts';
import { hostConnectionEndpoints } from './endpoint-host-connection.ts';
import { tokenEndpoints } from './endpoint-token.ts';
import { webhookEndpoints } from './endpoint-webhook.ts';

export const commonErrors: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'MALFORMED_JSON',
  'AUTHENTICATION_REQUIRED',
  'INVALID_TOKEN',
  'INSUFFICIENT_SCOPE',
  'METHOD_NOT_ALLOWED',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

const inQueue = ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'] as const satisfies readonly ErrorCode[];
const onHost = ['PULL_REQUEST_NOT_FOUND', 'HOST_ERROR'] as const satisfies readonly ErrorCode[];

const read = { method: 'POST', scopes: ['read'] } as const;
const submit = { method: 'POST', scopes: ['submit'] } as const;
const admin = { method: 'POST', scopes: ['admin'] } as const;

const MetricsQuery = z
  .object({
    repo: part(511)
      .regex(/^[^/]+(\/[^/]+)+$/, 'must be owner/name')
      .optional()
      .meta({ description: 'owner/name; required together with repoHost.' }),
    repoHost: part(255).optional(),
  })
  .superRefine(({ repo, repoHost }, context) => {
    if (repo !== undefined && repoHost === undefined)
      context.addIssue({ code: 'custom', path: ['repoHost'], message: 'is required together with repo' });
    if (repoHost !== undefined && repo === undefined)
      context.addIssue({ code: 'custom', path: ['repo'], message: 'is required together with repoHost' });
  });

export const endpoints = {
  submitPullRequest: {
    ...submit,
    path: '/v1/submitPullRequest',
    tag: 'Pull requests',
    summary: 'Submit a pull request to the queue for testing and merging',
    request: pullRequest.SubmitRequest,
    response: pullRequest.SubmittedPullRequest,
    errors: [...inQueue, ...onHost, 'PULL_REQUEST_NOT_ENQUEUEABLE'],
  },
  getPullRequestFromHost: {
    ...submit,
    path: '/v1/getPullRequestFromHost',
    tag: 'Pull requests',
    summary: 'Read a pull request from its Git host, to see the head before it is submitted',
    request: pullRequest.PullRequestRequest,
    response: pullRequest.HostedPullRequest,
    errors: [...inQueue, ...onHost],
  },
  cancelPullRequest: {
    ...submit,
    path: '/v1/cancelPullRequest',
    tag: 'Pull requests',
    summary: 'Remove a pull request from the queue',
    request: pullRequest.PullRequestRequest,
    response: Empty,
    errors: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED', 'PULL_REQUEST_NOT_IN_QUEUE'],
  },
  restartTestsOnPullRequest: {
    ...submit,
    path: '/v1/restartTestsOnPullRequest',
    tag: 'Pull requests',
    summary: 'Restart the tests of a pull request; it keeps its position in the queue',
    request: pullRequest.PullRequestRequest,
    response: pullRequest.SubmittedPullRequest,
    errors: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED', 'TESTS_NOT_RESTARTABLE'],
  },
  getSubmittedPullRequest: {
    ...read,
    path: '/v1/getSubmittedPullRequest',
    tag: 'Pull requests',
    summary: 'Read the state of a pull request, the reason for it, and what it is waiting for',
    request: pullRequest.GetSubmittedRequest,
    response: pullRequest.SubmittedPullRequest,
    errors: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED'],
  },
  getSubmittedPullRequests: {
    ...read,
    path: '/v1/getSubmittedPullRequests',
    tag: 'Pull requests',
    summary: 'Read up to 50 pull requests of a queue at once',
    request: pullRequest.GetSubmittedManyRequest,
    response: pullRequest.GetSubmittedManyResponse,
    errors: inQueue,
  },
  listPullRequests: {
    ...read,
    path: '/v1/listPullRequests',
    tag: 'Pull requests',
    summary: 'List the pull requests of a queue, newest first',
    request: pullRequest.ListPullRequestsRequest,
    response: pullRequest.ListPullRequestsResponse,
    errors: [...inQueue, 'INVALID_PAGE_TOKEN'],
  },
  setImpactedTargets: {
    method: 'POST',
    scopes: ['submit', 'upload'],
    path: '/v1/setImpactedTargets',
    tag: 'Pull requests',
    summary: 'Set the targets that a pull request impacts (parallel queues)',
    request: pullRequest.SetImpactedTargetsRequest,
    response: Empty,
    errors: [...inQueue, ...onHost],
  },
  getLanding: {
    ...read,
    path: '/v1/getLanding',
    tag: 'Test runs',
    summary: 'Read the attestation of a landing: the branch before, what was tested, and the branch after',
    request: landing.GetLandingRequest,
    response: landing.Landing,
    errors: [...inQueue, 'LANDING_NOT_FOUND'],
  },
  getMergeQueueTestingDetails: {
    ...read,
    path: '/v1/getMergeQueueTestingDetails',
    tag: 'Test runs',
    summary: 'Read a test run, or every current run of a queue',
    request: testing.TestingDetailsRequest,
    response: testing.TestingDetailsResponse,
    errors: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED', 'TEST_RUN_NOT_FOUND'],
  },
  listMergeQueueTestingResults: {
    ...read,
    path: '/v1/listMergeQueueTestingResults',
    tag: 'Test runs',
    summary: 'List the test runs of a queue by time, newest first',
    request: testing.TestingResultsRequest,
    response: testing.TestingResultsResponse,
    errors: inQueue,
  },
  createQueue: {
    ...admin,
    path: '/v1/createQueue',
    tag: 'Queues',
    summary: 'Create a merge queue for a branch',
    request: queue.CreateQueueRequest,
    response: queue.QueueRecord,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_ALREADY_EXISTS'],
  },
  updateQueue: {
    ...admin,
    path: '/v1/updateQueue',
    tag: 'Queues',
    summary: 'Change the settings or the state of a queue; absent settings keep their values',
    request: queue.UpdateQueueRequest,
    response: queue.QueueRecord,
    errors: [...inQueue, 'MODE_CHANGE_IN_PROGRESS'],
  },
  deleteQueue: {
    ...admin,
    path: '/v1/deleteQueue',
    tag: 'Queues',
    summary: 'Delete an empty queue',
    request: queue.QueueRequest,
    response: Empty,
    errors: [...inQueue, 'QUEUE_NOT_EMPTY'],
  },
  getQueue: {
    ...read,
    path: '/v1/getQueue',
    tag: 'Queues',
    summary: 'Read the state, the settings and the entries of a queue',
    request: queue.QueueRequest,
    response: queue.QueueWithEntries,
    errors: inQueue,
  },
  ...diagnosisEndpoints,
  getQueueGraph: {
    ...read,
    path: '/v1/getQueueGraph',
    tag: 'Queues',
    summary:
      'Read the graph of a queue: which runs build on which, why, and the bisections of failed batches',
    request: queue.QueueRequest,
    response: QueueGraph,
    errors: inQueue,
  },
  listQueues: {
    ...read,
    path: '/v1/listQueues',
    tag: 'Queues',
    summary: 'List all queues with their length and their results of the last 24 hours',
    request: queue.ListQueuesRequest,
    response: queue.ListQueuesResponse,
    errors: ['INVALID_PAGE_TOKEN'],
  },
  ...historyEndpoints,
  getMergeQueueMetrics: {
    method: 'GET',
    scopes: ['read'],
    path: '/v1/getMergeQueueMetrics',
    tag: 'Metrics',
    summary: 'Queue metrics in the Prometheus text format',
    request: MetricsQuery,
    takesBearer: true,
    response: null,
    errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  },
  ...searchEndpoints,
  ...testHealthEndpoints,
  getOrganization: {
    method: 'POST',
    scopes: [],
    path: '/v1/getOrganization',
    tag: 'Organization',
    summary: 'Read the organization and the scopes of the token',
    request: GetOrganizationRequest,
    response: GetOrganizationResponse,
    errors: [],
  },
  ...tokenEndpoints,
  ...hostConnectionEndpoints,
  ...webhookEndpoints,
  sandboxCreatePullRequest: {
    ...admin,
    path: '/sandbox/v1/createPullRequest',
    tag: 'Sandbox',
    summary: 'Create a pull request on the sandbox host',
    request: sandbox.SandboxCreateRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  sandboxUpdatePullRequest: {
    ...admin,
    path: '/sandbox/v1/updatePullRequest',
    tag: 'Sandbox',
    summary: 'Change a pull request on the sandbox host',
    request: sandbox.SandboxWriteRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'],
  },
  sandboxPushPullRequest: {
    ...admin,
    path: '/sandbox/v1/pushPullRequest',
    tag: 'Sandbox',
    summary: 'Push a new head to a pull request of the sandbox host',
    request: sandbox.SandboxPushRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  sandboxReviewPullRequest: {
    ...admin,
    path: '/sandbox/v1/reviewPullRequest',
    tag: 'Sandbox',
    summary: 'Review a pull request of the sandbox host as a user',
    request: sandbox.SandboxReviewRequest,
    response: Empty,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'],
  },
  sandboxRemovePullRequest: {
    ...admin,
    path: '/sandbox/v1/removePullRequest',
    tag: 'Sandbox',
    summary: 'Remove a pull request from the sandbox host',
    request: sandbox.SandboxPullRequestRequest,
    response: Empty,
    errors: ['REPOSITORY_NOT_FOUND'],
  },
  sandboxGetPullRequest: {
    ...admin,
    path: '/sandbox/v1/getPullRequest',
    tag: 'Sandbox',
    summary: 'Read a pull request from the sandbox host',
    request: sandbox.SandboxPullRequestRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'],
  },
  sandboxMergePullRequest: {
    ...admin,
    path: '/sandbox/v1/mergePullRequest',
    tag: 'Sandbox',
    summary: 'Merge a pull request of the sandbox host outside the queue',
    request: sandbox.SandboxMergeRequest,
    response: sandbox.SandboxMergeResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  ...sandboxCommentEndpoints,
  sandboxChangeLabels: {
    ...admin,
    path: '/sandbox/v1/changeLabels',
    tag: 'Sandbox',
    summary: 'Add or remove labels of a pull request of the sandbox host as a user',
    request: sandbox.SandboxLabelRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'],
  },
  sandboxCommit: {
    ...admin,
    path: '/sandbox/v1/commit',
    tag: 'Sandbox',
    summary: 'Commit to a branch of the sandbox host, move the branch or delete it',
    request: sandbox.SandboxCommitRequest,
    response: sandbox.SandboxCommitResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  sandboxSetCheck: {
    ...admin,
    path: '/sandbox/v1/setCheck',
    tag: 'Sandbox',
    summary: 'Report the status of a commit to the sandbox host, as CI does',
    request: sandbox.SandboxCheckRequest,
    response: sandbox.SandboxCheckResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  },
  sandboxConfigureRepository: {
    ...admin,
    path: '/sandbox/v1/configureRepository',
    tag: 'Sandbox',
    summary: 'Configure CI, branch protection, users and faults of a repository of the sandbox host',
    request: sandbox.SandboxConfigureRequest,
    response: sandbox.SandboxConfigureResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  sandboxGetRepository: {
    ...admin,
    path: '/sandbox/v1/getRepository',
    tag: 'Sandbox',
    summary: 'Read a repository of the sandbox host: its URL, branches and pull requests',
    request: sandbox.SandboxRepositoryRequest,
    response: sandbox.SandboxRepositoryResponse,
    errors: ['REPOSITORY_NOT_FOUND'],
  },
  sandboxPutTestCases: {
    ...admin,
    path: '/sandbox/v1/putTestCases',
    tag: 'Sandbox',
    summary: 'Set the results and the status of tests in the sandbox',
    request: sandbox.PutTestCasesRequest,
    response: sandbox.PutTestCasesResponse,
    errors: ['REPOSITORY_NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>;

export type Operation = keyof typeof endpoints;
export type RequestOf<Name extends Operation> = z.output<(typeof endpoints)[Name]['request']>;
export type ResponseOf<Name extends Operation> = (typeof endpoints)[Name]['response'] extends z.ZodType
  ? z.output<(typeof endpoints)[Name]['response']>
  : string;

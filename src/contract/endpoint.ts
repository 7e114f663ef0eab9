// Every endpoint, once: what it is called, who may call it, what goes in and out, and which errors it can answer with.
// The server validates by this table, and the published OpenAPI document is generated from it.

import { z } from 'zod';
import type { ErrorCode } from '#base/error.ts';
import { Empty, part, type Scope } from './common.ts';
import { GetOrganizationRequest, GetOrganizationResponse } from './organization.ts';
import { QueueGraph } from './graph.ts';
import * as landing from './landing.ts';
import * as pullRequest from './pull-request.ts';
import * as queue from './queue.ts';
import * as sandbox from './sandbox.ts';
import { historyEndpoints } from './endpoint-history.ts';
import { searchEndpoints } from './endpoint-search.ts';
import { testHealthEndpoints } from './endpoint-test-health.ts';
import * as testing from './testing.ts';
import { sandboxCommentEndpoints } from './endpoint-sandbox-comment.ts';
import { hostConnectionEndpoints } from './endpoint-host-connection.ts';
import { tokenEndpoints } from './endpoint-token.ts';
import { webhookEndpoints } from './endpoint-webhook.ts';

export const tags = {
  'Pull requests': 'Submitting pull requests and following them.',
  Queues: 'Creating, configuring, pausing and draining queues.',
  'Test runs': 'What the queue tests and has tested.',
  Metrics: 'Queue metrics for Prometheus.',
  'Test health': 'Flaky, broken and quarantined tests.',
  Uploads: 'Sending test reports, and what came of them.',
  Organization: 'Who a token speaks for, and the tokens there are.',
  Webhooks: 'Events sent to addresses of yours: endpoints and deliveries.',
  Sandbox: 'The control API of the built-in sandbox host.',
} as const;

export type Endpoint = {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  /** A token needs one of these; an empty list takes any valid token. */
  readonly scopes: readonly Scope[];
  readonly tag: keyof typeof tags;
  readonly summary: string;
  /** The JSON body of a POST; the query of a GET, and of a POST whose body is not JSON. */
  readonly request: z.ZodType;
  /** A body that is no JSON and may have any type: handed to its handler as it comes, or not looked at. */
  readonly body?: 'report' | 'ignored';
  /** Null: plain text. */
  readonly response: z.ZodType | null;
  /** Beyond those that every endpoint has (commonErrors). */
  readonly errors: readonly ErrorCode[];
};

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
      .meta({ description: 'owner/name; must be given together with repoHost.' }),
    repoHost: part(255).optional(),
  })
  .superRefine(({ repo, repoHost }, context) => {
    if (repo !== undefined && repoHost === undefined)
      context.addIssue({ code: 'custom', path: ['repoHost'], message: 'is required when repo is given' });
    if (repoHost !== undefined && repo === undefined)
      context.addIssue({ code: 'custom', path: ['repo'], message: 'is required when repoHost is given' });
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
    summary: 'Run the tests of a pull request in the queue anew, in place',
    request: pullRequest.PullRequestRequest,
    response: pullRequest.SubmittedPullRequest,
    errors: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED', 'TESTS_NOT_RESTARTABLE'],
  },
  getSubmittedPullRequest: {
    ...read,
    path: '/v1/getSubmittedPullRequest',
    tag: 'Pull requests',
    summary: 'Read where a pull request is, why, and what would move it',
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
    summary: 'Say which targets a pull request impacts (parallel queues)',
    request: pullRequest.SetImpactedTargetsRequest,
    response: Empty,
    errors: [...inQueue, ...onHost],
  },
  getLanding: {
    ...read,
    path: '/v1/getLanding',
    tag: 'Test runs',
    summary: 'The proof of a landing: what was on the branch, what was tested, and what is on it now.',
    request: landing.GetLandingRequest,
    response: landing.Landing,
    errors: [...inQueue, 'LANDING_NOT_FOUND'],
  },
  getMergeQueueTestingDetails: {
    ...read,
    path: '/v1/getMergeQueueTestingDetails',
    tag: 'Test runs',
    summary: 'Read a test run, or every run the queue is performing',
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
    summary: 'Change a queue’s settings or state; what is absent stays',
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
    summary: 'Read a queue’s state, its settings and what is in it',
    request: queue.QueueRequest,
    response: queue.QueueWithEntries,
    errors: inQueue,
  },
  getQueueGraph: {
    ...read,
    path: '/v1/getQueueGraph',
    tag: 'Queues',
    summary: 'Read what is tested on top of what and why, and the searches for what broke a batch',
    request: queue.QueueRequest,
    response: QueueGraph,
    errors: inQueue,
  },
  listQueues: {
    ...read,
    path: '/v1/listQueues',
    tag: 'Queues',
    summary: 'List all queues with what is in them and what became of it within a day',
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
    summary: 'Read who the token speaks for and what it may do',
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
    summary: 'Make a pull request of the sandbox host as described',
    request: sandbox.SandboxCreateRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  sandboxUpdatePullRequest: {
    ...admin,
    path: '/sandbox/v1/updatePullRequest',
    tag: 'Sandbox',
    summary: 'Change what the sandbox host says of a pull request',
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
    summary: 'Review a pull request of the sandbox host, as a person would',
    request: sandbox.SandboxReviewRequest,
    response: Empty,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'],
  },
  sandboxRemovePullRequest: {
    ...admin,
    path: '/sandbox/v1/removePullRequest',
    tag: 'Sandbox',
    summary: 'Make the sandbox host say that a pull request does not exist',
    request: sandbox.SandboxPullRequestRequest,
    response: Empty,
    errors: ['REPOSITORY_NOT_FOUND'],
  },
  sandboxGetPullRequest: {
    ...admin,
    path: '/sandbox/v1/getPullRequest',
    tag: 'Sandbox',
    summary: 'Read a pull request as the sandbox host shows it',
    request: sandbox.SandboxPullRequestRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'],
  },
  sandboxMergePullRequest: {
    ...admin,
    path: '/sandbox/v1/mergePullRequest',
    tag: 'Sandbox',
    summary: 'Merge a pull request of the sandbox host by hand',
    request: sandbox.SandboxMergeRequest,
    response: sandbox.SandboxMergeResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  ...sandboxCommentEndpoints,
  sandboxChangeLabels: {
    ...admin,
    path: '/sandbox/v1/changeLabels',
    tag: 'Sandbox',
    summary: 'Put labels on a pull request of the sandbox host or take them off, as a person would',
    request: sandbox.SandboxLabelRequest,
    response: sandbox.SandboxPullRequestResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'],
  },
  sandboxCommit: {
    ...admin,
    path: '/sandbox/v1/commit',
    tag: 'Sandbox',
    summary: 'Put a commit on a branch of the sandbox host, move the branch or delete it',
    request: sandbox.SandboxCommitRequest,
    response: sandbox.SandboxCommitResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  sandboxSetCheck: {
    ...admin,
    path: '/sandbox/v1/setCheck',
    tag: 'Sandbox',
    summary: 'Report a status of a commit to the sandbox host, as CI would',
    request: sandbox.SandboxCheckRequest,
    response: sandbox.SandboxCheckResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  },
  sandboxConfigureRepository: {
    ...admin,
    path: '/sandbox/v1/configureRepository',
    tag: 'Sandbox',
    summary: 'Set CI, branch protection, people and faults of a repository of the sandbox host',
    request: sandbox.SandboxConfigureRequest,
    response: sandbox.SandboxConfigureResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'SANDBOX_REFUSED'],
  },
  sandboxGetRepository: {
    ...admin,
    path: '/sandbox/v1/getRepository',
    tag: 'Sandbox',
    summary: 'Read a repository of the sandbox host: its address, branches and pull requests',
    request: sandbox.SandboxRepositoryRequest,
    response: sandbox.SandboxRepositoryResponse,
    errors: ['REPOSITORY_NOT_FOUND'],
  },
  sandboxPutTestCases: {
    ...admin,
    path: '/sandbox/v1/putTestCases',
    tag: 'Sandbox',
    summary: 'Script tests and their health',
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

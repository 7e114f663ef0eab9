// The rows of the endpoint table about pull requests of all queues.

import type { ErrorCode } from '#base/error.ts';
import { ListPullRequestsToFixRequest, ListPullRequestsToFixResponse } from '../pull-request-to-fix.ts';
import { SearchPullRequestsRequest, SearchPullRequestsResponse } from '../search.ts';

export const searchEndpoints = {
  searchPullRequests: {
    method: 'POST',
    scopes: ['read'],
    path: '/v1/searchPullRequests',
    tag: 'Pull requests',
    summary: 'Find pull requests of all queues by number, title or author',
    request: SearchPullRequestsRequest,
    response: SearchPullRequestsResponse,
    errors: ['REPOSITORY_NOT_FOUND'] as readonly ErrorCode[],
  },
  listPullRequestsToFix: {
    method: 'POST',
    scopes: ['read'],
    path: '/v1/listPullRequestsToFix',
    tag: 'Pull requests',
    summary: 'List pull requests of all queues that need a person: failed lately, or not ready',
    request: ListPullRequestsToFixRequest,
    response: ListPullRequestsToFixResponse,
    errors: [] as readonly ErrorCode[],
  },
} as const;

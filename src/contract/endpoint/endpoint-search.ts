// The rows of the endpoint table about search.

import type { ErrorCode } from '#base/error.ts';
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
} as const;

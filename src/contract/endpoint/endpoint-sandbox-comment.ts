// The rows of the table of endpoints about comments on the sandbox host.

import type { ErrorCode } from '#base/error.ts';
import { Empty } from '../common.ts';
import * as sandbox from '../sandbox.ts';

const admin = { method: 'POST', scopes: ['admin'], tag: 'Sandbox' } as const;

export const sandboxCommentEndpoints = {
  sandboxWriteComment: {
    ...admin,
    path: '/sandbox/v1/writeComment',
    summary: 'Comment on a pull request of the sandbox host as a user',
    request: sandbox.SandboxWriteCommentRequest,
    response: sandbox.SandboxCommentResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'] as readonly ErrorCode[],
  },
  sandboxEditComment: {
    ...admin,
    path: '/sandbox/v1/editComment',
    summary:
      'Edit a comment on a pull request of the sandbox host; an edited comment is not a command, and a missing comment is not an error',
    request: sandbox.SandboxEditCommentRequest,
    response: Empty,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'] as readonly ErrorCode[],
  },
  sandboxDeleteComment: {
    ...admin,
    path: '/sandbox/v1/deleteComment',
    summary: 'Delete a comment on a pull request of the sandbox host; a missing comment is not an error',
    request: sandbox.SandboxCommentRequest,
    response: Empty,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'] as readonly ErrorCode[],
  },
  sandboxListComments: {
    ...admin,
    path: '/sandbox/v1/listComments',
    summary: 'Read the comments on a pull request of the sandbox host',
    request: sandbox.SandboxPullRequestRequest,
    response: sandbox.SandboxCommentsResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'] as readonly ErrorCode[],
  },
};

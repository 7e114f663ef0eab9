// The rows of the table of endpoints about API tokens.

import type { ErrorCode } from '#base/error.ts';
import * as token from '../token.ts';

const admin = { method: 'POST', scopes: ['admin'], tag: 'Organization' } as const;

export const tokenEndpoints = {
  listTokens: {
    ...admin,
    path: '/v1/listTokens',
    summary: 'List the API tokens of the organization, without their secrets',
    request: token.ListTokensRequest,
    response: token.ListTokensResponse,
    errors: [] as readonly ErrorCode[],
  },
  createToken: {
    ...admin,
    path: '/v1/createToken',
    summary: 'Create an API token; only this response contains its secret',
    request: token.CreateTokenRequest,
    response: token.CreateTokenResponse,
    errors: ['REPOSITORY_NOT_FOUND'] as readonly ErrorCode[],
  },
  revokeToken: {
    ...admin,
    path: '/v1/revokeToken',
    summary: 'Revoke an API token immediately, and every session that was started with it',
    request: token.RevokeTokenRequest,
    response: token.RevokeTokenResponse,
    errors: ['TOKEN_NOT_FOUND'] as readonly ErrorCode[],
  },
} as const;

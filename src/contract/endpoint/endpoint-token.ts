// The rows of the table of endpoints about API tokens.

import type { ErrorCode } from '#base/error.ts';
import * as token from '../token.ts';
import type { Endpoint } from './endpoint-type.ts';

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
  trustCi: {
    ...admin,
    path: '/v1/trustCi',
    summary: 'Let CI jobs upload with the identity that their CI system vouches for, without a stored secret',
    request: token.TrustCiRequest,
    response: token.TrustCiResponse,
    errors: ['REPOSITORY_NOT_FOUND', 'WEBHOOK_URL_REFUSED'] as readonly ErrorCode[],
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

/** The only call without a token: it makes one. */
export const exchangeCiToken = {
  method: 'POST',
  scopes: [],
  tag: 'Organization',
  path: '/v1/exchangeCiToken',
  summary: 'Exchange the identity token of a CI job for a token that is valid for an hour',
  request: token.ExchangeCiTokenRequest,
  response: token.ExchangeCiTokenResponse,
  errors: ['ID_TOKEN_INVALID', 'CI_JOB_REFUSED', 'ISSUER_UNREACHABLE', 'HOST_ERROR'] as readonly ErrorCode[],
} as const satisfies Endpoint;

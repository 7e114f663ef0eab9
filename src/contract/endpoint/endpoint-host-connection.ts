// The rows of the table of endpoints about connections to Git hosts.

import type { ErrorCode } from '#base/error.ts';
import * as connection from '../host-connection.ts';

const admin = { method: 'POST', scopes: ['admin'], tag: 'Organization' } as const;

export const hostConnectionEndpoints = {
  listHostConnections: {
    ...admin,
    path: '/v1/listHostConnections',
    summary: 'List the connections of the organization to Git hosts, without their secrets',
    request: connection.ListHostConnectionsRequest,
    response: connection.ListHostConnectionsResponse,
    errors: [] as readonly ErrorCode[],
  },
  connectHost: {
    ...admin,
    path: '/v1/connectHost',
    summary:
      'Connect the organization to a Git host, after its credentials were checked there; replaces those of an existing connection',
    request: connection.ConnectHostRequest,
    response: connection.ConnectHostResponse,
    errors: [
      'GIT_HOST_NOT_ALLOWED',
      'CREDENTIALS_REFUSED',
      'SECRET_KEY_MISSING',
      'HOST_ERROR',
    ] as readonly ErrorCode[],
  },
  beginAppRegistration: {
    ...admin,
    path: '/v1/beginAppRegistration',
    summary: 'Describe the form with which a browser registers an App of the organization at a Git host',
    request: connection.BeginAppRegistrationRequest,
    response: connection.BeginAppRegistrationResponse,
    errors: ['GIT_HOST_NOT_ALLOWED', 'HOST_ALREADY_CONNECTED', 'SECRET_KEY_MISSING'] as readonly ErrorCode[],
  },
  finishAppRegistration: {
    ...admin,
    path: '/v1/finishAppRegistration',
    summary: 'Connect the organization with the App that was registered; it has to be installed next',
    request: connection.FinishAppRegistrationRequest,
    response: connection.FinishAppRegistrationResponse,
    errors: [
      'APP_REGISTRATION_UNKNOWN',
      'GIT_HOST_NOT_ALLOWED',
      'HOST_ALREADY_CONNECTED',
      'CREDENTIALS_REFUSED',
      'SECRET_KEY_MISSING',
      'HOST_ERROR',
    ] as readonly ErrorCode[],
  },
  useInstallations: {
    ...admin,
    path: '/v1/useInstallations',
    summary: 'Have a connection use the installations of its App',
    request: connection.UseInstallationsRequest,
    response: connection.ConnectHostResponse,
    errors: [
      'CONNECTION_NOT_FOUND',
      'CREDENTIALS_REFUSED',
      'SECRET_KEY_MISSING',
      'HOST_ERROR',
    ] as readonly ErrorCode[],
  },
  getHostAccess: {
    ...admin,
    path: '/v1/getHostAccess',
    summary: 'Ask a connected Git host what Signalbox may do there, and in which repositories',
    request: connection.GetHostAccessRequest,
    response: connection.GetHostAccessResponse,
    errors: ['CONNECTION_NOT_FOUND', 'HOST_ERROR'] as readonly ErrorCode[],
  },
  deleteHostConnection: {
    ...admin,
    path: '/v1/deleteHostConnection',
    summary:
      'Remove a connection to a Git host and its credentials; its queues stop until the host is connected again',
    request: connection.DeleteHostConnectionRequest,
    response: connection.DeleteHostConnectionResponse,
    errors: ['CONNECTION_NOT_FOUND'] as readonly ErrorCode[],
  },
} as const;

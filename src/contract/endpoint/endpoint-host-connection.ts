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

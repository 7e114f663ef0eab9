// Connections of an organization to Git hosts, for its admins.

import { removeConnection } from '#command/connection.ts';
import type { RequestOf } from '#contract/endpoint/endpoint.ts';
import { listConnections } from '#db/account/connection-change-store.ts';
import { type Credentials, githubAppCredentials } from '#host/connection.ts';
import { auditorFrom, type Handlers } from '../endpoint/context.ts';
import {
  asConnectError,
  connect,
  noConnection,
  presentAccess,
  presentConnection,
  requireConnectable,
  requireConnection,
} from '../endpoint/git-host.ts';
import { requireSecretKey } from '../guard/secret-key.ts';

const credentialsFrom = ({ credentials }: RequestOf<'connectHost'>): Credentials =>
  credentials.kind === 'token' ? credentials : githubAppCredentials(credentials);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const hostConnectionHandlers: Handlers<
  'listHostConnections' | 'connectHost' | 'getHostAccess' | 'deleteHostConnection'
> = {
  listHostConnections: async (context) => {
    const rows = await listConnections(context.cell.reader, context.scope.principal.organizationId);
    return {
      connections: rows.map((row) => presentConnection(context, row)),
      connectable: [...context.deps.config.gitHosts],
    };
  },

  connectHost: async (context, input) => {
    // Before anything is asked of the host.
    requireSecretKey(context);
    return connect(context, await requireConnectable(context, input), credentialsFrom(input));
  },

  getHostAccess: async (context, { connectionId }) => {
    const { host_key: name, url } = await requireConnection(context, connectionId);
    const { cell, deps, scope } = context;
    const host = deps.hostFor(cell.name, name);
    if (host === null) throw noConnection(connectionId);
    try {
      return presentAccess(await host.readAccess(scope.principal.organizationId));
    } catch (error) {
      throw asConnectError(error, url);
    }
  },

  deleteHostConnection: async (context, { connectionId: id }) => {
    const row = uuid.test(id) ? await removeConnection(context.cell, auditorFrom(context), id) : null;
    if (row === null) throw noConnection(id);
    return { connection: presentConnection(context, row) };
  },
};

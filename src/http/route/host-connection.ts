// Connections of an organization to Git hosts, for its admins.

import { appError } from '#base/error.ts';
import { removeConnection } from '#command/connection.ts';
import type { HostConnection } from '#contract/host-connection.ts';
import { type ConnectionRow, listConnections } from '#db/account/connection-change-store.ts';
import { hookUrl } from '#host/connection.ts';
import { auditorFrom, type Context, type Handlers } from '../endpoint/context.ts';

const present = ({ cell, deps }: Context, row: ConnectionRow): HostConnection => ({
  id: row.id,
  kind: row.kind,
  host: row.host_key,
  url: row.url,
  webhookUrl: hookUrl(deps.config.publicUrl, cell.name, row.id),
  createdAt: row.created_at.toISOString(),
  previousSecretUntil: row.previous_secret_until?.toISOString() ?? null,
});

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const hostConnectionHandlers: Handlers<'listHostConnections' | 'deleteHostConnection'> = {
  listHostConnections: async (context) => {
    const rows = await listConnections(context.cell.reader, context.scope.principal.organizationId);
    return { connections: rows.map((row) => present(context, row)) };
  },

  deleteHostConnection: async (context, { connectionId: id }) => {
    const row = uuid.test(id) ? await removeConnection(context.cell, auditorFrom(context), id) : null;
    if (row === null)
      throw appError('CONNECTION_NOT_FOUND', {
        public: `The organization has no connection ${id} to a Git host. List them with listHostConnections.`,
      });
    return { connection: present(context, row) };
  },
};

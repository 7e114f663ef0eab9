// Connections of an organization to Git hosts, for its admins.

import { appError } from '#base/error.ts';
import { withoutTrailing } from '#base/text.ts';
import { connectHost, removeConnection } from '#command/connection.ts';
import type { RequestOf } from '#contract/endpoint/endpoint.ts';
import type { HostConnection } from '#contract/host-connection.ts';
import { type ConnectionRow, listConnections } from '#db/account/connection-change-store.ts';
import { listHostUses } from '#db/account/connection-store.ts';
import { type Credentials, githubAppCredentials, hookUrl } from '#host/connection.ts';
import { HostError } from '#host/host.ts';
import type { HostAccess } from '#host/host-access.ts';
import { findKindByName, hostKindNames, hostKinds, type HostKindName, isHostKind } from '#host/kinds.ts';
import { auditorFrom, type Context, type Handlers } from '../endpoint/context.ts';
import { requireSecretKey } from '../guard/secret-key.ts';

const present = ({ cell, deps }: Context, row: ConnectionRow): HostConnection => ({
  id: row.id,
  kind: row.kind,
  host: row.host_key,
  url: row.url,
  webhookUrl: hookUrl(deps.config.publicUrl, cell.name, row.id),
  createdAt: row.created_at.toISOString(),
  previousSecretUntil: row.previous_secret_until?.toISOString() ?? null,
});

const presentAccess = ({ missing, repositories, ...access }: HostAccess) => ({
  ...access,
  missing: [...missing],
  repositories: [...repositories],
});

type ConnectRequest = RequestOf<'connectHost'> & { readonly kind: HostKindName };

function requireKnownKind({ kind, ...input }: RequestOf<'connectHost'>): ConnectRequest {
  if (isHostKind(kind)) return { ...input, kind, url: withoutTrailing(input.url, '/') };
  const message = `must be one of ${hostKindNames.join(', ')}`;
  throw appError('VALIDATION_FAILED', {
    public: `The kind of Git host ${message}.`,
    details: [{ path: 'kind', message }],
  });
}

/**
 * The host name of the URL, if the operator lets administrators connect it. What a name is in this cell is the same for all
 * organizations: no one can make another program answer for a host that others are connected to.
 */
async function requireConnectable({ cell, deps }: Context, { kind, url }: ConnectRequest): Promise<string> {
  const refuse = (why: string) => appError('GIT_HOST_NOT_ALLOWED', { public: why });
  const { gitHosts } = deps.config;
  if (!gitHosts.includes(url))
    throw refuse(
      `Administrators can connect ${gitHosts.join(', ') || 'no Git host'} here, and not ${url}. The operator of Signalbox can add it to SIGNALBOX_GIT_HOSTS, or connect it with \`signalbox admin connect\`.`,
    );
  const name = new URL(url).host.toLowerCase();
  const known = findKindByName(name);
  if (known !== null && known !== kind)
    throw refuse(`${name} is ${hostKinds[known].title}. Use the kind ${known}.`);
  const others = await listHostUses(cell.reader, name);
  if (others.some((other) => other.kind !== kind || other.url !== url))
    throw refuse(
      `${name} is connected as another kind of Git host, or at another URL. Disconnect it first with \`signalbox admin disconnect\`.`,
    );
  return name;
}

const credentialsFrom = ({ credentials }: ConnectRequest): Credentials =>
  credentials.kind === 'token' ? credentials : githubAppCredentials(credentials);

/** What the credentials are good for, before they are stored. */
async function checkCredentials(
  context: Context,
  host: string,
  { kind, url }: ConnectRequest,
  credentials: Credentials,
): Promise<HostAccess> {
  const { organizationId } = context.scope.principal;
  const create = await hostKinds[kind].load();
  const connection = { id: 'new', organizationId, host, url, credentials };
  const connections = { find: () => Promise.resolve(connection), save: () => Promise.resolve() };
  const budget = { take: () => Promise.resolve(null), used: () => Promise.resolve({ hour: 0, minute: 0 }) };
  const { clock, log } = context.deps;
  try {
    return await create({ host, connections, clock, log, budget }).readAccess(organizationId);
  } catch (error) {
    throw asConnectError(error, url);
  }
}

function asConnectError(error: unknown, url: string): unknown {
  if (!(error instanceof HostError)) return error;
  if (error.trouble === 'forbidden')
    return appError('CREDENTIALS_REFUSED', { public: error.message, cause: error });
  return appError('HOST_ERROR', {
    public: `${error.message} Check that Signalbox can reach ${url}, then try again.`,
    cause: error,
  });
}

async function requireConnection(context: Context, id: string): Promise<ConnectionRow> {
  const rows = await listConnections(context.cell.reader, context.scope.principal.organizationId);
  const row = rows.find((one) => one.id === id);
  if (row === undefined) throw noConnection(id);
  return row;
}

const noConnection = (id: string) =>
  appError('CONNECTION_NOT_FOUND', {
    public: `The organization has no connection ${id} to a Git host. List them with listHostConnections.`,
  });

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const hostConnectionHandlers: Handlers<
  'listHostConnections' | 'connectHost' | 'getHostAccess' | 'deleteHostConnection'
> = {
  listHostConnections: async (context) => {
    const rows = await listConnections(context.cell.reader, context.scope.principal.organizationId);
    return {
      connections: rows.map((row) => present(context, row)),
      connectable: [...context.deps.config.gitHosts],
    };
  },

  connectHost: async (context, input) => {
    const request = requireKnownKind(input);
    const key = requireSecretKey(context);
    const host = await requireConnectable(context, request);
    const credentials = credentialsFrom(request);
    const access = await checkCredentials(context, host, request, credentials);
    const { cell, deps } = context;
    const { kind, url } = request;
    const { id } = await connectHost(cell, key, auditorFrom(context), {
      kind,
      url,
      host,
      appId: credentials.kind === 'github-app' ? credentials.appId : null,
      credentials: JSON.stringify(credentials),
      credentialsKind: credentials.kind,
    });
    // The next request may already be about one of its repositories.
    await deps.refreshHosts();
    return {
      connection: present(context, await requireConnection(context, id)),
      access: presentAccess(access),
    };
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
    return { connection: present(context, row) };
  },
};

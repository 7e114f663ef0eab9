// Connecting an organization to a Git host: which hosts may be connected, what credentials are good for, and how both are
// presented.

import { appError } from '#base/error.ts';
import { withoutTrailing } from '#base/text.ts';
import { connectHost } from '#command/connection.ts';
import type { HostConnection } from '#contract/host-connection.ts';
import { type ConnectionRow, listConnections } from '#db/account/connection-change-store.ts';
import { listHostUses } from '#db/account/connection-store.ts';
import { type Credentials, hookUrl } from '#host/connection.ts';
import { HostError } from '#host/host.ts';
import type { HostAccess } from '#host/host-access.ts';
import { findKindByName, hostKindNames, hostKinds, type HostKindName, isHostKind } from '#host/kinds.ts';
import { requireSecretKey } from '../guard/secret-key.ts';
import { auditorFrom, type Context } from './context.ts';

export type GitHost = {
  readonly kind: HostKindName;
  /** Without a slash at its end. */
  readonly url: string;
  /** As repositories name it. */
  readonly name: string;
};

export const presentConnection = ({ cell, deps }: Context, row: ConnectionRow): HostConnection => ({
  id: row.id,
  kind: row.kind,
  host: row.host_key,
  url: row.url,
  webhookUrl: hookUrl(deps.config.publicUrl, cell.name, row.id),
  createdAt: row.created_at.toISOString(),
  previousSecretUntil: row.previous_secret_until?.toISOString() ?? null,
});

export const presentAccess = ({ missing, repositories, app, ...access }: HostAccess) => ({
  ...access,
  missing: [...missing],
  repositories: [...repositories],
  app: app && { ...app, installations: [...app.installations] },
});

function requireKind(kind: string): HostKindName {
  if (isHostKind(kind)) return kind;
  const message = `must be one of ${hostKindNames.join(', ')}`;
  throw appError('VALIDATION_FAILED', {
    public: `The kind of Git host ${message}.`,
    details: [{ path: 'kind', message }],
  });
}

/**
 * The Git host at this URL, if the operator lets administrators connect it. What a name is in this cell is the same for all
 * organizations: no one can make another program answer for a host that others are connected to.
 */
export async function requireConnectable(
  { cell, deps }: Context,
  given: { readonly kind: string; readonly url: string },
): Promise<GitHost> {
  const kind = requireKind(given.kind);
  const url = withoutTrailing(given.url, '/');
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
  return { kind, url, name };
}

/** What these credentials are good for, stored or not. */
export async function readAccess(
  { deps, scope }: Context,
  { kind, url, name: host }: GitHost,
  credentials: Credentials,
): Promise<HostAccess> {
  const { organizationId } = scope.principal;
  const create = await hostKinds[kind].load();
  const connection = { id: 'new', organizationId, host, url, credentials };
  const connections = { find: () => Promise.resolve(connection), save: () => Promise.resolve() };
  const budget = { take: () => Promise.resolve(null), used: () => Promise.resolve({ hour: 0, minute: 0 }) };
  const { clock, log } = deps;
  try {
    return await create({ host, connections, clock, log, budget }).readAccess(organizationId);
  } catch (error) {
    throw asConnectError(error, url);
  }
}

/** Stores credentials after the Git host has accepted them. */
export async function connect(context: Context, host: GitHost, credentials: Credentials) {
  // Before the Git host is asked: without the key nothing can be stored.
  requireSecretKey(context);
  const access = presentAccess(await readAccess(context, host, credentials));
  return { connection: await storeCredentials(context, host, credentials), access };
}

export async function storeCredentials(
  context: Context,
  host: GitHost,
  credentials: Credentials,
): Promise<HostConnection> {
  const key = requireSecretKey(context);
  const { cell, deps } = context;
  const { kind, url, name } = host;
  const { id } = await connectHost(cell, key, auditorFrom(context), {
    kind,
    url,
    host: name,
    appId: credentials.kind === 'github-app' ? credentials.appId : null,
    credentials: JSON.stringify(credentials),
    credentialsKind: credentials.kind,
  });
  // The next request may already be about one of its repositories.
  await deps.refreshHosts();
  return presentConnection(context, await requireConnection(context, id));
}

export function asConnectError(error: unknown, url: string): unknown {
  if (!(error instanceof HostError)) return error;
  if (error.trouble === 'forbidden')
    return appError('CREDENTIALS_REFUSED', { public: error.message, cause: error });
  return appError('HOST_ERROR', {
    public: `${error.message} Check that Signalbox can reach ${url}, then try again.`,
    cause: error,
  });
}

export async function requireConnection(context: Context, id: string): Promise<ConnectionRow> {
  const rows = await listConnections(context.cell.reader, context.scope.principal.organizationId);
  const row = rows.find((one) => one.id === id);
  if (row === undefined) throw noConnection(id);
  return row;
}

export const noConnection = (id: string) =>
  appError('CONNECTION_NOT_FOUND', {
    public: `The organization has no connection ${id} to a Git host. List them with listHostConnections.`,
  });

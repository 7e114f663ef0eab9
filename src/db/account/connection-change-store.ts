// Changes of host_connection after its creation: the webhook secret is replaced, the credentials are
// encrypted with another key, or the connection is removed. The commands are in command/connection.ts.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type ConnectionRow = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  /** A name of the table in host/kinds.ts. */
  readonly kind: string;
  readonly host_key: string;
  readonly url: string;
  /** Of a GitHub App: its connections share one webhook. */
  readonly app_id: number | null;
  readonly created_at: Date;
  /** Until when the previous secret is accepted; null: there is none. */
  readonly previous_secret_until: Date | null;
};

const columns = `id, organization_id, kind, host_key, url, app_id::float8 as app_id, created_at,
  case when previous_secret_until > now() then previous_secret_until end as previous_secret_until`;

const selectConnections = statement<[organizationId: string], ConnectionRow>(`
  select ${columns} from host_connection where organization_id = $1 and kind <> 'sandbox' order by host_key, id`);

/** Connections to real Git hosts. */
export const listConnections = (db: Tx, organizationId: OrganizationId): Promise<readonly ConnectionRow[]> =>
  selectConnections(db, organizationId);

const remove = statement<[organizationId: string, id: string], ConnectionRow>(`
  delete from host_connection where organization_id = $1 and id = $2 and kind <> 'sandbox' returning ${columns}`);

/** Null: there is none. */
export async function deleteConnection(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<ConnectionRow | null> {
  return (await remove(tx, organizationId, id))[0] ?? null;
}

// An App has one webhook with one secret, so all connections of an App get the new one.
const updateSecret = statement<
  [organizationId: string, host: string, secret: string, acceptHours: number],
  ConnectionRow
>(`
  update host_connection c set previous_webhook_secret = c.webhook_secret, webhook_secret = $3,
    previous_secret_until = now() + make_interval(hours => $4::int)
  from host_connection named
  where named.organization_id = $1 and named.host_key = $2 and named.kind <> 'sandbox'
    and (c.id = named.id or c.host_key = named.host_key and c.app_id = named.app_id)
  returning c.id, c.organization_id, c.kind, c.host_key, c.url, c.app_id::float8 as app_id, c.created_at,
    c.previous_secret_until`);

/** Returns every connection with the new secret; the previous secret is accepted for this many hours. */
export const replaceHookSecret = (
  tx: Tx,
  organizationId: OrganizationId,
  host: string,
  secret: string,
  acceptHours: number,
): Promise<readonly ConnectionRow[]> => updateSecret(tx, organizationId, host, secret, acceptHours);

const selectHooked = statement<
  [organizationId: string, host: string, most: number | null],
  { id: RepositoryId }
>(`
  select r.id from repository r
  where r.organization_id = $1 and r.host_key = $2 and not r.is_sandbox
    and exists (select from queue q where q.repository_id = r.id and q.deleted_at is null)
  order by r.id limit $3`);

/** The repositories with a queue, whose webhooks are those of the connection; of an App one is enough. */
export async function listHookedRepositories(
  tx: Tx,
  {
    organizationId,
    host,
    isApp,
  }: { readonly organizationId: OrganizationId; readonly host: string; readonly isApp: boolean },
): Promise<readonly RepositoryId[]> {
  return (await selectHooked(tx, organizationId, host, isApp ? 1 : null)).map(({ id }) => id);
}

const selectOfApp = statement<[host: string, appId: number], ConnectionRow>(
  `select ${columns} from host_connection where host_key = $1 and app_id = $2 order by id`,
);

/** The connections that share the webhook of an App. */
export const listConnectionsOfApp = (
  tx: Tx,
  host: string,
  appId: number,
): Promise<readonly ConnectionRow[]> => selectOfApp(tx, host, appId);

type Sealed = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  readonly name: string;
  readonly credentials: Buffer;
};

/** The tables with encrypted credentials; `action`: the audit log's name for encrypting them again. */
export const sealedTables = [
  {
    action: 'host.rotate-key',
    list: statement<[], { id: string }>('select id from host_connection where credentials is not null'),
    lock: statement<[id: string], Sealed>(`
      select id, organization_id, host_key as name, credentials from host_connection
      where id = $1 and credentials is not null for update`),
    write: statement<[id: string, credentials: Buffer]>(
      'update host_connection set credentials = $2 where id = $1',
    ),
  },
  {
    action: 'webhook.rotate-key',
    list: statement<[], { id: string }>('select id from webhook_endpoint where deleted_at is null'),
    lock: statement<[id: string], Sealed>(`
      select id, organization_id, name, credentials from webhook_endpoint
      where id = $1 and deleted_at is null for update`),
    write: statement<[id: string, credentials: Buffer]>(
      'update webhook_endpoint set credentials = $2 where id = $1',
    ),
  },
];

// Changes of host_connection after its creation: the webhook secret is replaced, the credentials are
// encrypted with another key, or the connection is removed. The commands are in command/connection.ts.

import type { OrganizationId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type ConnectionRow = {
  readonly id: string;
  readonly organization_id: OrganizationId;
  /** A name of the table in host/kinds.ts. */
  readonly kind: string;
  readonly host_key: string;
  readonly url: string;
  readonly created_at: Date;
  /** Until when the previous secret is accepted; null: there is none. */
  readonly previous_secret_until: Date | null;
};

const columns = `id, organization_id, kind, host_key, url, created_at,
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
  returning c.id, c.organization_id, c.kind, c.host_key, c.url, c.created_at, c.previous_secret_until`);

/** Returns every connection with the new secret; the previous secret is accepted for this many hours. */
export const replaceHookSecret = (
  tx: Tx,
  organizationId: OrganizationId,
  host: string,
  secret: string,
  acceptHours: number,
): Promise<readonly ConnectionRow[]> => updateSecret(tx, organizationId, host, secret, acceptHours);

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

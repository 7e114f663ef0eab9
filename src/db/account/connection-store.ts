// Writes host_connection: the connections of organizations to hosts, with encrypted credentials (`seal.ts`).

import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { OrganizationId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { seal, type SecretKey, unseal } from '../seal.ts';
import { statement } from '../statement.ts';

/** As the webhook receiver needs it. */
export type Connection = {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly host: string;
  readonly webhookSecret: string;
  /** The previous secret, while it is still accepted. */
  readonly previousSecret?: string | null;
  /** Other organizations with connections of the same App: an App has one webhook for all. */
  readonly sharedWith?: readonly OrganizationId[];
};

type HostConnectionRow = {
  id: string;
  organization_id: string;
  kind: string;
  host_key: string;
  url: string;
  webhook_secret: string;
  credentials: Buffer | null;
};

const columns = 'id, organization_id, kind, host_key, url, webhook_secret, credentials';

const selectById = statement<
  [id: string],
  HostConnectionRow & { shared_with: OrganizationId[] | null; previous_secret: string | null }
>(`
  select ${columns}, case when previous_secret_until > now() then previous_webhook_secret end as previous_secret, (select array_agg(distinct o.organization_id) from host_connection o
    where o.app_id = c.app_id and o.host_key = c.host_key and o.organization_id <> c.organization_id) as shared_with
  from host_connection c where id = $1`);

export async function findConnection(db: Tx, id: string): Promise<Connection | null> {
  const [row] = await selectById(db, id);
  if (row === undefined) return null;
  return {
    id: row.id,
    organizationId: row.organization_id as OrganizationId,
    host: row.host_key,
    webhookSecret: row.webhook_secret,
    previousSecret: row.previous_secret,
    sharedWith: row.shared_with ?? [],
  };
}

// Every organization has a sandbox connection; whether it serves anything is an installation setting.
const insertSandbox = statement<[id: string, organizationId: string, secret: string]>(`
  insert into host_connection (id, organization_id, kind, host_key, webhook_secret) values ($1, $2, 'sandbox', '*', $3)
  on conflict (organization_id, kind, host_key) do nothing`);

const selectSandbox = statement<[organizationId: string], { id: string; webhook_secret: string }>(`
  select id, webhook_secret from host_connection
  where organization_id = $1 and kind = 'sandbox' and host_key = '*'`);

const newSecret = (): string => randomBytes(32).toString('base64url');

/** The connection for the sandbox webhooks of an organization, created if missing. */
export async function ensureSandboxConnection(
  db: Tx,
  organizationId: OrganizationId,
): Promise<{ readonly id: string; readonly secret: string }> {
  const [known] = await selectSandbox(db, organizationId);
  if (known !== undefined) return { id: known.id, secret: known.webhook_secret };
  await insertSandbox(db, newId(), organizationId, newSecret());
  const [made] = await selectSandbox(db, organizationId);
  return { id: made!.id, secret: made!.webhook_secret };
}

const selectHosts = statement<[], { host_key: string; kind: string | null }>(`
  select host_key, kind from host_connection where kind <> 'sandbox'
  union select host_key, null from repository where not is_sandbox`);

/** Every name of a real Git host: with its kind for a connection, with null for a known repository. */
export async function listHosts(
  db: Tx,
): Promise<readonly { readonly host: string; readonly kind: string | null }[]> {
  return (await selectHosts(db)).map((row) => ({ host: row.host_key, kind: row.kind }));
}

const selectIsReal = statement<[host: string | null], { is_real: boolean }>(`
  select exists (select from host_connection where kind <> 'sandbox' and ($1::text is null or host_key = $1))
    or exists (select from repository where not is_sandbox and ($1::text is null or host_key = $1)) as is_real`);

/** Whether a real Git host has a connection or a repository under this name; null: under any name. */
export async function isRealHost(db: Tx, host: string | null): Promise<boolean> {
  const [row] = await selectIsReal(db, host);
  return row!.is_real;
}

const selectByHost = statement<[organizationId: string, host: string], HostConnectionRow>(
  `select ${columns} from host_connection where organization_id = $1 and host_key = $2 and kind <> 'sandbox'`,
);

export type ConnectionHook = {
  readonly id: string;
  readonly webhookSecret: string;
  /** Other connections of the same App, whose webhook it shares. */
  readonly sharing: readonly string[];
};

const selectHook = statement<
  [organizationId: string, host: string],
  { id: string; webhook_secret: string; sharing: string[] }
>(`
  select c.id, c.webhook_secret, array(select o.id::text from host_connection o
    where o.app_id = c.app_id and o.host_key = c.host_key and o.id <> c.id) as sharing
  from host_connection c where c.organization_id = $1 and c.host_key = $2 and c.kind <> 'sandbox'`);

/** What the webhook of a connection to a real host must be; null: there is no connection. */
export async function findConnectionHook(
  db: Tx,
  organizationId: OrganizationId,
  host: string,
): Promise<ConnectionHook | null> {
  const [row] = await selectHook(db, organizationId, host);
  return row === undefined ? null : { id: row.id, webhookSecret: row.webhook_secret, sharing: row.sharing };
}

export type OpenedConnection = Connection & {
  readonly url: string;
  /** As JSON; null: the key cannot decrypt them. */
  readonly credentials: string | null;
};

export async function openConnection(
  db: Tx,
  key: SecretKey,
  organizationId: OrganizationId,
  host: string,
): Promise<OpenedConnection | null> {
  const [row] = await selectByHost(db, organizationId, host);
  if (row === undefined) return null;
  return {
    id: row.id,
    organizationId,
    host: row.host_key,
    webhookSecret: row.webhook_secret,
    url: row.url,
    credentials: row.credentials === null ? null : unseal(key, row.id, row.credentials),
  };
}

const selectUses = statement<[host: string], { kind: string; url: string }>(
  `select distinct kind, url from host_connection where host_key = $1 and kind <> 'sandbox'`,
);

/** How the connections of all organizations to a host of this name reach it. */
export const listHostUses = (
  db: Tx,
  host: string,
): Promise<readonly { readonly kind: string; readonly url: string }[]> => selectUses(db, host);

export type NewConnection = {
  readonly organizationId: OrganizationId;
  /** A name of the table in host/kinds.ts. */
  readonly kind: string;
  readonly host: string;
  readonly url: string;
  /** Of a GitHub App; absent or null: the connection uses none. */
  readonly appId?: number | null;
  /** As JSON. */
  readonly credentials: string;
};

const selectSecretOfApp = statement<[host: string, appId: number], { webhook_secret: string }>(`
  select webhook_secret from host_connection where host_key = $1 and app_id = $2 order by created_at limit 1`);

const insertConnection = statement<
  [id: string, organizationId: string, kind: string, host: string, url: string, secret: string]
>(`
  insert into host_connection (id, organization_id, kind, host_key, url, webhook_secret)
  values ($1, $2, $3, $4, $5, $6)`);

const updateConnection = statement<[id: string, url: string, credentials: Buffer, appId: number | null]>(
  'update host_connection set url = $2, credentials = $3, app_id = $4 where id = $1',
);

const claimRepositories = statement<[host: string]>(
  'update repository set is_sandbox = false where host_key = $1 and is_sandbox',
);

/**
 * Creates the connection, or replaces its credentials; its webhook URL and secret stay as they are. From then
 * on the repositories with this host name are those of the real Git host.
 */
export async function saveConnection(tx: Tx, key: SecretKey, connection: NewConnection): Promise<Connection> {
  const { organizationId, kind, host, url, credentials } = connection;
  const [known] = await selectByHost(tx, organizationId, host);
  const id = known?.id ?? newId();
  const appId = connection.appId ?? null;
  // An App has one webhook, with one secret: connections of one App share it.
  const [sameApp] = known !== undefined || appId === null ? [] : await selectSecretOfApp(tx, host, appId);
  const webhookSecret = known?.webhook_secret ?? sameApp?.webhook_secret ?? newSecret();
  if (known === undefined) await insertConnection(tx, id, organizationId, kind, host, url, webhookSecret);
  await updateConnection(tx, id, url, seal(key, id, credentials), appId);
  await claimRepositories(tx, host);
  return { id, organizationId, host, webhookSecret };
}

const updateCredentials = statement<[id: string, credentials: Buffer]>(
  'update host_connection set credentials = $2 where id = $1',
);

export async function saveCredentials(
  db: Tx,
  key: SecretKey,
  id: string,
  credentials: string,
): Promise<void> {
  await updateCredentials(db, id, seal(key, id, credentials));
}

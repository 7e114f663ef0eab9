// Writes webhook_endpoint, and lists the endpoints. The commands are in command/webhook-endpoint.ts. The URL
// and the secret are encrypted (`seal.ts`): a URL may be a secret itself.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { type SecretKey, unseal } from '../seal.ts';
import { statement } from '../statement.ts';

/** For programs, or a message for people. */
export type EndpointKind = 'webhook' | 'slack' | 'teams';

/** The encrypted part. */
export type EndpointCredentials = {
  readonly url: string;
  readonly secret: string;
  /** Until then deliveries are signed with it too, so that receivers can change over. */
  readonly previous: { readonly secret: string; readonly until: string } | null;
};

type EndpointRow = {
  readonly id: string;
  readonly organization_id: string;
  readonly kind: EndpointKind;
  readonly name: string;
  readonly shown_url: string;
  readonly event_types: readonly string[];
  readonly repository_ids: readonly string[] | null;
  readonly created_at: Date;
  readonly created_by: string;
  readonly disabled_at: Date | null;
  readonly disabled_reason: string | null;
  readonly last_success_at: Date | null;
  readonly failing_since: Date | null;
  readonly last_failure: string | null;
  readonly paused_until: Date | null;
};

/** With the names of the repositories it is limited to, and the number of pending deliveries. */
export type EndpointView = EndpointRow & {
  readonly repositories: readonly { readonly host: string; readonly owner: string; readonly name: string }[];
  readonly pending: number;
};

const columns = `w.id, w.organization_id, w.kind, w.name, w.shown_url, w.event_types, w.repository_ids, w.created_at,
  w.created_by, w.disabled_at, w.disabled_reason, w.last_success_at, w.failing_since, w.last_failure, w.paused_until`;

/** Pending deliveries are counted up to this number. */
const pendingCountMax = 10_000;

const viewColumns = `${columns},
  coalesce((select json_agg(json_build_object('host', r.host, 'owner', r.owner, 'name', r.name) order by r.owner, r.name)
    from repository r where r.id = any (w.repository_ids)), '[]') as repositories,
  (select count(*) from (select from webhook_delivery d where d.endpoint_id = w.id and d.status = 'pending'
    limit ${pendingCountMax}) waiting)::int as pending`;

const selectEndpoints = statement<[organizationId: string], EndpointView>(`
  select ${viewColumns} from webhook_endpoint w
  where w.organization_id = $1 and w.deleted_at is null order by w.created_at, w.id`);

/** Oldest first; there are never many (endpointsMax). */
export const listEndpoints = (db: Tx, organizationId: OrganizationId): Promise<EndpointView[]> =>
  selectEndpoints(db, organizationId);

const selectEndpoint = statement<[organizationId: string, id: string], EndpointView>(`
  select ${viewColumns} from webhook_endpoint w
  where w.organization_id = $1 and w.id = $2 and w.deleted_at is null`);

export async function findEndpoint(
  db: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<EndpointView | null> {
  return (await selectEndpoint(db, organizationId, id))[0] ?? null;
}

// The organization's row is locked, so that two concurrent creations cannot both pass the limit.
const lockOrganization = statement<[id: string]>('select from organization where id = $1 for no key update');
const selectCount = statement<[organizationId: string], { count: number }>(
  'select count(*)::int as count from webhook_endpoint where organization_id = $1 and deleted_at is null',
);

/** The number stays the same until the transaction ends. */
export async function countEndpoints(tx: Tx, organizationId: OrganizationId): Promise<number> {
  await lockOrganization(tx, organizationId);
  return (await selectCount(tx, organizationId))[0]!.count;
}

const insert = statement<
  [
    id: string,
    organizationId: string,
    kind: string,
    name: string,
    shownUrl: string,
    credentials: Buffer,
    eventTypes: readonly string[],
    repositoryIds: readonly string[] | null,
    at: Date,
    by: string,
  ]
>(`
  insert into webhook_endpoint (id, organization_id, kind, name, shown_url, credentials, event_types, repository_ids,
    created_at, created_by)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`);

type NewEndpoint = {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly kind: EndpointKind;
  readonly name: string;
  readonly shownUrl: string;
  readonly credentials: Buffer;
  readonly eventTypes: readonly string[];
  readonly repositoryIds: readonly RepositoryId[] | null;
  readonly createdAt: Date;
  readonly createdBy: string;
};

export const insertEndpoint = (tx: Tx, endpoint: NewEndpoint): Promise<unknown> => {
  const { id, organizationId, kind, name, shownUrl, credentials, eventTypes, repositoryIds } = endpoint;
  const { createdAt, createdBy } = endpoint;
  return insert(
    tx,
    id,
    organizationId,
    kind,
    name,
    shownUrl,
    credentials,
    eventTypes,
    repositoryIds,
    createdAt,
    createdBy,
  );
};

const selectCredentials = statement<[id: string], { credentials: Buffer }>(
  'select credentials from webhook_endpoint where id = $1 and deleted_at is null for update',
);

/** The encrypted credentials, locked until the transaction ends; null: there is no such endpoint. */
export async function lockCredentials(tx: Tx, id: string): Promise<Buffer | null> {
  return (await selectCredentials(tx, id))[0]?.credentials ?? null;
}

/** Null: the key cannot decrypt them. */
export function openCredentials(key: SecretKey, id: string, sealed: Buffer): EndpointCredentials | null {
  const text = unseal(key, id, sealed);
  return text === null ? null : (JSON.parse(text) as EndpointCredentials);
}

const update = statement<
  [
    id: string,
    name: string,
    shownUrl: string,
    credentials: Buffer,
    eventTypes: readonly string[],
    repositoryIds: readonly string[] | null,
    disabledAt: Date | null,
    disabledReason: string | null,
  ]
>(`
  update webhook_endpoint set name = $2, shown_url = $3, credentials = $4, event_types = $5, repository_ids = $6,
    disabled_at = $7, disabled_reason = $8,
    -- Enabling it, or changing its URL, resets its failures.
    failing_since = case when $7::timestamptz is null and (disabled_at is not null or shown_url <> $3) then null else failing_since end,
    failures_in_row = case when $7::timestamptz is null and (disabled_at is not null or shown_url <> $3) then 0 else failures_in_row end,
    paused_until = case when $7::timestamptz is null and (disabled_at is not null or shown_url <> $3) then null else paused_until end
  where id = $1`);

type EndpointValues = {
  readonly name: string;
  readonly shownUrl: string;
  readonly credentials: Buffer;
  readonly eventTypes: readonly string[];
  readonly repositoryIds: readonly string[] | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: string | null;
};

export const updateEndpoint = (tx: Tx, id: string, values: EndpointValues): Promise<unknown> => {
  const { name, shownUrl, credentials, eventTypes, repositoryIds, disabledAt, disabledReason } = values;
  return update(tx, id, name, shownUrl, credentials, eventTypes, repositoryIds, disabledAt, disabledReason);
};

const markDeleted = statement<[id: string, at: Date]>(`
  update webhook_endpoint set deleted_at = $2, disabled_at = coalesce(disabled_at, $2), credentials = '' where id = $1`);

export const markEndpointDeleted = (tx: Tx, id: string, at: Date): Promise<unknown> =>
  markDeleted(tx, id, at);

const updateDisabled = statement<[id: string, at: Date, reason: string], EndpointRow>(`
  update webhook_endpoint w set disabled_at = $2, disabled_reason = $3
  where w.id = $1 and w.disabled_at is null returning ${columns}`);

/** Null: the endpoint is disabled already. */
export async function markEndpointDisabled(
  tx: Tx,
  id: string,
  at: Date,
  reason: string,
): Promise<EndpointRow | null> {
  return (await updateDisabled(tx, id, at, reason))[0] ?? null;
}

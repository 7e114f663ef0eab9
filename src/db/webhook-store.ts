// Writes webhook_endpoint as people ask for it, each time with a line in the audit log, and reads the list of them. The
// address and the secret are sealed (seal.ts): an address may be a secret itself.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { type Auditor, recordAudit } from './audit-store.ts';
import type { Cell, Tx } from './cell.ts';
import { seal, type SecretKey, unseal } from './seal.ts';
import { statement } from './statement.ts';
import { withTransaction } from './transaction.ts';

/** For programs, or a message for people. */
export type EndpointKind = 'webhook' | 'slack' | 'teams';

/** What is sealed. */
export type Credentials = {
  readonly url: string;
  readonly secret: string;
  /** Signed with too until then, so that receivers can change over. */
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

/** With what it is limited to by name, and how much waits for it. */
export type EndpointView = EndpointRow & {
  readonly repositories: readonly { readonly host: string; readonly owner: string; readonly name: string }[];
  readonly pending: number;
};

const columns = `w.id, w.organization_id, w.kind, w.name, w.shown_url, w.event_types, w.repository_ids, w.created_at,
  w.created_by, w.disabled_at, w.disabled_reason, w.last_success_at, w.failing_since, w.last_failure, w.paused_until`;

/** Waiting deliveries are counted so far. */
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

/** Endpoints that an organization may have. */
export const endpointsMax = 50;

// The organization's row is held, so that two at once do not both find room.
const lockOrganization = statement<[id: string]>('select from organization where id = $1 for no key update');
const countEndpoints = statement<[organizationId: string], { count: number }>(
  'select count(*)::int as count from webhook_endpoint where organization_id = $1 and deleted_at is null',
);
const insertEndpoint = statement<
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

export type EndpointWish = {
  readonly kind: EndpointKind;
  readonly name: string;
  readonly eventTypes: readonly string[];
  readonly repositoryIds: readonly RepositoryId[] | null;
};

/** An endpoint as the audit log names it. */
const subjectOf = ({ id, name }: Pick<EndpointRow, 'id' | 'name'>): string => `${name} (${id})`;

const settingsOf = (row: EndpointView) => ({
  kind: row.kind,
  name: row.name,
  url: row.shown_url,
  eventTypes: row.event_types,
  repositories: row.repository_ids === null ? null : row.repositories,
  disabled: row.disabled_at === null ? null : row.disabled_reason,
});

/** As much of an address as may be shown: what follows the host of a chat is its secret. */
function shownUrl(kind: EndpointKind, text: string): string {
  const url = new URL(text);
  return kind === 'webhook'
    ? `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`
    : `${url.origin}/…`;
}

/** Null: the organization has as many as it may have. */
export function createEndpoint(
  cell: Cell,
  key: SecretKey,
  by: Auditor,
  id: string,
  wish: EndpointWish,
  credentials: Credentials,
): Promise<EndpointView | null> {
  return withTransaction(cell, async (tx) => {
    await lockOrganization(tx, by.organizationId);
    const [known] = await countEndpoints(tx, by.organizationId);
    if (known!.count >= endpointsMax) return null;
    const { kind, name, eventTypes, repositoryIds } = wish;
    const shown = shownUrl(kind, credentials.url);
    const sealed = seal(key, id, JSON.stringify(credentials));
    await insertEndpoint(
      tx,
      id,
      by.organizationId,
      kind,
      name,
      shown,
      sealed,
      eventTypes,
      repositoryIds,
      by.now,
      by.actor,
    );
    const row = (await findEndpoint(tx, by.organizationId, id))!;
    const change = {
      action: 'webhook.create',
      subject: subjectOf(row),
      before: null,
      after: settingsOf(row),
    };
    await recordAudit(tx, by, change);
    return row;
  });
}

const selectCredentials = statement<[id: string], { credentials: Buffer }>(
  'select credentials from webhook_endpoint where id = $1 and deleted_at is null for update',
);

/** Null: the key we have does not open them. */
export function openCredentials(key: SecretKey, id: string, sealed: Buffer): Credentials | null {
  const text = unseal(key, id, sealed);
  return text === null ? null : (JSON.parse(text) as Credentials);
}

const updateEndpoint = statement<
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
    -- Who enables it, or leads it elsewhere, lets it begin anew.
    failing_since = case when $7::timestamptz is null and (disabled_at is not null or shown_url <> $3) then null else failing_since end,
    failures_in_row = case when $7::timestamptz is null and (disabled_at is not null or shown_url <> $3) then 0 else failures_in_row end,
    paused_until = case when $7::timestamptz is null and (disabled_at is not null or shown_url <> $3) then null else paused_until end
  where id = $1`);

export type EndpointChange = {
  readonly name?: string;
  readonly url?: string;
  readonly eventTypes?: readonly string[];
  readonly repositoryIds?: readonly RepositoryId[] | null;
  readonly enabled?: boolean;
  /** Given: a new secret; the one before stays good until then. */
  readonly rotate?: { readonly secret: string; readonly previousUntil: Date };
};

type Changed =
  | { readonly kind: 'changed'; readonly row: EndpointView }
  | { readonly kind: 'unknown' }
  /** What is sealed cannot be opened with the key we have. */
  | { readonly kind: 'sealed' };

export function changeEndpoint(
  cell: Cell,
  key: SecretKey,
  by: Auditor,
  id: string,
  change: EndpointChange,
): Promise<Changed> {
  return withTransaction(cell, async (tx): Promise<Changed> => {
    const [held] = await selectCredentials(tx, id);
    const before = await findEndpoint(tx, by.organizationId, id);
    if (held === undefined || before === null) return { kind: 'unknown' };
    const opened = openCredentials(key, id, held.credentials);
    if (opened === null) return { kind: 'sealed' };
    const credentials = changedCredentials(opened, change);
    const isEnabled = change.enabled ?? before.disabled_at === null;
    await updateEndpoint(
      tx,
      id,
      change.name ?? before.name,
      change.url === undefined ? before.shown_url : shownUrl(before.kind, change.url),
      seal(key, id, JSON.stringify(credentials)),
      change.eventTypes ?? before.event_types,
      change.repositoryIds === undefined ? before.repository_ids : change.repositoryIds,
      isEnabled ? null : (before.disabled_at ?? by.now),
      isEnabled ? null : (before.disabled_reason ?? 'An admin disabled it.'),
    );
    const row = (await findEndpoint(tx, by.organizationId, id))!;
    const action = change.rotate === undefined ? 'webhook.update' : 'webhook.rotate';
    const said = { action, subject: subjectOf(row), before: settingsOf(before), after: settingsOf(row) };
    await recordAudit(tx, by, said);
    return { kind: 'changed', row };
  });
}

function changedCredentials(opened: Credentials, { url, rotate }: EndpointChange): Credentials {
  const moved = url === undefined ? opened : { ...opened, url };
  if (rotate === undefined) return moved;
  const previous = { secret: opened.secret, until: rotate.previousUntil.toISOString() };
  return { ...moved, secret: rotate.secret, previous };
}

const markDeleted = statement<[id: string, at: Date]>(`
  update webhook_endpoint set deleted_at = $2, disabled_at = coalesce(disabled_at, $2), credentials = '' where id = $1`);

/** Nothing more is sent to it, and what opens it is gone at once; its deliveries go with their age. */
export function deleteEndpoint(cell: Cell, by: Auditor, id: string): Promise<boolean> {
  return withTransaction(cell, async (tx) => {
    const row = await findEndpoint(tx, by.organizationId, id);
    if (row === null) return false;
    await markDeleted(tx, id, by.now);
    const change = {
      action: 'webhook.delete',
      subject: subjectOf(row),
      before: settingsOf(row),
      after: null,
    };
    await recordAudit(tx, by, change);
    return true;
  });
}

const updateDisabled = statement<[id: string, at: Date, reason: string], EndpointRow>(`
  update webhook_endpoint w set disabled_at = $2, disabled_reason = $3
  where w.id = $1 and w.disabled_at is null returning ${columns}`);

/** By the service itself; an admin enables it again. */
export function disableEndpoint(cell: Cell, id: string, reason: string, now: Date): Promise<boolean> {
  return withTransaction(cell, async (tx) => {
    const [row] = await updateDisabled(tx, id, now, reason);
    if (row === undefined) return false;
    const by = { organizationId: row.organization_id as OrganizationId, actor: 'signalbox', now };
    const change = { action: 'webhook.disable', subject: subjectOf(row), before: null, after: { reason } };
    await recordAudit(tx, by, change);
    return true;
  });
}

// Creates, changes, disables and deletes webhook endpoints. Each change is one transaction with its line in the audit log.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Cell } from '#db/cell.ts';
import { seal, type SecretKey } from '#db/seal.ts';
import { withTransaction } from '#db/transaction.ts';
import {
  countEndpoints,
  type EndpointCredentials,
  type EndpointKind,
  type EndpointView,
  findEndpoint,
  insertEndpoint,
  lockCredentials,
  markEndpointDeleted,
  markEndpointDisabled,
  openCredentials,
  updateEndpoint,
} from '#db/webhook/webhook-store.ts';

/** Endpoints that an organization may have. */
export const endpointsMax = 50;

type EndpointDraft = {
  readonly kind: EndpointKind;
  readonly name: string;
  readonly eventTypes: readonly string[];
  readonly repositoryIds: readonly RepositoryId[] | null;
};

/** An endpoint as the audit log names it. */
const subjectOf = ({ id, name }: Pick<EndpointView, 'id' | 'name'>): string => `${name} (${id})`;

const settingsOf = (row: EndpointView) => ({
  kind: row.kind,
  name: row.name,
  url: row.shown_url,
  eventTypes: row.event_types,
  repositories: row.repository_ids === null ? null : row.repositories,
  disabled: row.disabled_at === null ? null : row.disabled_reason,
});

/** As much of a URL as may be shown: what follows the host of a chat is its secret. */
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
  settings: EndpointDraft,
  credentials: EndpointCredentials,
): Promise<EndpointView | null> {
  const { organizationId, actor, now } = by;
  return withTransaction(cell, async (tx) => {
    if ((await countEndpoints(tx, organizationId)) >= endpointsMax) return null;
    await insertEndpoint(tx, {
      ...settings,
      id,
      organizationId,
      shownUrl: shownUrl(settings.kind, credentials.url),
      credentials: seal(key, id, JSON.stringify(credentials)),
      createdAt: now,
      createdBy: actor,
    });
    const row = (await findEndpoint(tx, organizationId, id))!;
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
  /** The credentials cannot be decrypted with the configured key. */
  | { readonly kind: 'sealed' };

export function changeEndpoint(
  cell: Cell,
  key: SecretKey,
  by: Auditor,
  id: string,
  change: EndpointChange,
): Promise<Changed> {
  return withTransaction(cell, async (tx): Promise<Changed> => {
    const held = await lockCredentials(tx, id);
    const before = await findEndpoint(tx, by.organizationId, id);
    if (held === null || before === null) return { kind: 'unknown' };
    const opened = openCredentials(key, id, held);
    if (opened === null) return { kind: 'sealed' };
    const isEnabled = change.enabled ?? before.disabled_at === null;
    await updateEndpoint(tx, id, {
      name: change.name ?? before.name,
      shownUrl: change.url === undefined ? before.shown_url : shownUrl(before.kind, change.url),
      credentials: seal(key, id, JSON.stringify(changedCredentials(opened, change))),
      eventTypes: change.eventTypes ?? before.event_types,
      repositoryIds: change.repositoryIds === undefined ? before.repository_ids : change.repositoryIds,
      disabledAt: isEnabled ? null : (before.disabled_at ?? by.now),
      disabledReason: isEnabled ? null : (before.disabled_reason ?? 'An admin disabled the endpoint.'),
    });
    const row = (await findEndpoint(tx, by.organizationId, id))!;
    const action = change.rotate === undefined ? 'webhook.update' : 'webhook.rotate';
    const audited = { action, subject: subjectOf(row), before: settingsOf(before), after: settingsOf(row) };
    await recordAudit(tx, by, audited);
    return { kind: 'changed', row };
  });
}

function changedCredentials(
  opened: EndpointCredentials,
  { url, rotate }: EndpointChange,
): EndpointCredentials {
  const moved = url === undefined ? opened : { ...opened, url };
  if (rotate === undefined) return moved;
  const previous = { secret: opened.secret, until: rotate.previousUntil.toISOString() };
  return { ...moved, secret: rotate.secret, previous };
}

/** Nothing more is sent to it, and its credentials are deleted at once; its deliveries are deleted with their age. */
export function deleteEndpoint(cell: Cell, by: Auditor, id: string): Promise<boolean> {
  return withTransaction(cell, async (tx) => {
    const row = await findEndpoint(tx, by.organizationId, id);
    if (row === null) return false;
    await markEndpointDeleted(tx, id, by.now);
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

/** By the service itself; an admin enables it again. */
export function disableEndpoint(cell: Cell, id: string, reason: string, now: Date): Promise<boolean> {
  return withTransaction(cell, async (tx) => {
    const row = await markEndpointDisabled(tx, id, now, reason);
    if (row === null) return false;
    const by = { organizationId: row.organization_id as OrganizationId, actor: 'signalbox', now };
    const change = { action: 'webhook.disable', subject: subjectOf(row), before: null, after: { reason } };
    await recordAudit(tx, by, change);
    return true;
  });
}

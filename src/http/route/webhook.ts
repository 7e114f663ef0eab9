// Webhook endpoints of an organization, for its admins.

import { v7 as newId } from 'uuid';
import { dayMs } from '#base/duration.ts';
import { appError } from '#base/error.ts';
import type { RepositoryId } from '#base/id.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  type EndpointChange,
  endpointsMax,
} from '#command/webhook-endpoint.ts';
import type { WebhookDelivery, WebhookEndpoint } from '#contract/webhook.ts';
import type { WebhookType } from '#contract/webhook-event.ts';
import { fullName, type RepositoryName, repositoryKey } from '#core/repository.ts';
import { insertTestDelivery, replayOne, replaySince } from '#db/webhook/delivery-store.ts';
import { type DeliveryRow, listDeliveries } from '#db/webhook/delivery-view.ts';
import { findRepositoryIds } from '#db/account/repository-store.ts';
import { type EndpointView, findEndpoint, listEndpoints } from '#db/webhook/webhook-store.ts';
import { buildPayload } from '#event/webhook-payload.ts';
import { newWebhookSecret } from '#event/webhook-request.ts';
import { checkHostName } from '#event/webhook-send.ts';
import { auditorFrom, type Context, type Handlers } from '../endpoint/context.ts';
import { requireSecretKey } from '../guard/secret-key.ts';

const instant = (at: Date | null): string | null => at?.toISOString() ?? null;

const present = (row: EndpointView): WebhookEndpoint => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  url: row.shown_url,
  eventTypes: [...row.event_types],
  repositories: row.repository_ids === null ? null : [...row.repositories],
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by,
  state: row.disabled_at !== null ? 'disabled' : row.failing_since !== null ? 'failing' : 'active',
  disabledAt: instant(row.disabled_at),
  disabledReason: row.disabled_reason,
  lastSuccessAt: instant(row.last_success_at),
  failingSince: instant(row.failing_since),
  lastFailure: row.last_failure,
  pausedUntil: instant(row.paused_until),
  pending: row.pending,
});

const presentDelivery = ({ deps }: Context, row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  type: row.type,
  createdAt: row.created_at.toISOString(),
  state: row.status as WebhookDelivery['state'],
  deliveredAt: instant(row.delivered_at),
  nextAttemptAt: row.status === 'pending' ? row.due_at.toISOString() : null,
  attempts: [...row.log],
  payload: buildPayload(row.type, row.payload, deps.config) as WebhookDelivery['payload'],
});

const unknown = (id: string) =>
  appError('WEBHOOK_ENDPOINT_NOT_FOUND', {
    public: `The organization has no webhook endpoint ${id}. List them with listWebhookEndpoints.`,
  });

async function requireUrl({ deps }: Context, url: string): Promise<string> {
  const why = await checkHostName(url, deps.config.webhook.allow);
  if (why === null) return new URL(url).href;
  throw appError('WEBHOOK_URL_REFUSED', { public: `Signalbox cannot send events to this URL. ${why}` });
}

async function repositoryIds(
  { cell, scope }: Context,
  repositories: readonly RepositoryName[] | null,
): Promise<readonly RepositoryId[] | null> {
  if (repositories === null) return null;
  const { organizationId } = scope.principal;
  const keys = repositories.map((repository) => ({ organizationId, key: repositoryKey(repository) }));
  const ids = await findRepositoryIds(cell.db, keys);
  return ids.map((id, index) => {
    if (id !== null) return id;
    const { host, ...rest } = repositories[index]!;
    throw appError('REPOSITORY_NOT_FOUND', {
      public: `The organization has no repository ${fullName({ host, ...rest })} on ${host}. Create a queue for it or upload its tests first.`,
    });
  });
}

/** What people want to be notified of; a program gets every type. */
const chatTypes: readonly WebhookType[] = [
  'pull_request.merged',
  'pull_request.failed',
  'pull_request.canceled',
  'test_case.status_changed',
];

async function required(context: Context, id: string): Promise<EndpointView> {
  const row = await findEndpoint(context.cell.db, context.scope.principal.organizationId, id);
  if (row === null) throw unknown(id);
  return row;
}

async function change(context: Context, id: string, fields: EndpointChange): Promise<EndpointView> {
  const changed = await changeEndpoint(
    context.cell,
    requireSecretKey(context),
    auditorFrom(context),
    id,
    fields,
  );
  if (changed.kind === 'changed') return changed.row;
  if (changed.kind === 'unknown') throw unknown(id);
  throw appError('SECRET_KEY_MISSING', {
    public:
      'This endpoint was encrypted with another SIGNALBOX_SECRET_KEY. Set that key again, or delete the endpoint and create it again.',
  });
}

/** How long deliveries are also signed with a replaced secret. */
const previousMs = dayMs;

export const webhookHandlers: Handlers<
  | 'listWebhookEndpoints'
  | 'createWebhookEndpoint'
  | 'updateWebhookEndpoint'
  | 'deleteWebhookEndpoint'
  | 'rotateWebhookSecret'
  | 'listWebhookDeliveries'
  | 'replayWebhookDelivery'
  | 'sendTestWebhook'
> = {
  listWebhookEndpoints: async ({ cell, scope }) => {
    const rows = await listEndpoints(cell.reader, scope.principal.organizationId);
    return { endpoints: rows.map(present) };
  },

  createWebhookEndpoint: async (context, { kind, name, url, eventTypes, repositories }) => {
    const key = requireSecretKey(context);
    const address = await requireUrl(context, url);
    const fields = {
      kind,
      name: name.trim(),
      eventTypes: [...new Set<string>(eventTypes ?? (kind === 'webhook' ? [] : chatTypes))],
      repositoryIds: await repositoryIds(context, repositories ?? null),
    };
    const secret = newWebhookSecret();
    const credentials = { url: address, secret, previous: null };
    const row = await createEndpoint(context.cell, key, auditorFrom(context), newId(), fields, credentials);
    if (row === null)
      throw appError('WEBHOOK_LIMIT_REACHED', {
        public: `An organization has at most ${endpointsMax} webhook endpoints. Delete one that you no longer need.`,
      });
    return { endpoint: present(row), signingSecret: kind === 'webhook' ? secret : null };
  },

  updateWebhookEndpoint: async (context, { endpointId, name, url, eventTypes, repositories, enabled }) => {
    await required(context, endpointId);
    const row = await change(context, endpointId, {
      ...(name === undefined ? {} : { name: name.trim() }),
      ...(url === undefined ? {} : { url: await requireUrl(context, url) }),
      ...(eventTypes === undefined ? {} : { eventTypes: [...new Set(eventTypes)] }),
      ...(repositories === undefined ? {} : { repositoryIds: await repositoryIds(context, repositories) }),
      ...(enabled === undefined ? {} : { enabled }),
    });
    return { endpoint: present(row) };
  },

  deleteWebhookEndpoint: async (context, { endpointId }) => {
    if (!(await deleteEndpoint(context.cell, auditorFrom(context), endpointId))) throw unknown(endpointId);
    return {};
  },

  rotateWebhookSecret: async (context, { endpointId }) => {
    const { kind } = await required(context, endpointId);
    if (kind !== 'webhook')
      throw appError('WEBHOOK_NOT_SIGNED', {
        public:
          'Messages to a chat are not signed: its URL is the secret. Create a new URL in the chat, and update the endpoint with it.',
      });
    const secret = newWebhookSecret();
    const previousUntil = new Date(context.now.getTime() + previousMs);
    const row = await change(context, endpointId, { rotate: { secret, previousUntil } });
    return { endpoint: present(row), signingSecret: secret, previousUntil: previousUntil.toISOString() };
  },

  listWebhookDeliveries: async (context, { endpointId, cursor, take, state, deliveryId }) => {
    await required(context, endpointId);
    const after = cursor === null || cursor === undefined ? null : Number(cursor);
    const list = { endpointId, status: state ?? null, id: deliveryId ?? null, after, take: take + 1 };
    const rows = await listDeliveries(context.cell.db, list);
    const shown = rows.slice(0, take);
    return {
      deliveries: shown.map((row) => presentDelivery(context, row)),
      ...(rows.length > take && { nextCursor: String(shown.at(-1)!.seq) }),
    };
  },

  replayWebhookDelivery: async (context, { endpointId, deliveryId, since, failedOnly }) => {
    await required(context, endpointId);
    const { cell, now } = context;
    if (deliveryId === null || deliveryId === undefined)
      return { replayed: await replaySince(cell.db, endpointId, { since: since!, failedOnly }, now) };
    if (await replayOne(cell.db, endpointId, deliveryId, now)) return { replayed: 1 };
    throw appError('WEBHOOK_DELIVERY_NOT_FOUND', {
      public: `The endpoint has no delivery ${deliveryId}. Deliveries are kept for 14 days. List them with listWebhookDeliveries.`,
    });
  },

  sendTestWebhook: async (context, { endpointId }) => {
    await required(context, endpointId);
    const message = 'This is a test. Events arrive here.';
    const payload = { message, timestamp: context.now.toISOString() };
    return { deliveryId: await insertTestDelivery(context.cell.db, endpointId, payload, context.now) };
  },
};

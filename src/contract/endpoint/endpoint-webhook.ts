// The rows of the endpoint table about webhook endpoints.

import type { ErrorCode } from '#base/error.ts';
import { Empty } from '../common.ts';
import * as webhook from '../webhook.ts';

const admin = { method: 'POST', scopes: ['admin'], tag: 'Webhooks' } as const;
const known = ['WEBHOOK_ENDPOINT_NOT_FOUND'] as const satisfies readonly ErrorCode[];
const sealed = ['SECRET_KEY_MISSING'] as const satisfies readonly ErrorCode[];
const aimed = [
  'WEBHOOK_URL_REFUSED',
  'REPOSITORY_NOT_FOUND',
  ...sealed,
] as const satisfies readonly ErrorCode[];

export const webhookEndpoints = {
  listWebhookEndpoints: {
    ...admin,
    path: '/v1/listWebhookEndpoints',
    summary: 'List webhook endpoints with their states',
    request: webhook.ListWebhookEndpointsRequest,
    response: webhook.ListWebhookEndpointsResponse,
    errors: [] as readonly ErrorCode[],
  },
  createWebhookEndpoint: {
    ...admin,
    path: '/v1/createWebhookEndpoint',
    summary: 'Create a webhook endpoint; only this response contains its signing secret',
    request: webhook.CreateWebhookEndpointRequest,
    response: webhook.CreateWebhookEndpointResponse,
    errors: [...aimed, 'WEBHOOK_LIMIT_REACHED'] as readonly ErrorCode[],
  },
  updateWebhookEndpoint: {
    ...admin,
    path: '/v1/updateWebhookEndpoint',
    summary: 'Change, disable or enable a webhook endpoint',
    request: webhook.UpdateWebhookEndpointRequest,
    response: webhook.WebhookEndpointResponse,
    errors: [...known, ...aimed] as readonly ErrorCode[],
  },
  deleteWebhookEndpoint: {
    ...admin,
    path: '/v1/deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint and its signing secret',
    request: webhook.WebhookEndpointRequest,
    response: Empty,
    errors: known as readonly ErrorCode[],
  },
  rotateWebhookSecret: {
    ...admin,
    path: '/v1/rotateWebhookSecret',
    summary: 'Replace the signing secret; for 24 hours events are signed with both',
    request: webhook.WebhookEndpointRequest,
    response: webhook.RotateWebhookSecretResponse,
    errors: [...known, ...sealed, 'WEBHOOK_NOT_SIGNED'] as readonly ErrorCode[],
  },
  listWebhookDeliveries: {
    ...admin,
    path: '/v1/listWebhookDeliveries',
    summary: 'List the deliveries to a webhook endpoint, with every attempt',
    request: webhook.ListWebhookDeliveriesRequest,
    response: webhook.ListWebhookDeliveriesResponse,
    errors: known as readonly ErrorCode[],
  },
  replayWebhookDelivery: {
    ...admin,
    path: '/v1/replayWebhookDelivery',
    summary: 'Send one delivery again, or every delivery since a time, with their original ids',
    request: webhook.ReplayWebhookDeliveryRequest,
    response: webhook.ReplayWebhookDeliveryResponse,
    errors: [...known, 'WEBHOOK_DELIVERY_NOT_FOUND'] as readonly ErrorCode[],
  },
  sendTestWebhook: {
    ...admin,
    path: '/v1/sendTestWebhook',
    summary: 'Send an event of the type webhook.test',
    request: webhook.WebhookEndpointRequest,
    response: webhook.SendTestWebhookResponse,
    errors: known as readonly ErrorCode[],
  },
} as const;

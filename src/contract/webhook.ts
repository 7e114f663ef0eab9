// Webhook endpoints and their deliveries. Only the response that creates a secret contains it.

import { z } from 'zod';
import { InstantIn, InstantOut, lenientEnum, line, Repository, Uuid } from './common.ts';
import { webhookTypes } from './webhook-event.ts';

const webhookKinds = ['webhook', 'slack', 'teams'] as const;

const Kind = z.enum(webhookKinds).meta({
  description:
    '`webhook`: a signed body for a program. `slack` and `teams`: a message for people, to an incoming webhook of Slack or a workflow of Teams.',
});

const WebhookEndpoint = z
  .object({
    id: Uuid,
    kind: Kind,
    name: z.string(),
    url: z.string().meta({
      description: 'The URL without secrets: without its query; of a chat only the host.',
    }),
    eventTypes: z.array(z.string()).meta({ description: 'Empty: all event types.' }),
    repositories: z
      .array(z.object({ host: z.string(), owner: z.string(), name: z.string() }))
      .nullable()
      .meta({ description: 'Null: all repositories of the organization.' }),
    createdAt: InstantOut,
    createdBy: z.string(),
    state: z.enum(['active', 'failing', 'disabled']),
    disabledAt: InstantOut.nullable(),
    disabledReason: z.string().nullable(),
    lastSuccessAt: InstantOut.nullable(),
    failingSince: InstantOut.nullable().meta({ description: 'Since this time every delivery has failed.' }),
    lastFailure: z.string().nullable(),
    pausedUntil: InstantOut.nullable().meta({
      description: 'The endpoint asked Signalbox to send nothing until this time.',
    }),
    pending: z.int().meta({ description: 'Number of pending deliveries, counted up to 10,000.' }),
  })
  .meta({ id: 'WebhookEndpoint', description: 'An endpoint without its secret.' });
export type WebhookEndpoint = z.output<typeof WebhookEndpoint>;

const Url = z.string().min(1).max(2_048).meta({
  description:
    'The URL that receives the events: https, at a public address. See SIGNALBOX_WEBHOOK_ALLOW for others.',
});
const Name = line(1, 100)
  .refine((name) => name.trim() !== '', 'must not be blank')
  .meta({ description: 'The name of the endpoint.', pattern: '\\S' });
const EventTypes = z
  .array(lenientEnum(webhookTypes as readonly [string, ...string[]]))
  .max(webhookTypes.length)
  .meta({ description: 'The event types to send; empty: all.' });
const Repositories = z.array(Repository).min(1).max(100);

export const ListWebhookEndpointsRequest = z.object({});
export const ListWebhookEndpointsResponse = z.object({
  endpoints: z.array(WebhookEndpoint).meta({ description: 'Oldest first.' }),
});

export const CreateWebhookEndpointRequest = z.object({
  kind: lenientEnum(webhookKinds).default('webhook'),
  name: Name,
  url: Url,
  eventTypes: EventTypes.optional().meta({
    description:
      'Default: for `webhook` all types; for a chat merged, failed and canceled pull requests, and tests.',
  }),
  repositories: Repositories.nullish().meta({
    description: 'Absent or null: all repositories of the organization.',
  }),
});

const Secret = z.string().meta({
  description: 'The key for signatures. It is not shown again.',
});

export const CreateWebhookEndpointResponse = z.object({
  endpoint: WebhookEndpoint,
  signingSecret: Secret.nullable().meta({ description: 'Null for a chat: its messages are not signed.' }),
});

const endpointRef = { endpointId: Uuid };

export const UpdateWebhookEndpointRequest = z.object({
  ...endpointRef,
  name: Name.optional(),
  url: Url.optional(),
  eventTypes: EventTypes.optional(),
  repositories: Repositories.nullish().meta({
    description: 'Null: all repositories of the organization. Absent: unchanged.',
  }),
  enabled: z
    .boolean()
    .optional()
    .meta({ description: 'False: Signalbox neither sends nor stores events for it.' }),
});
export const WebhookEndpointResponse = z.object({ endpoint: WebhookEndpoint });
export const WebhookEndpointRequest = z.object(endpointRef);

export const RotateWebhookSecretResponse = z.object({
  endpoint: WebhookEndpoint,
  signingSecret: Secret,
  previousUntil: InstantOut.meta({
    description: 'Until this time events are also signed with the previous secret.',
  }),
});

const deliveryStates = ['pending', 'delivered', 'dead'] as const;

const WebhookDelivery = z
  .object({
    id: Uuid.meta({ description: 'The value of `webhook-id`: the same in every attempt.' }),
    type: z.string(),
    createdAt: InstantOut,
    state: z.enum(deliveryStates).meta({ description: 'dead: every attempt failed for a day.' }),
    deliveredAt: InstantOut.nullable(),
    nextAttemptAt: InstantOut.nullable(),
    attempts: z
      .array(
        z.object({
          at: InstantOut,
          ms: z.int(),
          status: z.int().nullable().meta({ description: 'The HTTP status; null: there was no response.' }),
          error: z.string().nullable(),
          answer: z.string().meta({ description: 'The first 1 KiB of the response.' }),
        }),
      )
      .meta({ description: 'Oldest first, the last 50.' }),
    payload: z
      .json()
      .meta({ description: 'The body of the event; a chat receives a message derived from it.' }),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

export const ListWebhookDeliveriesRequest = z.object({
  ...endpointRef,
  cursor: z
    .string()
    .regex(/^\d{1,18}$/)
    .nullish()
    .meta({ description: 'nextCursor of the previous page.' }),
  take: z.int().min(1).max(100).default(25),
  state: lenientEnum(deliveryStates).nullish(),
  deliveryId: Uuid.nullish().meta({ description: 'Only this delivery.' }),
});
export const ListWebhookDeliveriesResponse = z.object({
  deliveries: z
    .array(WebhookDelivery)
    .meta({ description: 'Newest first. Deliveries are kept for 14 days.' }),
  nextCursor: z.string().optional(),
});

export const ReplayWebhookDeliveryRequest = z
  .object({
    ...endpointRef,
    deliveryId: Uuid.nullish().meta({ description: 'The id of one delivery.' }),
    since: InstantIn.nullish().meta({
      description: 'Instead of deliveryId: every delivery of events since this time, oldest first.',
    }),
    failedOnly: z.boolean().default(false).meta({ description: 'With since: only dead deliveries.' }),
  })
  .superRefine(({ deliveryId, since }, context) => {
    if ((deliveryId ?? null) === null && (since ?? null) === null)
      context.addIssue({ code: 'custom', path: ['deliveryId'], message: 'must have deliveryId or since' });
    if ((deliveryId ?? null) !== null && (since ?? null) !== null)
      context.addIssue({ code: 'custom', path: ['since'], message: 'must have either deliveryId or since' });
  });
export const ReplayWebhookDeliveryResponse = z.object({
  replayed: z.int().meta({ description: 'Number of deliveries that will be sent again, at most 10,000.' }),
});

export const SendTestWebhookResponse = z.object({
  deliveryId: Uuid.meta({ description: 'The id of the delivery; listWebhookDeliveries has the result.' }),
});

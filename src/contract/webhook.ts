// Endpoints that events are sent to, and what was sent. A secret is in one answer only, the one that makes it.

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
      description: 'As much of the address as may be shown: without its query, and of a chat only the host.',
    }),
    eventTypes: z.array(z.string()).meta({ description: 'Empty: all.' }),
    repositories: z
      .array(z.object({ host: z.string(), owner: z.string(), name: z.string() }))
      .nullable()
      .meta({ description: 'Null: all of the organization.' }),
    createdAt: InstantOut,
    createdBy: z.string(),
    state: z.enum(['active', 'failing', 'disabled']),
    disabledAt: InstantOut.nullable(),
    disabledReason: z.string().nullable(),
    lastSuccessAt: InstantOut.nullable(),
    failingSince: InstantOut.nullable().meta({ description: 'Nothing was taken since then.' }),
    lastFailure: z.string().nullable(),
    pausedUntil: InstantOut.nullable().meta({ description: 'It asked to be left alone until then.' }),
    pending: z.int().meta({ description: 'Deliveries that wait, counted up to 10,000.' }),
  })
  .meta({ id: 'WebhookEndpoint', description: 'An endpoint without its secret.' });
export type WebhookEndpoint = z.output<typeof WebhookEndpoint>;

const Url = z.string().min(1).max(2_048).meta({
  description: 'Where events go: https, to a public address; see SIGNALBOX_WEBHOOK_ALLOW for others.',
});
const Name = line(1, 100)
  .refine((name) => name.trim() !== '', 'must not be blank')
  .meta({ description: 'What it is for.', pattern: '\\S' });
const EventTypes = z
  .array(lenientEnum(webhookTypes as readonly [string, ...string[]]))
  .max(webhookTypes.length)
  .meta({ description: 'Which events it gets; empty: all.' });
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
      'Absent: all for `webhook`; for a chat what people want to know: merged, failed, canceled, tests.',
  }),
  repositories: Repositories.nullish().meta({ description: 'Absent or null: all of the organization.' }),
});

const Secret = z.string().meta({
  description: 'What signatures are made with. It is not shown again.',
});

export const CreateWebhookEndpointResponse = z.object({
  endpoint: WebhookEndpoint,
  signingSecret: Secret.nullable().meta({ description: 'Null for a chat: nothing is signed.' }),
});

const endpointRef = { endpointId: Uuid };

export const UpdateWebhookEndpointRequest = z.object({
  ...endpointRef,
  name: Name.optional(),
  url: Url.optional(),
  eventTypes: EventTypes.optional(),
  repositories: Repositories.nullish().meta({
    description: 'Null: all of the organization. Absent: as it is.',
  }),
  enabled: z
    .boolean()
    .optional()
    .meta({ description: 'False: nothing is sent or kept for it until it is true.' }),
});
export const WebhookEndpointResponse = z.object({ endpoint: WebhookEndpoint });
export const WebhookEndpointRequest = z.object(endpointRef);

export const RotateWebhookSecretResponse = z.object({
  endpoint: WebhookEndpoint,
  signingSecret: Secret,
  previousUntil: InstantOut.meta({ description: 'Until then events are signed with the secret before too.' }),
});

const deliveryStates = ['pending', 'delivered', 'dead'] as const;

const WebhookDelivery = z
  .object({
    id: Uuid.meta({ description: 'What `webhook-id` says: the same however often it is sent.' }),
    type: z.string(),
    createdAt: InstantOut,
    state: z.enum(deliveryStates).meta({ description: 'Dead: it was given up after a day.' }),
    deliveredAt: InstantOut.nullable(),
    nextAttemptAt: InstantOut.nullable(),
    attempts: z
      .array(
        z.object({
          at: InstantOut,
          ms: z.int(),
          status: z.int().nullable().meta({ description: 'Of HTTP; null: it did not come to an answer.' }),
          error: z.string().nullable(),
          answer: z.string().meta({ description: 'How the answer begins, up to 1 KiB.' }),
        }),
      )
      .meta({ description: 'Oldest first, the last 50.' }),
    payload: z.json().meta({ description: 'What is sent; a chat is sent a message made of it.' }),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

export const ListWebhookDeliveriesRequest = z.object({
  ...endpointRef,
  cursor: z
    .string()
    .regex(/^\d{1,18}$/)
    .nullish()
    .meta({ description: 'nextCursor of the page before.' }),
  take: z.int().min(1).max(100).default(25),
  state: lenientEnum(deliveryStates).nullish(),
  deliveryId: Uuid.nullish().meta({ description: 'Only this one.' }),
});
export const ListWebhookDeliveriesResponse = z.object({
  deliveries: z.array(WebhookDelivery).meta({ description: 'Newest first. They are kept for 14 days.' }),
  nextCursor: z.string().optional(),
});

export const ReplayWebhookDeliveryRequest = z
  .object({
    ...endpointRef,
    deliveryId: Uuid.nullish().meta({ description: 'One delivery.' }),
    since: InstantIn.nullish().meta({ description: 'Or everything that happened since then, oldest first.' }),
    failedOnly: z.boolean().default(false).meta({ description: 'With since: only what was given up.' }),
  })
  .superRefine(({ deliveryId, since }, context) => {
    if ((deliveryId ?? null) === null && (since ?? null) === null)
      context.addIssue({ code: 'custom', path: ['deliveryId'], message: 'give deliveryId or since' });
    if ((deliveryId ?? null) !== null && (since ?? null) !== null)
      context.addIssue({ code: 'custom', path: ['since'], message: 'give either deliveryId or since' });
  });
export const ReplayWebhookDeliveryResponse = z.object({
  replayed: z.int().meta({ description: 'How many are sent again; at most 10,000 at once.' }),
});

export const SendTestWebhookResponse = z.object({
  deliveryId: Uuid.meta({ description: 'listWebhookDeliveries says what came of it.' }),
});

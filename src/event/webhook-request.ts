// A delivery as a request: a message for a chat, and for every other endpoint the body with its signature, as
// in the Standard Webhooks specification.

import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { EndpointCredentials, EndpointKind } from '#db/webhook/webhook-store.ts';
import { slackBody, teamsBody } from './webhook-message.ts';
import type { Payload } from './webhook-payload.ts';

export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The secrets to sign with: the current one, and for a while the previous one. */
function listSigningSecrets({ secret, previous }: EndpointCredentials, now: Date): readonly string[] {
  return previous !== null && new Date(previous.until) > now ? [secret, previous.secret] : [secret];
}

type WebhookHttpRequest = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

type Message = { readonly id: string; readonly kind: EndpointKind; readonly payload: Payload };

export function buildWebhookRequest(
  { id, kind, payload }: Message,
  credentials: EndpointCredentials,
  now: Date,
): WebhookHttpRequest {
  const headers = { 'user-agent': 'Signalbox-Webhook/1' };
  if (kind === 'slack') return { headers, body: JSON.stringify(slackBody(payload)) };
  if (kind === 'teams') return { headers, body: JSON.stringify(teamsBody(payload)) };
  const body = JSON.stringify(payload);
  const signatures = listSigningSecrets(credentials, now).map((secret) =>
    new Webhook(secret).sign(id, now, body),
  );
  return {
    headers: {
      ...headers,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    },
    body,
  };
}

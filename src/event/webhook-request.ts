// A delivery as a request: for a chat its message, for everybody else the body with its signature, as the Standard
// Webhooks specification says.

import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Credentials, EndpointKind } from '#db/webhook-store.ts';
import { slackBody, teamsBody } from './webhook-message.ts';
import type { Payload } from './webhook-payload.ts';

export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Secrets to sign with: the one there is, and for a while the one before. */
function secretsOf({ secret, previous }: Credentials, now: Date): readonly string[] {
  return previous !== null && new Date(previous.until) > now ? [secret, previous.secret] : [secret];
}

type Request = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

type Message = { readonly id: string; readonly kind: EndpointKind; readonly payload: Payload };

export function requestOf({ id, kind, payload }: Message, credentials: Credentials, now: Date): Request {
  const headers = { 'user-agent': 'Signalbox-Webhook/1' };
  if (kind === 'slack') return { headers, body: JSON.stringify(slackBody(payload)) };
  if (kind === 'teams') return { headers, body: JSON.stringify(teamsBody(payload)) };
  const body = JSON.stringify(payload);
  const signatures = secretsOf(credentials, now).map((secret) => new Webhook(secret).sign(id, now, body));
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

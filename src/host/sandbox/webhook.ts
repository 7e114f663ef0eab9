// Webhooks of the sandbox: signed with HMAC-SHA256 over the body, like those of the hosts it stands in for.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookDelivery, WebhookResult } from '../host.ts';
import { SandboxEvent } from './schema.ts';

export const signatureHeader = 'x-signalbox-sandbox-signature';

export const signWebhook = (secret: string, body: Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export function parseWebhook({ headers, body, secret }: WebhookDelivery): WebhookResult {
  const expected = Buffer.from(signWebhook(secret, body));
  const given = Buffer.from(headers[signatureHeader] ?? '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return { kind: 'refused', reason: 'The signature of the webhook does not match its body.' };
  const event = SandboxEvent.safeParse(parseJson(body));
  // A signed event we do not know is not an error: hosts add kinds of events.
  if (!event.success) return { kind: 'accepted', events: [] };
  const { repository, number } = event.data;
  return { kind: 'accepted', events: [{ kind: 'pull-request-changed', repository, number }] };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

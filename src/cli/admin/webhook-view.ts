// Endpoints and deliveries as the command line shows them.

import type { WebhookDelivery, WebhookEndpoint } from '#contract/webhook.ts';
import { agoText, type TableCell, type Pen, tableLines } from '../terminal/output.ts';

const tones = { active: 'good', failing: 'warning', disabled: 'bad' } as const;

function lastResult(endpoint: WebhookEndpoint, now: Date): string {
  if (endpoint.disabledReason !== null) return endpoint.disabledReason;
  if (endpoint.failingSince !== null)
    return `failing since ${agoText(endpoint.failingSince, now)}: ${endpoint.lastFailure ?? ''}`;
  return endpoint.lastSuccessAt === null
    ? 'nothing sent yet'
    : `last delivered ${agoText(endpoint.lastSuccessAt, now)}`;
}

export function endpointLines(endpoints: readonly WebhookEndpoint[], pen: Pen, now: Date): readonly string[] {
  if (endpoints.length === 0)
    return [
      'There is no webhook endpoint. Create one with: signalbox webhook create https://hooks.example/signalbox --name Deploys',
    ];
  const rows = endpoints.map((endpoint): readonly TableCell[] => [
    endpoint.id,
    endpoint.name,
    endpoint.kind,
    endpoint.url,
    { text: endpoint.state, tone: tones[endpoint.state] },
    String(endpoint.pending),
    lastResult(endpoint, now),
  ]);
  return tableLines(['id', 'name', 'kind', 'URL', 'state', 'pending', 'last result'], rows, pen);
}

const stateTones = { pending: 'warning', delivered: 'good', dead: 'bad' } as const;

export function deliveryLines(
  deliveries: readonly WebhookDelivery[],
  pen: Pen,
  now: Date,
): readonly string[] {
  if (deliveries.length === 0) return ['There is no matching delivery.'];
  const rows = deliveries.map((delivery): readonly TableCell[] => {
    const last = delivery.attempts.at(-1);
    const outcome =
      last === undefined ? 'not tried yet' : (last.error ?? `${last.status} after ${last.ms} ms`);
    return [
      delivery.id,
      delivery.type,
      agoText(delivery.createdAt, now),
      { text: delivery.state, tone: stateTones[delivery.state] },
      String(delivery.attempts.length),
      outcome,
    ];
  });
  return tableLines(['id', 'type', 'happened', 'state', 'attempts', 'last result'], rows, pen);
}

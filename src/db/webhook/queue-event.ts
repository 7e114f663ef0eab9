// Writes webhook_delivery for what happens to a queue as a whole, in the transaction in which it happens.

import type { QueueId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { deliveryHours, isoColumn, repositoryColumn, wantedInQueue } from './webhook-event.ts';

const insertDeliveries = statement<[queueId: string, type: string, body: string, at: Date]>(`
  insert into webhook_delivery (endpoint_id, subject, type, payload, created_at, due_at, expires_at)
  select w.id, 'queue ' || $1, $2, $3::jsonb || jsonb_build_object('timestamp', ${isoColumn('$4::timestamptz')},
      'state', (select q.state from queue q where q.id = $1::uuid), 'repository', ${repositoryColumn},
      'target_branch', w.target_branch),
    $4, $4, $4 + interval '${deliveryHours} hours'
  from (${wantedInQueue('$1::uuid')}) w
  where w.event_types = '{}' or $2 = any (w.event_types)`);

/** An event of a queue, or of one of its landings; the part of its type after the point is its action. */
export async function recordQueueEvent(
  tx: Tx,
  queueId: QueueId,
  subject: 'queue' | 'landing',
  body: { readonly action: string } & Readonly<Record<string, unknown>>,
  at: Date,
): Promise<void> {
  await insertDeliveries(tx, queueId, `${subject}.${body.action}`, JSON.stringify(body), at);
}

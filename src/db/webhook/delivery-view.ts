// Reads of deliveries.

import type { Attempt } from './delivery-store.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type DeliveryRow = {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly created_at: Date;
  readonly status: string;
  readonly delivered_at: Date | null;
  readonly due_at: Date;
  readonly log: readonly Attempt[];
  readonly payload: Readonly<Record<string, unknown>>;
};

type DeliveryList = {
  readonly endpointId: string;
  readonly status: string | null;
  readonly id: string | null;
  /** The last delivery of the page before. */
  readonly after: number | null;
  readonly take: number;
};

const selectDeliveries = statement<
  [endpointId: string, status: string | null, id: string | null, after: number | null, take: number],
  DeliveryRow
>(`
  select seq, id, type, created_at, status, delivered_at, due_at, log, payload from webhook_delivery
  where endpoint_id = $1 and ($2::text is null or status = $2) and ($3::uuid is null or id = $3)
    and ($4::bigint is null or seq < $4)
  order by seq desc limit $5`);

/** Newest first. */
export const listDeliveries = (
  db: Tx,
  { endpointId, status, id, after, take }: DeliveryList,
): Promise<DeliveryRow[]> => selectDeliveries(db, endpointId, status, id, after, take);

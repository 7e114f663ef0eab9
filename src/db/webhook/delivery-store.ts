// Writes the attempts of webhook_delivery and the state of the endpoint that follows from them, and the
// deliveries that people ask for (a test, a replay). Events are written with their facts (webhook-event.ts).
//
// A sender claims deliveries for a while (claimed_until). If it dies, another sender claims them when that
// time is over: every delivery is sent at least once.

import type { Cell, Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { withTransaction } from '../transaction.ts';
import { deliveryHours } from './webhook-event.ts';
import type { EndpointKind } from './webhook-store.ts';

/** Endpoints per round. */
const endpointsMax = 200;

const selectDue = statement<[now: Date], { endpoint_id: string }>(`
  select d.endpoint_id from (
    select endpoint_id, min(due_at) as due_at from (
      select endpoint_id, due_at from webhook_delivery
      where status = 'pending' and due_at <= $1 and (claimed_until is null or claimed_until <= $1)
      order by due_at limit 20000) oldest
    group by endpoint_id) d
  join webhook_endpoint w on w.id = d.endpoint_id
  where w.disabled_at is null and (w.paused_until is null or w.paused_until <= $1)
  order by d.due_at limit ${endpointsMax}`);

/** Endpoints with due deliveries, the longest waiting first. */
export async function listDueEndpoints(db: Tx, now: Date): Promise<readonly string[]> {
  return (await selectDue(db, now)).map((row) => row.endpoint_id);
}

// Claims of one endpoint are made one after the other: a second claim would not see the first one's
// deliveries and could overtake it.
const lockEndpoint = statement<
  [id: string, now: Date],
  { kind: EndpointKind; credentials: Buffer; failures_in_row: number }
>(`
  select kind, credentials, failures_in_row from webhook_endpoint
  where id = $1 and disabled_at is null and (paused_until is null or paused_until <= $2)
  for no key update skip locked`);

/** Later deliveries with the same subject wait for an earlier one until it has had this many attempts. */
const patientAttempts = 6;

const claim = statement<[id: string, now: Date, until: Date, take: number], ClaimedRow>(`
  with due as (
    select d.seq from webhook_delivery d
    where d.endpoint_id = $1 and d.status = 'pending' and d.due_at <= $2
      and (d.claimed_until is null or d.claimed_until <= $2)
      and not exists (select from webhook_delivery b
        where b.endpoint_id = $1 and b.subject = d.subject and b.status = 'pending' and b.seq < d.seq
          and (b.claimed_until > $2 or (b.due_at > $2 and b.attempts < ${patientAttempts})))
    order by d.seq limit $4
  ), taken as (
    update webhook_delivery d set claimed_until = $3 from due where d.endpoint_id = $1 and d.seq = due.seq
    returning d.seq, d.id, d.subject, d.type, d.payload, d.attempts, d.expires_at
  )
  select * from taken order by seq`);

type ClaimedRow = {
  readonly seq: number;
  readonly id: string;
  readonly subject: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly attempts: number;
  readonly expires_at: Date;
};
export type ClaimedDelivery = ClaimedRow;

export type Claim = {
  readonly kind: EndpointKind;
  readonly credentials: Buffer;
  readonly failuresInRow: number;
  /** In their order. */
  readonly deliveries: readonly ClaimedDelivery[];
};

type DeliveryClaimOptions = {
  readonly endpointId: string;
  readonly now: Date;
  readonly until: Date;
  /** The number of deliveries to claim, by the endpoint's failures in a row. */
  readonly takeOf: (endpoint: { readonly kind: EndpointKind; readonly failuresInRow: number }) => number;
};

/** Null: another sender holds the endpoint's row, or the endpoint is disabled or paused. */
export function claimDeliveries(
  cell: Cell,
  { endpointId, now, until, takeOf }: DeliveryClaimOptions,
): Promise<Claim | null> {
  return withTransaction(cell, async (tx) => {
    const [row] = await lockEndpoint(tx, endpointId, now);
    if (row === undefined) return null;
    const { kind, credentials, failures_in_row: failuresInRow } = row;
    const deliveries = await claim(tx, endpointId, now, until, takeOf({ kind, failuresInRow }));
    return { kind, credentials, failuresInRow, deliveries };
  });
}

const releaseClaims = statement<[endpointId: string, seqs: readonly number[]]>(`
  update webhook_delivery set claimed_until = null
  where endpoint_id = $1 and seq = any ($2::bigint[]) and status = 'pending'`);

/** Releases deliveries that were claimed and not attempted. */
export async function release(db: Tx, endpointId: string, seqs: readonly number[]): Promise<void> {
  if (seqs.length > 0) await releaseClaims(db, endpointId, seqs);
}

/** The outcome of one attempt, as it is stored and shown. */
export type Attempt = {
  readonly at: string;
  readonly ms: number;
  /** The HTTP status; null: there was no response. */
  readonly status: number | null;
  /** What went wrong, for people; null: nothing. */
  readonly error: string | null;
  /** The beginning of the response. */
  readonly answer: string;
};

/** Attempts that are kept for one delivery, replays included. */
const logMax = 50;
const appended = `case when jsonb_array_length(log) < ${logMax} then log else log - 0 end || $3::jsonb`;

// The endpoint's row is written only if that changes something: many deliveries share it.
const updateDelivered = statement<
  [endpointId: string, seq: number, attempt: string, at: Date],
  { was_failing: boolean }
>(`
  with delivered as (
    update webhook_delivery set status = 'delivered', delivered_at = $4, claimed_until = null, attempts = attempts + 1,
      log = ${appended}
    where endpoint_id = $1 and seq = $2
  ), endpoint as (
    update webhook_endpoint set last_success_at = $4, failing_since = null, failures_in_row = 0, paused_until = null
    where id = $1 and (failing_since is not null or last_success_at is null
      or last_success_at < $4::timestamptz - interval '10 seconds')
  )
  select failures_in_row >= ${patientAttempts} as was_failing from webhook_endpoint where id = $1`);

const hurry = statement<[endpointId: string, now: Date]>(`
  update webhook_delivery set due_at = $2
  where endpoint_id = $1 and status = 'pending' and due_at > $2 and (claimed_until is null or claimed_until <= $2)`);

/** After many failures in a row, the first success makes every pending delivery due now, in order. */
export async function recordDelivered(
  db: Tx,
  endpointId: string,
  seq: number,
  attempt: Attempt,
  at: Date,
): Promise<void> {
  const [row] = await updateDelivered(db, endpointId, seq, JSON.stringify([attempt]), at);
  if (row?.was_failing === true) await hurry(db, endpointId, at);
}

const updateFailed = statement<
  [
    endpointId: string,
    seq: number,
    attempt: string,
    at: Date,
    dueAt: Date | null,
    pausedUntil: Date | null,
    why: string,
  ],
  { failing_since: Date }
>(`
  with failed as (
    update webhook_delivery set status = case when $5::timestamptz is null then 'dead' else 'pending' end,
      due_at = coalesce($5, due_at), claimed_until = null, attempts = attempts + 1, log = ${appended}
    where endpoint_id = $1 and seq = $2 and status = 'pending' returning seq
  )
  update webhook_endpoint set failing_since = coalesce(failing_since, $4), failures_in_row = failures_in_row + 1,
    last_failure = $7, paused_until = coalesce($6, paused_until)
  where id = $1 and exists (select from failed) returning failing_since`);

/**
 * `dueAt` null: the delivery is given up. An attempt that fails after its claim expired changes nothing if
 * another worker has delivered it meanwhile. Returns since when the endpoint has failed without a success.
 */
export async function recordFailed(
  db: Tx,
  endpointId: string,
  seq: number,
  failed: {
    readonly attempt: Attempt;
    readonly at: Date;
    readonly dueAt: Date | null;
    readonly pausedUntil: Date | null;
  },
): Promise<Date> {
  const { attempt, at, dueAt, pausedUntil } = failed;
  const log = JSON.stringify([attempt]);
  const why = attempt.error ?? '';
  const [row] = await updateFailed(db, endpointId, seq, log, at, dueAt, pausedUntil, why);
  return row?.failing_since ?? at;
}

const insertAsked = statement<[endpointId: string, type: string, payload: string, at: Date], { id: string }>(`
  insert into webhook_delivery (endpoint_id, subject, type, payload, created_at, due_at, expires_at)
  values ($1, 'test', $2, $3, $4, $4, $4::timestamptz + interval '${deliveryHours} hours') returning id`);

/** A test, as an event of its own. */
export async function insertTestDelivery(
  db: Tx,
  endpointId: string,
  payload: object,
  at: Date,
): Promise<string> {
  const [row] = await insertAsked(db, endpointId, 'webhook.test', JSON.stringify(payload), at);
  return row!.id;
}

const replayColumns = `status = 'pending', due_at = $2, delivered_at = null, claimed_until = null, attempts = 0,
  expires_at = $2::timestamptz + interval '${deliveryHours} hours'`;

const replayOneStatement = statement<[endpointId: string, at: Date, id: string], { id: string }>(`
  update webhook_delivery set ${replayColumns} where endpoint_id = $1 and id = $3 returning id`);

/** Deliveries that one replay sends again; the next replay sends more. */
const replayMax = 10_000;

const replaySinceStatement = statement<
  [endpointId: string, at: Date, since: Date, failedOnly: boolean],
  { id: string }
>(`
  update webhook_delivery d set ${replayColumns}
  from (select seq from webhook_delivery
    where endpoint_id = $1 and created_at >= $3 and status <> 'pending' and (not $4 or status = 'dead')
    order by seq limit ${replayMax}) chosen
  where d.endpoint_id = $1 and d.seq = chosen.seq returning d.id`);

/** Sends a delivery again under the same id. False: there is none with that id. */
export const replayOne = async (db: Tx, endpointId: string, id: string, now: Date): Promise<boolean> =>
  (await replayOneStatement(db, endpointId, now, id)).length > 0;

/** Sends the deliveries since then again, in order; returns how many. */
export const replaySince = async (
  db: Tx,
  endpointId: string,
  { since, failedOnly }: { readonly since: Date; readonly failedOnly: boolean },
  now: Date,
): Promise<number> => (await replaySinceStatement(db, endpointId, now, since, failedOnly)).length;

const deleteOld = statement<[before: Date], { seq: number }>(`
  delete from webhook_delivery d using (
    select endpoint_id, seq from webhook_delivery where created_at < $1 limit 5000) old
  where d.endpoint_id = old.endpoint_id and d.seq = old.seq returning d.seq`);

const deleteGone = statement<[before: Date]>(`
  delete from webhook_endpoint w where w.deleted_at < $1
    and not exists (select from webhook_delivery d where d.endpoint_id = w.id)`);

/** Deletes in parts, so that no transaction is long. */
export async function forgetDeliveries(db: Tx, before: Date): Promise<void> {
  while ((await deleteOld(db, before)).length > 0);
  await deleteGone(db, before);
}

// Sends webhook deliveries to endpoints. They are not jobs of the worker: an endpoint that takes ten seconds
// to answer would hold a slot that queues need. Deliveries are rows that a process claims for a limited time;
// if the process dies, nothing is lost, because its claims expire.
//
//   endpoint A:  #1 queued ► #1 testing ► #1 merged     one after the other: about the same pull request
//                #2 queued ► …                          beside it
//   endpoint B:  …                                      beside A, however slow A is
//
// A failed delivery is retried after a growing pause, for a day. Later ones about the same pull request wait
// for it, but not forever: after some attempts they go ahead (db/webhook/delivery-store.ts). An endpoint that
// keeps failing gets one delivery at a time until it answers, and then everything that waits for it is due at
// once.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import { dayMs, hourMs } from '#base/duration.ts';
import type { Log } from '#base/log.ts';
import { disableEndpoint } from '#command/webhook-endpoint.ts';
import type { Cell } from '#db/cell.ts';
import {
  type Attempt,
  type Claim,
  type ClaimedDelivery,
  claimDeliveries,
  recordDelivered,
  recordFailed,
  release,
} from '#db/webhook/delivery-store.ts';
import type { SecretKey } from '#db/seal.ts';
import { type EndpointKind, openCredentials } from '#db/webhook/webhook-store.ts';
import type { Addresses } from '#event/present-test.ts';
import type { Allowed } from '#event/webhook-address.ts';
import { buildPayload } from '#event/webhook-payload.ts';
import { buildWebhookRequest } from '#event/webhook-request.ts';
import { type Resolve, send, type SendResult } from '#event/webhook-send.ts';

export type DeliveryDeps = {
  readonly cell: Cell;
  readonly clock: Clock;
  readonly log: Log;
  /** Null: secrets cannot be decrypted, and nothing can be sent. */
  readonly secretKey: SecretKey | null;
  readonly addresses: Addresses;
  readonly allowed: Allowed;
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
  /** No further delivery may start. */
  readonly isEnding?: () => boolean;
};

/** Deliveries claimed at once, and concurrent requests to one endpoint by one process. */
const batchMax = 16;
const lanesMax = 8;
/** After this many failures in a row an endpoint is only probed. */
const failuresMax = 10;
/** How long a claim lasts beyond the longest request. */
const claimSpareMs = 30_000;
/** An endpoint that failed for this long without a success is disabled. */
const hopelessMs = 3 * dayMs;

const firstPauseMs = 5_000;
const pauseMaxMs = hourMs;

/** The pause before the next attempt: three times as long each time, up to an hour, with jitter. */
export function pauseAfter(attempts: number, random: number): number {
  return Math.min(pauseMaxMs, firstPauseMs * 3 ** Math.max(0, attempts - 1)) * (0.8 + 0.4 * random);
}

type EndpointHealth = { readonly kind: EndpointKind; readonly failuresInRow: number };

const isDown = ({ failuresInRow }: EndpointHealth): boolean => failuresInRow >= failuresMax;

/** A chat gets one message at a time, and so does an endpoint that is down. */
const parallelSendLimit = (endpoint: EndpointHealth): number =>
  endpoint.kind !== 'webhook' || isDown(endpoint) ? 1 : lanesMax;

const claimSizeLimit = (endpoint: EndpointHealth): number =>
  isDown(endpoint) ? 1 : endpoint.kind === 'webhook' ? batchMax : 4;

type Chain = {
  readonly claim: Claim;
  readonly deliveries: readonly ClaimedDelivery[];
  /** No other process can claim the deliveries before then. */
  readonly until: Date;
};

/** One endpoint while it is served. */
type EndpointDeliveryState = {
  readonly waiting: Chain[];
  claiming: Promise<void> | null;
  busyLanes: number;
  tried: number;
  /** The endpoint asked for a pause or was disabled, or the process stops. */
  isStopped: boolean;
  lanes: number;
};

/** The pause between two checks for more work while a slow request is under way. */
const idleMs = 200;

/** Sends everything that is due for an endpoint; returns how many were tried. */
export async function deliverTo(deps: DeliveryDeps, endpointId: string): Promise<number> {
  const service: EndpointDeliveryState = {
    waiting: [],
    claiming: null,
    busyLanes: 0,
    tried: 0,
    isStopped: false,
    lanes: lanesMax,
  };
  const lane = async (number: number) => {
    for (;;) {
      if (service.waiting.length === 0 && !service.isStopped && number < service.lanes)
        await (service.claiming ??= claimMore(deps, endpointId, service).finally(
          () => (service.claiming = null),
        ));
      const chain = number < service.lanes ? service.waiting.shift() : undefined;
      if (chain === undefined) {
        // While a slow request is under way, the other lanes keep checking for new deliveries.
        if (service.busyLanes === 0) return;
        await sleep(idleMs);
        continue;
      }
      service.busyLanes += 1;
      await sendChain(deps, endpointId, chain, service).finally(() => (service.busyLanes -= 1));
    }
  };
  await Promise.all(Array.from({ length: lanesMax }, (_, number) => lane(number)));
  return service.tried;
}

/** Claims a part of the due deliveries; those of one pull request stay together. */
async function claimMore(
  deps: DeliveryDeps,
  endpointId: string,
  service: EndpointDeliveryState,
): Promise<void> {
  if (deps.isEnding?.() === true) {
    service.isStopped = true;
    return;
  }
  const now = deps.clock.now();
  const until = new Date(now.getTime() + deps.timeoutMs + claimSpareMs);
  const claim = await claimDeliveries(deps.cell, { endpointId, now, until, takeOf: claimSizeLimit });
  if (claim === null) return;
  service.lanes = parallelSendLimit(claim);
  const chains = new Map<string, ClaimedDelivery[]>();
  for (const delivery of claim.deliveries)
    chains.set(delivery.subject, [...(chains.get(delivery.subject) ?? []), delivery]);
  service.waiting.push(...[...chains.values()].map((deliveries) => ({ claim, deliveries, until })));
}

/** Deliveries about the same pull request, in order; those behind a failed one are left for later. */
async function sendChain(
  deps: DeliveryDeps,
  endpointId: string,
  { claim, deliveries, until }: Chain,
  service: EndpointDeliveryState,
): Promise<void> {
  for (const [index, delivery] of deliveries.entries()) {
    // Stop before the claim expires: another process may then send the same delivery.
    const isLate = deps.clock.now().getTime() + deps.timeoutMs > until.getTime();
    const isLeft = isLate || service.isStopped;
    if (!isLeft && (await sendOne(deps, endpointId, claim, delivery, service))) continue;
    const rest = deliveries.slice(isLeft ? index : index + 1);
    const seqs = rest.map(({ seq }) => seq);
    return release(deps.cell.db, endpointId, seqs);
  }
}

async function sendOne(
  deps: DeliveryDeps,
  endpointId: string,
  { kind, credentials }: Claim,
  delivery: ClaimedDelivery,
  service: EndpointDeliveryState,
): Promise<boolean> {
  const { cell, clock, secretKey, addresses, allowed, timeoutMs, resolve } = deps;
  const opened = secretKey === null ? null : openCredentials(secretKey, endpointId, credentials);
  const at = clock.now();
  const startedAt = performance.now();
  service.tried += 1;
  let result: SendResult;
  if (opened === null) result = { kind: 'failed', why: unopened };
  else {
    const payload = buildPayload(delivery.type, delivery.payload, addresses);
    const { headers, body } = buildWebhookRequest({ id: delivery.id, kind, payload }, opened, at);
    const more = resolve === undefined ? {} : { resolve };
    result = await send({ url: opened.url, headers, body, allowed, timeoutMs, ...more });
  }
  const attempt = toDeliveryAttempt(result, at, performance.now() - startedAt);
  if (attempt.error === null) {
    await recordDelivered(cell.db, endpointId, delivery.seq, attempt, clock.now());
    return true;
  }
  await fail(deps, endpointId, delivery, result, attempt, service);
  return false;
}

const unopened =
  'the URL and the secret cannot be decrypted: set SIGNALBOX_SECRET_KEY on every worker to the key that encrypted them';

function toDeliveryAttempt(result: SendResult, at: Date, ms: number): Attempt {
  const said = { at: at.toISOString(), ms: Math.round(ms) };
  if (result.kind === 'failed') return { ...said, status: null, error: result.why, answer: '' };
  return { ...said, status: result.status, error: describeHttpFailure(result.status), answer: result.answer };
}

function describeHttpFailure(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return `answered ${status}: Signalbox does not follow redirects, set the final URL`;
  return `answered ${status}`;
}

async function fail(
  deps: DeliveryDeps,
  endpointId: string,
  { seq, attempts, expires_at: expiresAt }: ClaimedDelivery,
  result: SendResult,
  attempt: Attempt,
  service: EndpointDeliveryState,
): Promise<void> {
  const { cell, clock, log } = deps;
  const at = clock.now();
  const asked = result.kind === 'answered' ? result.retryAfterMs : null;
  const dueAt = new Date(at.getTime() + Math.max(asked ?? 0, pauseAfter(attempts + 1, Math.random())));
  // The pause applies to the whole endpoint, not only to this delivery.
  const pausedUntil = asked === null ? null : new Date(at.getTime() + Math.min(asked, pauseMaxMs));
  if (pausedUntil !== null) service.isStopped = true;
  const failed = { attempt, at, dueAt: dueAt > expiresAt ? null : dueAt, pausedUntil };
  const failingSince = await recordFailed(cell.db, endpointId, seq, failed);
  const reason = hopelessReason(attempt, failingSince, at);
  if (reason === null) return;
  service.isStopped = true;
  if (await disableEndpoint(cell, endpointId, reason, at))
    log.warn({ cell: cell.name, endpoint: endpointId, reason }, 'webhook endpoint disabled');
}

function hopelessReason({ status, error }: Attempt, failingSince: Date, now: Date): string | null {
  if (status === 410) return 'The endpoint answered 410 (gone).';
  if (now.getTime() - failingSince.getTime() < hopelessMs) return null;
  return `Every delivery failed for three days. The last error: ${error}.`;
}

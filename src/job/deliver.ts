// Sends what is to be told to endpoints. Not as jobs of the worker: an endpoint that takes ten seconds to answer would
// hold a place that queues need. Deliveries are rows, taken for a while by whoever sends them; a process that dies loses
// nothing, because what it had taken is taken again.
//
//   endpoint A:  #1 queued ► #1 testing ► #1 merged     one after the other: about the same pull request
//                #2 queued ► …                          beside it
//   endpoint B:  …                                      beside A, however slow A is
//
// A delivery that fails is tried again after a growing pause, for a day. Later ones about the same wait for it, but not
// for ever: after some attempts they go ahead (db/delivery-store.ts). An endpoint that fails again and again is asked
// with one delivery at a time until it answers, and then everything that waits for it is due at once.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Cell } from '#db/cell.ts';
import {
  type Attempt,
  type Claim,
  type ClaimedDelivery,
  claimDeliveries,
  listDueEndpoints,
  recordDelivered,
  recordFailed,
  release,
} from '#db/delivery-store.ts';
import type { SecretKey } from '#db/seal.ts';
import { disableEndpoint, type EndpointKind, openCredentials } from '#db/webhook-store.ts';
import type { Addresses } from '#event/present-test.ts';
import type { Allowed } from '#event/webhook-address.ts';
import { payloadOf } from '#event/webhook-payload.ts';
import { requestOf } from '#event/webhook-request.ts';
import { type Resolve, send, type SendResult } from '#event/webhook-send.ts';

export type DeliveryDeps = {
  readonly cell: Cell;
  readonly clock: Clock;
  readonly log: Log;
  /** Null: secrets cannot be opened, and nothing can be sent. */
  readonly secretKey: SecretKey | null;
  readonly addresses: Addresses;
  readonly allowed: Allowed;
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
  /** Nothing more is to be begun. */
  readonly isEnding?: () => boolean;
};

/** Deliveries taken at once, and requests under way to one endpoint by one process. */
const batchMax = 16;
const lanesMax = 8;
/** After so many failures in a row an endpoint is only asked whether it is back. */
const failuresMax = 10;
/** How long what was taken stays so beyond what one request may take. */
const claimSpareMs = 30_000;
/** An endpoint that failed for so long without one success is disabled. */
const hopelessMs = 3 * 86_400_000;

const firstPauseMs = 5_000;
const pauseMaxMs = 3_600_000;

/** Until the next attempt: three times as long each time, up to an hour, and never the same for all. */
export function pauseAfter(attempts: number, random: number): number {
  return Math.min(pauseMaxMs, firstPauseMs * 3 ** Math.max(0, attempts - 1)) * (0.8 + 0.4 * random);
}

type Standing = { readonly kind: EndpointKind; readonly failuresInRow: number };

const isDown = ({ failuresInRow }: Standing): boolean => failuresInRow >= failuresMax;

/** A chat takes one message at a time, and one that is down is asked once at a time. */
const lanesOf = (endpoint: Standing): number =>
  endpoint.kind !== 'webhook' || isDown(endpoint) ? 1 : lanesMax;

const takeOf = (endpoint: Standing): number =>
  isDown(endpoint) ? 1 : endpoint.kind === 'webhook' ? batchMax : 4;

type Chain = {
  readonly claim: Claim;
  readonly deliveries: readonly ClaimedDelivery[];
  /** Nobody else takes them before then. */
  readonly until: Date;
};

/** One endpoint while it is served. */
type Service = {
  readonly waiting: Chain[];
  claiming: Promise<void> | null;
  busyLanes: number;
  tried: number;
  /** It asked for time, or was disabled, or the process ends. */
  isStopped: boolean;
  lanes: number;
};

/** Between two looks for more while a slow request is under way. */
const idleMs = 200;

/** Sends what is due for an endpoint, until nothing is; answers with how many were tried. */
export async function deliverTo(deps: DeliveryDeps, endpointId: string): Promise<number> {
  const service: Service = {
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
        // A request that takes its time must not keep what comes meanwhile.
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

/** Takes a part of what is due; that of one pull request stays together. */
async function claimMore(deps: DeliveryDeps, endpointId: string, service: Service): Promise<void> {
  if (deps.isEnding?.() === true) {
    service.isStopped = true;
    return;
  }
  const now = deps.clock.now();
  const until = new Date(now.getTime() + deps.timeoutMs + claimSpareMs);
  const claim = await claimDeliveries(deps.cell, { endpointId, now, until, takeOf });
  if (claim === null) return;
  service.lanes = lanesOf(claim);
  const chains = new Map<string, ClaimedDelivery[]>();
  for (const delivery of claim.deliveries)
    chains.set(delivery.subject, [...(chains.get(delivery.subject) ?? []), delivery]);
  service.waiting.push(...[...chains.values()].map((deliveries) => ({ claim, deliveries, until })));
}

/** Deliveries about the same, in their order; those behind one that failed are left for another time. */
async function sendChain(
  deps: DeliveryDeps,
  endpointId: string,
  { claim, deliveries, until }: Chain,
  service: Service,
): Promise<void> {
  for (const [index, delivery] of deliveries.entries()) {
    // Whoever takes it after us must not meet us still sending.
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
  service: Service,
): Promise<boolean> {
  const { cell, clock, secretKey, addresses, allowed, timeoutMs, resolve } = deps;
  const opened = secretKey === null ? null : openCredentials(secretKey, endpointId, credentials);
  const at = clock.now();
  const startedAt = performance.now();
  service.tried += 1;
  let result: SendResult;
  if (opened === null) result = { kind: 'failed', why: unopened };
  else {
    const payload = payloadOf(delivery.type, delivery.payload, addresses);
    const { headers, body } = requestOf({ id: delivery.id, kind, payload }, opened, at);
    const more = resolve === undefined ? {} : { resolve };
    result = await send({ url: opened.url, headers, body, allowed, timeoutMs, ...more });
  }
  const attempt = attemptOf(result, at, performance.now() - startedAt);
  if (attempt.error === null) {
    await recordDelivered(cell.db, endpointId, delivery.seq, attempt, clock.now());
    return true;
  }
  await fail(deps, endpointId, delivery, result, attempt, service);
  return false;
}

const unopened =
  'the address and the secret cannot be opened: SIGNALBOX_SECRET_KEY is not set where deliveries are sent, or is not the one they were sealed with';

function attemptOf(result: SendResult, at: Date, ms: number): Attempt {
  const said = { at: at.toISOString(), ms: Math.round(ms) };
  if (result.kind === 'failed') return { ...said, status: null, error: result.why, answer: '' };
  return { ...said, status: result.status, error: problemOf(result.status), answer: result.answer };
}

function problemOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return `answered ${status}: redirects are not followed, give the address it leads to`;
  return `answered ${status}`;
}

async function fail(
  deps: DeliveryDeps,
  endpointId: string,
  { seq, attempts, expires_at: expiresAt }: ClaimedDelivery,
  result: SendResult,
  attempt: Attempt,
  service: Service,
): Promise<void> {
  const { cell, clock, log } = deps;
  const at = clock.now();
  const asked = result.kind === 'answered' ? result.retryAfterMs : null;
  const dueAt = new Date(at.getTime() + Math.max(asked ?? 0, pauseAfter(attempts + 1, Math.random())));
  // It speaks for the whole endpoint, not for this delivery.
  const pausedUntil = asked === null ? null : new Date(at.getTime() + Math.min(asked, pauseMaxMs));
  if (pausedUntil !== null) service.isStopped = true;
  const failed = { attempt, at, dueAt: dueAt > expiresAt ? null : dueAt, pausedUntil };
  const failingSince = await recordFailed(cell.db, endpointId, seq, failed);
  const reason = hopelessReason(attempt, failingSince, at);
  if (reason === null) return;
  service.isStopped = true;
  if (await disableEndpoint(cell, endpointId, reason, at))
    log.warn({ cell: cell.name, endpoint: endpointId, reason }, 'a webhook endpoint was disabled');
}

function hopelessReason({ status, error }: Attempt, failingSince: Date, now: Date): string | null {
  if (status === 410) return 'It answered 410: it is gone for good.';
  if (now.getTime() - failingSince.getTime() < hopelessMs) return null;
  return `It failed for three days without one success. The last time: ${error}.`;
}

/** Sends everything that is due, endpoint beside endpoint; answers with how many were tried. */
export async function deliverDue(deps: DeliveryDeps): Promise<number> {
  const due = await listDueEndpoints(deps.cell.db, deps.clock.now());
  const tried = await Promise.all(due.map((endpointId) => deliverTo(deps, endpointId)));
  return tried.reduce((sum, count) => sum + count, 0);
}

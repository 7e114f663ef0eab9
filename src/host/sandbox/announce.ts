// Sends webhooks about changes to Signalbox's own endpoint, in the background and best effort, as hosts do.
// If the endpoint is unreachable, the events are recorded directly, so that a deployment behind a firewall
// works too. The faults of the repository apply in both cases.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Cell } from '#db/cell.ts';
import { ensureSandboxConnection } from '#db/account/connection-store.ts';
import { hookUrl } from '../connection.ts';
import type { HostRepository } from '../host.ts';
import type { Faults } from './setting.ts';
import { signatureHeader, signWebhook, webhookBody } from './webhook.ts';

export type Announce = (
  repository: HostRepository,
  faults: Faults,
  events: readonly HostEvent[],
) => Promise<void>;

export type AnnounceOptions = {
  readonly cell: Cell;
  /** The URL of our API; null: events are recorded directly, before the call returns. */
  readonly publicUrl: string | null;
  readonly log: Log;
};

/** Concurrent deliveries. */
const concurrency = 4;
/** Deliveries that wait; beyond that events are recorded directly. */
const waitingMax = 1_000;
const timeoutMs = 3_000;
/** After a failure, the endpoint gets no deliveries for this long. */
const restMs = 15_000;

export function createAnnouncer({ cell, publicUrl, log }: AnnounceOptions): Announce {
  let underWay = 0;
  let restUntilMs = 0;
  const waiting: (() => void)[] = [];

  const post = async ({ organizationId }: HostRepository, event: HostEvent): Promise<boolean> => {
    const { id, secret } = await ensureSandboxConnection(cell.db, organizationId);
    const body = webhookBody(event);
    const headers = { 'content-type': 'application/json', [signatureHeader]: signWebhook(secret, body) };
    const signal = AbortSignal.timeout(timeoutMs);
    const url = hookUrl(publicUrl ?? '', cell.name, id);
    const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body), signal });
    await answer.body?.cancel();
    return answer.ok;
  };

  const deliver = async (repository: HostRepository, event: HostEvent): Promise<void> => {
    if (publicUrl !== null && performance.now() >= restUntilMs) {
      if (underWay >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
      underWay += 1;
      try {
        if (await post(repository, event)) return;
      } catch (error) {
        log.debug({ err: error }, 'sandbox webhook not delivered, recorded directly');
      } finally {
        underWay -= 1;
        waiting.shift()?.();
      }
      restUntilMs = performance.now() + restMs;
    }
    await recordHostEvents(cell, repository.organizationId, [event]);
  };

  return async (repository, faults, events) => {
    if (faults.webhooks === 'drop' || events.length === 0) return;
    const deliveries = faults.webhooks === 'double' ? [...events, ...events] : events;
    const isDirect = publicUrl === null || waiting.length > waitingMax;
    if (isDirect && faults.shuffleMs === 0)
      return recordHostEvents(cell, repository.organizationId, deliveries);
    for (const event of deliveries)
      void sleep(Math.random() * faults.shuffleMs)
        .then(() => deliver(repository, event))
        .catch((error: unknown) => log.warn({ err: error }, 'lost a sandbox event'));
  };
}

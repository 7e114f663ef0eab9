// Tells our own receiver of webhooks what changed. In the background and best effort, as hosts do; where the receiver
// cannot be reached, the events are recorded directly, so that a deployment behind a wall works as well. The faults of
// the repository apply in both cases.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { HostRepository } from '../host.ts';
import type { Faults } from './setting.ts';
import type { SandboxStore } from './store.ts';
import { signatureHeader, signWebhook, webhookBody } from './webhook.ts';

export type Announce = (
  repository: HostRepository,
  faults: Faults,
  events: readonly HostEvent[],
) => Promise<void>;

export type AnnounceOptions = {
  readonly store: SandboxStore;
  readonly cellName: string;
  /** Where our API is reached; null: events are recorded directly, before the caller goes on. */
  readonly publicUrl: string | null;
  readonly log: Log;
};

/** Deliveries at once. */
const concurrency = 4;
/** Deliveries that wait; beyond that events are recorded directly. */
const waitingMax = 1_000;
const timeoutMs = 3_000;
/** After a failure the receiver is left alone for this long. */
const restMs = 15_000;

export const hookUrl = (publicUrl: string, cellName: string, connectionId: string): string =>
  `${publicUrl}/hooks/${cellName}_${connectionId}`;

export function createAnnouncer({ store, cellName, publicUrl, log }: AnnounceOptions): Announce {
  let underWay = 0;
  let restUntilMs = 0;
  const waiting: (() => void)[] = [];

  const post = async ({ organizationId }: HostRepository, event: HostEvent): Promise<boolean> => {
    const { id, secret } = await store.connection(organizationId);
    const body = webhookBody(event);
    const headers = { 'content-type': 'application/json', [signatureHeader]: signWebhook(secret, body) };
    const signal = AbortSignal.timeout(timeoutMs);
    const url = hookUrl(publicUrl ?? '', cellName, id);
    const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body), signal });
    await answer.body?.cancel();
    return answer.ok;
  };

  const deliver = async (repository: HostRepository, event: HostEvent): Promise<void> => {
    if (publicUrl !== null && Date.now() >= restUntilMs) {
      if (underWay >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
      underWay += 1;
      try {
        if (await post(repository, event)) return;
      } catch (error) {
        log.debug({ err: error }, 'a webhook of the sandbox could not be delivered and is recorded directly');
      } finally {
        underWay -= 1;
        waiting.shift()?.();
      }
      restUntilMs = Date.now() + restMs;
    }
    await store.record(repository.organizationId, [event]);
  };

  return async (repository, faults, events) => {
    if (faults.webhooks === 'drop' || events.length === 0) return;
    const told = faults.webhooks === 'double' ? [...events, ...events] : events;
    const isDirect = publicUrl === null || waiting.length > waitingMax;
    if (isDirect && faults.shuffleMs === 0) return void (await store.record(repository.organizationId, told));
    for (const event of told)
      void sleep(Math.random() * faults.shuffleMs)
        .then(() => deliver(repository, event))
        .catch((error: unknown) => log.warn({ err: error }, 'an event of the sandbox was lost'));
  };
}

// A world whose events go to a receiver on loopback, sent when the test says so.

import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { webhookBodies } from '#contract/webhook-event.ts';
import { listDueEndpoints } from '#db/webhook/delivery-store.ts';
import { deliverTo, type DeliveryDeps } from '#job/webhook/deliver.ts';
import { type Client, main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export const secretKey = Buffer.alloc(32, 7);
export const loopback = { networks: ['127.0.0.1/32'], hosts: [] };
/** Long enough for a receiver on a machine whose cores are all taken. */
const timeoutMs = 4_000;
const webhook = { allow: loopback, timeoutMs };

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

export type WebhookWorld = World & {
  readonly admin: Client;
  readonly receiver: Receiver;
  readonly deliveryDeps: DeliveryDeps;
  /** Sends what is due until nothing is. */
  readonly deliver: () => Promise<void>;
  readonly createEndpoint: (wish?: object) => Promise<ResponseOf<'createWebhookEndpoint'>>;
  /** What arrived, each verified and held against its schema. */
  readonly events: (secret: string) => readonly Event[];
  /** Submits a pull request and has the queue look at it. */
  readonly submit: (number: number) => Promise<void>;
  readonly check: (number: number, state: 'success' | 'failure') => Promise<void>;
};

export async function openWebhookWorld(): Promise<WebhookWorld> {
  const world = await openWorldForTest({ config: { secretKey, webhook } });
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const admin = await world.client();
  const { cell, clock, deps } = world;
  const deliveryDeps: DeliveryDeps = {
    cell,
    clock,
    log: deps.log,
    secretKey,
    addresses: deps.config,
    allowed: loopback,
    timeoutMs,
  };
  return {
    ...world,
    admin,
    receiver,
    deliveryDeps,
    deliver: async () => {
      while ((await deliverDue(deliveryDeps)) > 0);
    },
    createEndpoint: (wish = {}) =>
      admin.call('createWebhookEndpoint', { name: 'Deploys', url: receiver.url, ...wish }),
    events: (secret) => {
      const hook = new Webhook(secret);
      return receiver.received.map(({ headers, body }) => {
        const event = hook.verify(body, headers as Record<string, string>) as Event;
        webhookBodies[event.type]!.parse(event);
        return event;
      });
    },
    submit: async (number) => {
      const wish = { repo: widgets, pr: { number }, title: `Change ${number}`, author: 'ada' };
      await admin.call('sandboxCreatePullRequest', wish);
      await admin.call('submitPullRequest', pr(number));
      await world.runJobs();
    },
    check: async (testRunOf, state) => {
      await admin.call('sandboxSetCheck', { repo: widgets, testRunOf, name: 'ci', state });
      await world.runJobs();
    },
  };
}

export const createQueue = (admin: Client, settings: object = {}) =>
  admin.call('createQueue', { ...main, requiredStatuses: ['ci'], ...settings });

/** Sends everything that is due, to all endpoints at once; returns how many deliveries were tried. */
export async function deliverDue(deps: DeliveryDeps): Promise<number> {
  const due = await listDueEndpoints(deps.cell.db, deps.clock.now());
  const tried = await Promise.all(due.map((endpointId) => deliverTo(deps, endpointId)));
  return tried.reduce((sum, count) => sum + count, 0);
}

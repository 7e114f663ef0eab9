import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { pauseAfter } from '#job/webhook/deliver.ts';
import { forgetDeliveries } from '#db/webhook/delivery-store.ts';
import { taken } from './receiver.ts';
import { createQueue, deliverDue, openWebhookWorld, type WebhookWorld } from './world.ts';
import { sql } from '../support/sql.ts';

const hourMs = 3_600_000;

const stateOf = async (world: WebhookWorld, endpointId: string) =>
  (await world.admin.call('listWebhookEndpoints', {})).endpoints.find(({ id }) => id === endpointId)!;

const deliveriesOf = async (world: WebhookWorld, endpointId: string) =>
  (await world.admin.call('listWebhookDeliveries', { endpointId, take: 100 })).deliveries.toReversed();

const typesOf = (world: WebhookWorld) =>
  world.receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

describe('a delivery that is not taken', () => {
  it('stays delivered where another worker delivered it meanwhile', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    await createQueue(world.admin);
    await world.submit(1);
    world.receiver.answer = (_, response) => {
      // The claim of this try was over, and another worker was faster.
      void world.cell.pool
        .query(`update webhook_delivery set status = 'delivered', delivered_at = now(), claimed_until = null`)
        .then(() => response.writeHead(500).end());
    };
    await world.deliver();
    expect((await deliveriesOf(world, endpoint.id))[0]).toMatchObject({ state: 'delivered' });
    expect(await stateOf(world, endpoint.id)).toMatchObject({ failingSince: null });
  });

  it('is tried again after growing pauses under its id, and what follows it waits', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    await createQueue(world.admin);
    await world.submit(1);
    world.receiver.answer = (_, response) => response.writeHead(500).end('out of order');
    await world.deliver();
    await world.deliver();
    expect(typesOf(world)).toEqual(['pull_request.submitted']);
    expect(await stateOf(world, endpoint.id)).toMatchObject({
      state: 'failing',
      lastFailure: 'answered 500',
    });
    world.clock.advance(4 * 60_000);
    await world.deliver();
    world.receiver.answer = taken;
    world.clock.advance(4 * 60_000);
    await world.deliver();
    expect(typesOf(world)).toEqual([
      'pull_request.submitted',
      'pull_request.submitted',
      'pull_request.submitted',
      'pull_request.queued',
      'pull_request.testing',
    ]);
    const ids = world.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    const [first] = await deliveriesOf(world, endpoint.id);
    expect(first).toMatchObject({ id: ids[0], state: 'delivered', nextAttemptAt: null });
    expect(first!.attempts.map(({ status, error, answer }) => [status, error, answer])).toEqual([
      [500, 'answered 500', 'out of order'],
      [500, 'answered 500', 'out of order'],
      [200, null, 'thanks'],
    ]);
    expect(await stateOf(world, endpoint.id)).toMatchObject({
      state: 'active',
      failingSince: null,
      pending: 0,
    });
  });

  it('does not hold up those of other pull requests, nor its own for ever', async () => {
    const world = await openWebhookWorld();
    await world.createEndpoint({ eventTypes: ['pull_request.submitted', 'pull_request.testing'] });
    await createQueue(world.admin);
    await world.submit(1);
    await world.submit(2);
    const isPoison = (body: string) =>
      body.includes('"pull_request.submitted"') && body.includes('"pr_number":1');
    world.receiver.answer = ({ body }, response) => response.writeHead(isPoison(body) ? 500 : 200).end();
    await world.deliver();
    expect(typesOf(world)).toEqual([
      'pull_request.submitted',
      'pull_request.submitted',
      'pull_request.testing',
    ]);
    for (let attempt = 0; attempt < 6; attempt += 1) {
      world.clock.advance(hourMs);
      await world.deliver();
    }
    expect(typesOf(world).filter((type) => type === 'pull_request.testing')).toHaveLength(2);
  });

  it('is given up after a day, and can be sent again', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    const endpointId = endpoint.id;
    await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
    world.receiver.answer = (_, response) => response.destroy();
    for (let hour = 0; hour < 26; hour += 1) {
      await world.deliver();
      world.clock.advance(1.3 * hourMs);
    }
    const [dead] = await deliveriesOf(world, endpointId);
    expect(dead).toMatchObject({ state: 'dead', nextAttemptAt: null });
    expect(dead!.attempts.length).toBeGreaterThan(10);
    const { length } = world.receiver.received;
    await world.deliver();
    expect(world.receiver.received).toHaveLength(length);
    world.receiver.answer = taken;
    const replay = { endpointId, since: dead!.createdAt, failedOnly: true };
    expect(await world.admin.call('replayWebhookDelivery', replay)).toEqual({ replayed: 1 });
    expect(await world.admin.call('replayWebhookDelivery', replay)).toEqual({ replayed: 0 });
    await world.deliver();
    expect((await deliveriesOf(world, endpointId))[0]).toMatchObject({ state: 'delivered', id: dead!.id });
    expect(await world.admin.call('replayWebhookDelivery', { endpointId, deliveryId: dead!.id })).toEqual({
      replayed: 1,
    });
    await world.deliver();
    expect(world.receiver.received).toHaveLength(length + 2);
  });
});

describe('an endpoint', () => {
  it('that asks for time is left alone until then', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    for (let count = 0; count < 3; count += 1)
      await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
    world.receiver.answer = (_, response) => response.writeHead(429, { 'retry-after': '1200' }).end();
    await world.deliver();
    const asked = world.receiver.received.length;
    expect(asked).toBe(1);
    expect((await stateOf(world, endpoint.id)).pausedUntil).not.toBeNull();
    world.receiver.answer = taken;
    world.clock.advance(19 * 60_000);
    await world.deliver();
    expect(world.receiver.received).toHaveLength(asked);
    world.clock.advance(2 * 60_000);
    await world.deliver();
    expect((await stateOf(world, endpoint.id)).pending).toBe(0);
  });

  it('that says it is gone is disabled, in the audit log too, until an admin enables it', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
    world.receiver.answer = (_, response) => response.writeHead(410).end();
    await world.deliver();
    expect(await stateOf(world, endpoint.id)).toMatchObject({
      state: 'disabled',
      disabledReason: 'The endpoint answered 410 (gone).',
    });
    const { entries } = await world.admin.call('listAuditLog', { action: 'webhook.disable' });
    expect(entries[0]).toMatchObject({ actor: 'signalbox', subject: `Deploys (${endpoint.id})` });
    world.clock.advance(hourMs);
    await world.deliver();
    expect(world.receiver.received).toHaveLength(1);
    world.receiver.answer = taken;
    await world.admin.call('updateWebhookEndpoint', { endpointId: endpoint.id, enabled: true });
    await world.deliver();
    expect(await stateOf(world, endpoint.id)).toMatchObject({
      state: 'active',
      disabledReason: null,
      pending: 0,
    });
  });

  it('that fails for three days is disabled with the reason', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    world.receiver.answer = (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    for (let day = 0; day < 4; day += 1) {
      await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
      await world.deliver();
      world.clock.advance(25 * hourMs);
    }
    expect(await stateOf(world, endpoint.id)).toMatchObject({
      state: 'disabled',
      disabledReason:
        'Every delivery failed for three days. The last error: answered 302: Signalbox does not follow redirects, set the final URL.',
    });
  });

  it('that does not answer does not keep another waiting', async () => {
    const world = await openWebhookWorld();
    const slow = await world.createEndpoint({ name: 'slow' });
    const quick = await world.createEndpoint({ name: 'quick', url: `${world.receiver.url}?quick` });
    for (const { endpoint } of [slow, quick])
      await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
    const began = performance.now();
    let quickAt = Number.NaN;
    const quickHook = new Webhook(quick.signingSecret!);
    world.receiver.answer = ({ headers, body }, response) => {
      try {
        quickHook.verify(body, headers as Record<string, string>);
        quickAt = performance.now() - began;
        response.end();
      } catch {
        // The slow one: never answered.
      }
    };
    await deliverDue(world.deliveryDeps);
    expect(quickAt).toBeLessThan(3_500);
    expect(await stateOf(world, quick.endpoint.id)).toMatchObject({ state: 'active', pending: 0 });
  });

  it('is signed for with both secrets for a day after a rotation, then with the new one', async () => {
    const world = await openWebhookWorld();
    const { endpoint, signingSecret: secret } = await world.createEndpoint();
    const endpointId = endpoint.id;
    const rotated = await world.admin.call('rotateWebhookSecret', { endpointId });
    expect(rotated.signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rotated.signingSecret).not.toBe(secret);
    await world.admin.call('sendTestWebhook', { endpointId });
    await world.deliver();
    expect(world.events(secret!)).toEqual(world.events(rotated.signingSecret));
    world.receiver.received.length = 0;
    world.clock.advance(25 * hourMs);
    await world.admin.call('sendTestWebhook', { endpointId });
    await world.deliver();
    expect(world.receiver.received[0]!.headers['webhook-signature']).not.toContain(' ');
  });

  it('gets what a dead worker had in hand from the next one', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
    const inHand = new Date(world.clock.now().getTime() + 30_000);
    await sql(world.cell.db)`update webhook_delivery set claimed_until = ${inHand}`;
    await world.deliver();
    expect(world.receiver.received).toHaveLength(0);
    world.clock.advance(31_000);
    await world.deliver();
    expect((await stateOf(world, endpoint.id)).pending).toBe(0);
    expect(world.receiver.received).toHaveLength(1);
  });

  it('whose secret cannot be opened says so', async () => {
    const world = await openWebhookWorld();
    const { endpoint } = await world.createEndpoint();
    await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
    await deliverDue({ ...world.deliveryDeps, secretKey: null });
    expect((await stateOf(world, endpoint.id)).lastFailure).toMatch(
      /cannot be decrypted: set SIGNALBOX_SECRET_KEY/,
    );
    expect(world.receiver.received).toHaveLength(0);
  });
});

it('pauses grow from seconds to an hour and differ', () => {
  expect([1, 2, 3, 7, 20].map((attempts) => pauseAfter(attempts, 0.5) / 1_000)).toEqual([
    5, 15, 45, 3_600, 3_600,
  ]);
  expect(pauseAfter(1, 0)).toBeLessThan(pauseAfter(1, 0.99));
});

it('deliveries are forgotten after two weeks, and deleted endpoints with them', async () => {
  const world = await openWebhookWorld();
  const { endpoint } = await world.createEndpoint();
  await world.admin.call('sendTestWebhook', { endpointId: endpoint.id });
  await world.admin.call('deleteWebhookEndpoint', { endpointId: endpoint.id });
  const count = async () => (await sql(world.cell.db)`select * from webhook_endpoint`).length;
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * hourMs);
  await forgetDeliveries(world.cell.db, daysAgo(14));
  expect(await count()).toBe(1);
  await forgetDeliveries(world.cell.db, daysAgo(-1));
  expect(await count()).toBe(0);
});

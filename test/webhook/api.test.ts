import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, type Operation } from '#contract/endpoint/endpoint.ts';
import {
  type Client,
  clientOf,
  openWorld,
  openWorldForTest,
  widgets,
  type World,
} from '../support/harness.ts';
import { loopback, openWebhookWorld, secretKey } from './world.ts';
import { sql } from '../support/sql.ts';

const operations = Object.keys(endpoints).filter((name) => name.includes('Webhook')) as Operation[];
const nobody = '01940000-0000-7000-8000-00000000dead';
const url = 'http://127.0.0.1:9/hook';

describe('webhook endpoints', () => {
  let world: World & { close: () => Promise<void> };
  let admin: Client;
  beforeAll(async () => {
    world = await openWorld({ config: { secretKey, webhook: { allow: loopback, timeoutMs: 1_000 } } });
    admin = await world.client('acme', ['admin']);
  });
  afterAll(() => world.close());

  it('are made, listed, changed and deleted by admins, each with a line in the audit log', async () => {
    const made = await admin.call('createWebhookEndpoint', {
      name: ' Deploys ',
      url,
      eventTypes: ['PULL_REQUEST.MERGED'],
    });
    expect(made.signingSecret).toMatch(/^whsec_/);
    expect(made.endpoint).toMatchObject({
      kind: 'webhook',
      name: 'Deploys',
      url,
      eventTypes: ['pull_request.merged'],
      repositories: null,
      state: 'active',
      pending: 0,
    });
    const endpointId = made.endpoint.id;
    const changed = await admin.call('updateWebhookEndpoint', {
      endpointId,
      name: 'Releases',
      eventTypes: [],
      enabled: false,
    });
    expect(changed.endpoint).toMatchObject({ name: 'Releases', eventTypes: [], state: 'disabled', url });
    expect((await admin.call('listWebhookEndpoints', {})).endpoints).toEqual([changed.endpoint]);
    await admin.call('rotateWebhookSecret', { endpointId });
    await admin.call('deleteWebhookEndpoint', { endpointId });
    expect((await admin.call('listWebhookEndpoints', {})).endpoints).toEqual([]);
    await admin.refusal('sendTestWebhook', { endpointId }, 404);
    const { entries } = await admin.call('listAuditLog', { action: 'webhook.' });
    expect(entries.map(({ action }) => action)).toEqual([
      'webhook.delete',
      'webhook.rotate',
      'webhook.update',
      'webhook.create',
    ]);
    expect(entries[2]).toMatchObject({ before: { name: 'Deploys' }, after: { name: 'Releases' } });
    const rows = await sql<{ credentials: Buffer }>(world.cell.db)`select * from webhook_endpoint`;
    expect(JSON.stringify([rows, entries])).not.toContain(made.signingSecret!.slice(6));
    expect(rows[0]!.credentials).toHaveLength(0);
  });

  it('keep addresses of chats to themselves, and sign nothing for them', async () => {
    const chat = 'http://127.0.0.1:9/services/T000/B000/hidden-word';
    const { endpoint, signingSecret: secret } = await admin.call('createWebhookEndpoint', {
      kind: 'Slack',
      name: 'Room',
      url: chat,
    });
    expect(secret).toBeNull();
    expect(endpoint).toMatchObject({ kind: 'slack', url: 'http://127.0.0.1:9/…' });
    expect(endpoint.eventTypes).toContain('pull_request.failed');
    const rows = await sql<{ credentials: Buffer }>(world.cell.db)`select * from webhook_endpoint`;
    const audit = await admin.call('listAuditLog', {});
    expect(JSON.stringify([rows, audit])).not.toContain('hidden-word');
    expect(rows.some(({ credentials }) => credentials.includes('hidden-word'))).toBe(false);
    expect((await admin.refusal('rotateWebhookSecret', { endpointId: endpoint.id }, 409)).code).toBe(
      'WEBHOOK_NOT_SIGNED',
    );
  });

  it.each([
    [{ name: '\n', url }, 'name'],
    [{ name: 'a', url: '' }, 'url'],
    [{ name: 'a', url, kind: 'carrier-pigeon' }, 'kind'],
    [{ name: 'a', url, eventTypes: ['pull_request.exploded'] }, 'eventTypes.0'],
    [{ name: 'a', url, repositories: [] }, 'repositories'],
  ])('are not made of %j', async (input, path) => {
    const { code, details } = await admin.refusal('createWebhookEndpoint', input, 400);
    expect(code).toBe('VALIDATION_FAILED');
    expect(new Set(details!.map((detail) => detail.path))).toEqual(new Set([path]));
  });

  it.each([
    'http://10.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'http://hooks.example/',
    'https://user:word@hooks.example/',
    'https://no-such-name.invalid/',
  ])('are not made at %s', async (address) => {
    const { code } = await admin.refusal('createWebhookEndpoint', { name: 'a', url: address }, 400);
    expect(code).toBe('WEBHOOK_URL_REFUSED');
    const { endpoint } = await admin.call('createWebhookEndpoint', { name: 'a', url });
    const moved = { endpointId: endpoint.id, url: address };
    expect((await admin.refusal('updateWebhookEndpoint', moved, 400)).code).toBe('WEBHOOK_URL_REFUSED');
    await admin.call('deleteWebhookEndpoint', { endpointId: endpoint.id });
  });

  it('cannot be limited to a repository that is not there', async () => {
    const input = { name: 'a', url, repositories: [widgets] };
    expect((await admin.refusal('createWebhookEndpoint', input, 404)).code).toBe('REPOSITORY_NOT_FOUND');
  });

  const inputOf = (operation: Operation): object =>
    operation === 'createWebhookEndpoint'
      ? { name: 'a', url }
      : operation === 'listWebhookEndpoints'
        ? {}
        : { endpointId: nobody, ...(operation === 'replayWebhookDelivery' ? { deliveryId: nobody } : {}) };

  it.each(operations)('%s needs a token, and one of an admin', async (operation) => {
    await clientOf(world.server, 'sbx_main_none_none').refusal(operation, inputOf(operation), 401);
    const reader = await world.client('acme', ['read', 'submit', 'upload']);
    expect((await reader.refusal(operation, inputOf(operation), 403)).code).toBe('INSUFFICIENT_SCOPE');
  });

  const aimed = operations.filter(
    (name) => !['createWebhookEndpoint', 'listWebhookEndpoints'].includes(name),
  );

  it.each(aimed)('%s knows nothing of another organization’s', async (operation) => {
    const { endpoint } = await admin.call('createWebhookEndpoint', { name: 'hidden', url });
    const stranger = await world.client('globex');
    for (const endpointId of [endpoint.id, nobody]) {
      const input = { ...inputOf(operation), endpointId };
      expect((await stranger.refusal(operation, input, 404)).code).toBe('WEBHOOK_ENDPOINT_NOT_FOUND');
    }
    expect((await stranger.call('listWebhookEndpoints', {})).endpoints).toEqual([]);
    await admin.call('deleteWebhookEndpoint', { endpointId: endpoint.id });
  });

  it('are asked for one delivery, or for those since a time, and for what is there', async () => {
    const { endpoint } = await admin.call('createWebhookEndpoint', { name: 'a', url });
    const endpointId = endpoint.id;
    await admin.refusal('replayWebhookDelivery', { endpointId }, 400);
    const both = { endpointId, deliveryId: nobody, since: new Date().toISOString() };
    await admin.refusal('replayWebhookDelivery', both, 400);
    const unknown = await admin.refusal('replayWebhookDelivery', { endpointId, deliveryId: nobody }, 404);
    expect(unknown.code).toBe('WEBHOOK_DELIVERY_NOT_FOUND');
  });

  it('are 50 at most', async () => {
    const many = await world.client('many');
    for (let count = 0; count < 50; count += 1)
      await many.call('createWebhookEndpoint', { name: `e${count}`, url });
    const { code } = await many.refusal('createWebhookEndpoint', { name: 'one more', url }, 409);
    expect(code).toBe('WEBHOOK_LIMIT_REACHED');
  });
});

it('without a key to seal with, an endpoint is refused with what to do', async () => {
  const world = await openWorldForTest();
  const admin = await world.client();
  const { code, message } = await admin.refusal('createWebhookEndpoint', { name: 'a', url }, 409);
  expect(code).toBe('SECRET_KEY_MISSING');
  expect(message).toMatch(/openssl rand -base64 32.*SIGNALBOX_SECRET_KEY/);
});

it('deliveries are read page by page, newest first, and by their state', async () => {
  const world = await openWebhookWorld();
  const { endpoint } = await world.createEndpoint();
  const endpointId = endpoint.id;
  const sent: string[] = [];
  for (let count = 0; count < 3; count += 1)
    sent.unshift((await world.admin.call('sendTestWebhook', { endpointId })).deliveryId);
  await world.deliver();
  sent.unshift((await world.admin.call('sendTestWebhook', { endpointId })).deliveryId);
  const first = await world.admin.call('listWebhookDeliveries', { endpointId, take: 2 });
  const rest = await world.admin.call('listWebhookDeliveries', {
    endpointId,
    take: 2,
    cursor: first.nextCursor,
  });
  expect([...first.deliveries, ...rest.deliveries].map(({ id }) => id)).toEqual(sent);
  expect(rest.nextCursor).toBeUndefined();
  expect(first.deliveries[0]).toMatchObject({
    type: 'webhook.test',
    state: 'pending',
    payload: { type: 'webhook.test', http_details_url: 'http://localhost:8080/app/webhooks' },
  });
  const delivered = await world.admin.call('listWebhookDeliveries', { endpointId, state: 'DELIVERED' });
  expect(delivered.deliveries.map(({ id }) => id)).toEqual(sent.slice(1));
  const one = await world.admin.call('listWebhookDeliveries', { endpointId, deliveryId: sent[2] });
  expect(one.deliveries).toEqual([delivered.deliveries[1]]);
});

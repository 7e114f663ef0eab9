// Keys and webhook secrets are replaced while everything runs, and connections are removed.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { rotateHookSecret, rotateKey } from '#command/connection.ts';
import { findConnection, openConnection, saveConnection } from '#db/account/connection-store.ts';
import { indexCells } from '#db/cell.ts';
import { withTransaction } from '#db/transaction.ts';
import { signatureHeader, signWebhook } from '#host/sandbox/webhook.ts';
import { createUploadAddresses } from '#http/guard/upload-address.ts';
import { openTestCell } from '../support/database.ts';
import { openWorldForTest, widgets, type World } from '../support/harness.ts';
import { runMain } from '../support/server-process.ts';

const [before, after] = [randomBytes(32), randomBytes(32)];
const by = { actor: 'ada', now: new Date() };

async function connect({ cell }: Pick<World, 'cell'>, host: string, organization = 'acme', appId?: number) {
  const { id: organizationId } = await ensureOrganization(cell.db, organization, organization);
  const connection = await withTransaction(cell, (tx) =>
    saveConnection(tx, before, {
      organizationId,
      kind: 'github',
      host,
      url: `https://${host}`,
      appId: appId ?? null,
      credentials: '{"kind":"token","token":"fake-secret"}',
    }),
  );
  return { ...connection, organizationId };
}

async function cellForTest() {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  return cell;
}

it('a key is replaced: both decrypt until everything is encrypted with the new one', async () => {
  const world = await openWorldForTest({
    config: {
      secretKey: before,
      webhook: { allow: { networks: [], hosts: ['hooks.example'] }, timeoutMs: 1_000 },
    },
  });
  const { cell } = world;
  const { organizationId } = await connect(world, 'git.example');
  const open = async (key: Buffer | readonly [Buffer, ...Buffer[]]) =>
    (await openConnection(cell.reader, key, organizationId, 'git.example'))?.credentials ?? null;
  expect(await open([after, before])).toContain('fake-secret');
  expect(await open(after)).toBeNull();

  const lost = await rotateKey(cell, after, by);
  expect(lost).toEqual({ rotated: 0, unopened: ['git.example'] });
  expect(await rotateKey(cell, [after, before], by)).toEqual({ rotated: 1, unopened: [] });
  expect(await open(after)).toContain('fake-secret');
  expect(await open(before)).toBeNull();
  const admin = await world.client('acme', ['admin']);
  const { entries } = await admin.call('listAuditLog', { action: 'host.' });
  expect(entries.map(({ action, subject, actor }) => [action, subject, actor])).toEqual([
    ['host.rotate-key', 'git.example', 'ada'],
  ]);
});

it('an upload address that was signed with the key before is accepted', async () => {
  const cell = await cellForTest();
  const addressesOf = (secretKey: Buffer | readonly [Buffer, ...Buffer[]]) =>
    createUploadAddresses({ cells: indexCells([cell]), config: { secretKey } } as unknown as Parameters<
      typeof createUploadAddresses
    >[0]);
  const uploadId = '01940000-0000-7000-8000-000000000001';
  const key = { repositoryId: uploadId, uploadId, uploadedAt: new Date() } as never;
  const path = await addressesOf(before).pathOf(cell, key, new Date(Date.now() + 60_000));
  const url = new URL(path, 'http://localhost');
  const request = {
    params: { id: url.pathname.split('/').at(-1) },
    query: Object.fromEntries(url.searchParams),
  } as unknown as FastifyRequest;
  const read = (secretKey: Parameters<typeof addressesOf>[0]) =>
    addressesOf(secretKey).read(request, new Date());
  expect(await read([after, before])).toMatchObject({ key: { uploadId } });
  await expect(read(after)).rejects.toMatchObject({ code: 'UPLOAD_ADDRESS_INVALID' });
});

it('a webhook secret is replaced for all connections of an App, and the one before is accepted for a time', async () => {
  const cell = await cellForTest();
  const one = await connect({ cell }, 'github.com', 'acme', 123);
  const two = await connect({ cell }, 'github.com', 'globex', 123);
  const other = await connect({ cell }, 'github.com', 'initech', 124);
  expect(await rotateHookSecret(cell, { ...by, organizationId: one.organizationId }, 'git.example', 1)).toBe(
    null,
  );
  const done = await rotateHookSecret(cell, { ...by, organizationId: one.organizationId }, 'github.com', 1);
  for (const { id, webhookSecret } of [one, two])
    expect(await findConnection(cell.db, id)).toMatchObject({
      webhookSecret: done!.secret,
      previousSecret: webhookSecret,
    });
  expect(await findConnection(cell.db, other.id)).toMatchObject({
    webhookSecret: other.webhookSecret,
    previousSecret: null,
  });
  await rotateHookSecret(cell, { ...by, organizationId: one.organizationId }, 'github.com', 0);
  expect(await findConnection(cell.db, two.id)).toMatchObject({ previousSecret: null });
});

it.each([
  ['1 hour', 200],
  ['-1 second', 401],
])('a webhook with the secret before is answered for %s more with %i', async (time, status) => {
  const world = await openWorldForTest();
  const client = await world.client();
  const { rows } = await world.cell.pool.query<{ id: string; secret: string }>(
    `update host_connection set previous_webhook_secret = webhook_secret, webhook_secret = 'fake-secret',
       previous_secret_until = now() + $1::interval where kind = 'sandbox'
     returning id, previous_webhook_secret as secret`,
    [time],
  );
  const [{ id, secret }] = rows as [{ id: string; secret: string }];
  const body = JSON.stringify({ event: 'pull_request', repository: widgets, number: 5 });
  const deliver = async (signedWith: string) =>
    (
      await client.send({
        path: `/hooks/main_${id}`,
        headers: { [signatureHeader]: signWebhook(signedWith, Buffer.from(body)) },
        body,
      })
    ).status;
  expect(await deliver('fake-secret')).toBe(200);
  expect(await deliver(secret)).toBe(status);
  expect(await deliver('guessed')).toBe(401);
});

it('an admin lists connections and removes one; its webhook address is refused from then on', async () => {
  const world = await openWorldForTest();
  const { id } = await connect(world, 'git.example');
  await connect(world, 'git.example', 'globex');
  const admin = await world.client('acme', ['admin']);
  const { connections } = await admin.call('listHostConnections', {});
  expect(connections).toEqual([
    {
      id,
      kind: 'github',
      host: 'git.example',
      url: 'https://git.example',
      webhookUrl: `http://localhost:8080/hooks/main_${id}`,
      createdAt: expect.any(String) as string,
      previousSecretUntil: null,
    },
  ]);
  const reader = await world.client('acme', ['read', 'submit', 'upload']);
  for (const operation of ['listHostConnections', 'deleteHostConnection'] as const)
    expect((await reader.refusal(operation, { connectionId: id }, 403)).code).toBe('INSUFFICIENT_SCOPE');
  expect((await admin.refusal('deleteHostConnection', {}, 400)).code).toBe('VALIDATION_FAILED');
  for (const connectionId of ['x', '01940000-0000-7000-8000-00000000dead'])
    expect((await admin.refusal('deleteHostConnection', { connectionId }, 404)).code).toBe(
      'CONNECTION_NOT_FOUND',
    );
  expect((await admin.call('deleteHostConnection', { connectionId: id })).connection).toEqual(connections[0]);
  expect((await admin.call('listHostConnections', {})).connections).toEqual([]);
  expect(
    (await (await world.client('globex', ['admin'])).call('listHostConnections', {})).connections,
  ).toHaveLength(1);
  expect((await admin.send({ path: `/hooks/main_${id}`, body: '{}' })).status).toBe(404);
  const { entries } = await admin.call('listAuditLog', { action: 'host.' });
  expect(entries).toMatchObject([
    { action: 'host.disconnect', subject: 'git.example', before: { kind: 'github' }, after: null },
  ]);
});

it('on the command line, too', async () => {
  const cell = await cellForTest();
  await ensureOrganization(cell.db, 'acme', 'acme');
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-rotation-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'token');
  await writeFile(file, 'fake-secret');
  const [old, young] = [before, after].map((key) => key.toString('base64')) as [string, string];
  const run = (args: readonly string[], env: Record<string, string>) =>
    runMain(cell.url, ['admin', ...args], env);
  const held = { SIGNALBOX_SECRET_KEY: old };
  const connected = await run(
    ['connect', 'acme', '--kind', 'gitea', '--url', 'https://git.example', '--token-file', file],
    held,
  );
  expect(connected).toMatchObject({ code: 0 });
  const replaced = { SIGNALBOX_SECRET_KEY: young, SIGNALBOX_SECRET_KEY_PREVIOUS: old };
  const [listed, wrong, rotated, key] = await Promise.all([
    run(['list-connections', 'acme'], held),
    run(['disconnect', 'acme', '--host', 'other.example'], held),
    run(['rotate-hook-secret', 'acme', '--host', 'git.example', '--accept-previous-hours', '2'], held),
    run(['rotate-key'], replaced),
  ]);
  expect(listed.stdout).toMatch(/^git\.example\tgitea\thttps:\/\/git\.example\thttp.*\/hooks\/main_/);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('is not connected') as string });
  expect(rotated).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('accepted for 2 more hours') as string,
  });
  expect(key).toMatchObject({ code: 0, stdout: expect.stringContaining('Encrypted 1 secrets') as string });
  expect(await run(['disconnect', 'acme', '--host', 'git.example'], held)).toMatchObject({ code: 0 });
  const { rows } = await cell.pool.query(`select from host_connection where kind <> 'sandbox'`);
  expect(rows).toEqual([]);
});

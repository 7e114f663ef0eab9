// A client written from the contract alone: bundles in four steps, and one report in one request.
import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseUploadTime } from '#db/health/upload-view.ts';
import { type Client, openWorldForTest, widgets, type World } from '../support/harness.ts';
import { bundleOf, junit, type Outcome } from './bundle.ts';
import { sql } from '../support/sql.ts';

const repo = widgets;
const named = { repo, orgUrlSlug: 'acme' };
const asked = { repo, org_url_slug: 'acme' };

async function askForAddress(client: Client): Promise<{ id: string; path: string }> {
  const answer = await client.call('createBundleUpload', {
    ...named,
    clientVersion: 'client 1.0',
    remoteUrls: ['https://sandbox.example/acme/widgets.git'],
    externalId: null,
    anythingElse: true,
  });
  expect(answer.idV2).toBe(answer.id);
  const { pathname, search } = new URL(answer.url);
  return { id: answer.id, path: pathname + search };
}

const put = (world: World, path: string, bytes: Buffer) =>
  world.server.inject({
    method: 'PUT',
    url: path,
    headers: { 'content-type': 'application/octet-stream' },
    payload: bytes,
  });

const stored = async (world: World, id: string): Promise<Buffer | null> => {
  const key = { uploadId: id, uploadedAt: parseUploadTime(id)! };
  const bytes = await world.deps.blobsOf(world.cell).read(key);
  if (bytes === null) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const some: readonly Outcome[] = [{ name: 'adds' }, { name: 'divides', failure: 'expected 2, got 3' }];

/** One who may only upload, to a repository that is known. */
async function uploaderOf(world: World) {
  const { id } = await ensureOrganization(world.cell.db, 'acme', 'acme');
  await ensureRepository(world.cell.db, id, { ...repo, isSandbox: true });
  return world.client('acme', ['upload']);
}

const codeOf = (response: { json: () => unknown }) =>
  (response.json() as { error: { code: string } }).error.code;

describe('a bundle in four steps', () => {
  it('is stored byte for byte, without a token, and shows as stored', async () => {
    const world = await openWorldForTest();
    const client = await uploaderOf(world);
    const { id, path } = await askForAddress(client);
    expect((await client.call('getUpload', { ...asked, upload_id: id })).upload.state).toBe('awaited');
    const bundle = bundleOf({ repo, reports: [junit(some)] });
    const answer = await put(world, path, bundle);
    expect([answer.statusCode, answer.body]).toEqual([200, '{}']);
    expect(await stored(world, id)).toEqual(bundle);
    expect((await client.call('getUpload', { ...asked, upload_id: id })).upload).toMatchObject({
      state: 'stored',
      trust: 'untrusted',
    });
  });

  it('may be put twice, but nothing else may be put there', async () => {
    const world = await openWorldForTest();
    const { id, path } = await askForAddress(await world.client());
    const bundle = bundleOf({ repo, reports: [junit(some)] });
    expect((await put(world, path, bundle)).statusCode).toBe(200);
    expect((await put(world, path, bundle)).statusCode).toBe(200);
    const other = await put(world, path, bundleOf({ repo, reports: [junit([])] }));
    expect([other.statusCode, codeOf(other)]).toEqual([409, 'UPLOAD_ALREADY_STORED']);
    expect(await stored(world, id)).toEqual(bundle);
  });

  it('that was sent before is told as a duplicate, and not read again', async () => {
    const world = await openWorldForTest();
    const client = await world.client();
    const bundle = bundleOf({ repo, reports: [junit(some)] });
    const first = await askForAddress(client);
    await put(world, first.path, bundle);
    const second = await askForAddress(client);
    await put(world, second.path, bundle);
    const { upload } = await client.call('getUpload', { ...asked, upload_id: second.id });
    expect(upload).toMatchObject({ id: second.id, duplicate_of: first.id });
  });

  it('of a fork does not stand in for the same bytes of a trusted run', async () => {
    const world = await openWorldForTest();
    const bundle = bundleOf({ repo, reports: [junit(some)] });
    await put(world, (await askForAddress(await uploaderOf(world))).path, bundle);
    const trusted = await world.client();
    const { id, path } = await askForAddress(trusted);
    await put(world, path, bundle);
    expect((await trusted.call('getUpload', { ...asked, upload_id: id })).upload).toMatchObject({
      trust: 'full',
      duplicate_of: null,
    });
  });

  it.each([
    ['another upload', (path: string) => path.replace(/_[0-9a-f]{8}/, '_00000000')],
    ['another expiry', (path: string) => path.replace(/expires=\d/, 'expires=9')],
    ['another repository', (path: string) => path.replace(/repository=[0-9a-f]{8}/, 'repository=00000000')],
    ['another cell', (path: string) => path.replace('/main_', '/east_')],
    ['no signature', (path: string) => path.replace(/&signature=.*/, '')],
    ['another signature', (path: string) => path.replace(/signature=.{4}/, 'signature=AAAA')],
  ])('is refused at an address with %s', async (_what, change) => {
    const world = await openWorldForTest();
    const { id, path } = await askForAddress(await world.client());
    expect(change(path)).not.toBe(path);
    const answer = await put(world, change(path), Buffer.from('x'));
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'UPLOAD_ADDRESS_INVALID']);
    expect(await stored(world, id)).toBeNull();
  });

  it('is refused once its address is too old, and up to then is not', async () => {
    const world = await openWorldForTest();
    const { path } = await askForAddress(await world.client());
    world.clock.advance(59 * 60_000);
    expect((await put(world, path, Buffer.from('x'))).statusCode).toBe(200);
    world.clock.advance(61_000);
    const answer = await put(world, path, Buffer.from('x'));
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'UPLOAD_ADDRESS_EXPIRED']);
  });

  it('may be as large as is configured, and no larger, whatever it says of itself', async () => {
    const limit = 3 * 1_048_576;
    const world = await openWorldForTest({
      config: { upload: { bytesMax: limit, addressMs: 60_000, quota: { uploads: 9, bytes: 1e9 } } },
    });
    const client = await world.client();
    const large = Buffer.alloc(limit + 1, 7);
    const first = await askForAddress(client);
    const told = await put(world, first.path, large);
    expect([told.statusCode, codeOf(told)]).toEqual([413, 'BODY_TOO_LARGE']);
    const address = await world.server.listen({ port: 0, host: '127.0.0.1' });
    const untold = await fetch(address + first.path, {
      method: 'PUT',
      body: new Blob([large]).stream(),
      duplex: 'half',
    });
    expect(untold.status).toBe(413);
    expect(await stored(world, first.id)).toBeNull();
    const whole = large.subarray(0, limit);
    expect((await put(world, first.path, whole)).statusCode).toBe(200);
    const kept = createHash('sha256').update((await stored(world, first.id))!);
    expect(kept.digest('hex')).toBe(createHash('sha256').update(whole).digest('hex'));
  });

  it('that breaks off leaves nothing, and can be sent again', async () => {
    const world = await openWorldForTest();
    const { id, path } = await askForAddress(await world.client());
    const address = await world.server.listen({ port: 0, host: '127.0.0.1' });
    const parts = async () => (await sql(world.cell.db)`select part from upload_blob`).length;
    const outgoing = request(address + path, { method: 'PUT', headers: { 'content-length': 9_000_000 } });
    outgoing.on('error', () => undefined);
    outgoing.write(Buffer.alloc(4_000_000, 7));
    await expect.poll(parts).toBeGreaterThan(1);
    outgoing.destroy();
    await expect.poll(parts).toBe(0);
    expect(await stored(world, id)).toBeNull();
    expect((await put(world, path, bundleOf({ repo, reports: [] }))).statusCode).toBe(200);
  });

  it('that is empty is refused', async () => {
    const world = await openWorldForTest();
    const { path } = await askForAddress(await world.client());
    const answer = await put(world, path, Buffer.alloc(0));
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'NOT_A_REPORT']);
  });

  it('has its telemetry taken in any form, and forgotten', async () => {
    const world = await openWorldForTest();
    const client = await uploaderOf(world);
    const path = '/v1/flakytests-cli/upload-metrics';
    for (const type of ['application/x-protobuf', 'application/json', 'text/odd']) {
      const answer = await client.send({
        path,
        headers: { 'content-type': type },
        body: Buffer.from([8, 1]),
      });
      expect([answer.status, answer.body]).toEqual([200, {}]);
    }
  });
});

describe('one report in one request', () => {
  const query = {
    repo: 'sandbox.example/acme/widgets',
    org_url_slug: 'acme',
    sha: 'a'.repeat(40),
    branch: 'main',
  };
  const upload = (client: Client, body: Buffer | string, more: object = {}, headers = {}) => {
    const path = `/v1/flaky-tests/upload?${new URLSearchParams({ ...query, ...more }).toString()}`;
    return client.send({ path, body, headers: { 'content-type': 'application/xml', ...headers } });
  };
  type Accepted = { upload_id: string; accepted: number; rejected: { code: string }[] };

  it.each([
    ['plain', (xml: string) => Buffer.from(xml), {}],
    ['gzip', (xml: string) => gzipSync(xml), {}],
    ['zstd', (xml: string) => zstdCompressSync(xml), {}],
    ['gzip, said so', (xml: string) => gzipSync(xml), { 'content-encoding': 'gzip' }],
    ['zstd, said so', (xml: string) => zstdCompressSync(xml), { 'content-encoding': 'zstd' }],
    ['of an odd type', (xml: string) => Buffer.from(xml), { 'content-type': 'text/odd' }],
  ])('is taken %s, and counted', async (_form, encode, headers) => {
    const world = await openWorldForTest();
    const client = await uploaderOf(world);
    const answer = await upload(client, encode(junit(some)), { pr: '7', variant: '', job: 'unit' }, headers);
    expect(answer.status).toBe(200);
    const { upload_id: id, accepted, rejected } = answer.body as Accepted;
    expect([accepted, rejected]).toEqual([2, []]);
    expect((await client.call('getUpload', { ...asked, upload_id: id })).upload).toMatchObject({
      state: 'stored',
      trust: 'untrusted',
      sha: query.sha,
      branch: 'main',
      pr: 7,
      job: 'unit',
      variant: '',
    });
  });

  it('is the same upload when it is sent again for the same place, and another for another', async () => {
    const world = await openWorldForTest();
    const client = await world.client();
    const send = async (more: object = {}) =>
      ((await upload(client, junit(some), more)).body as Accepted).upload_id;
    const first = await send();
    expect(await send()).toBe(first);
    expect(await send({ repo: 'Sandbox.example/acme/widgets' })).toBe(first);
    const others = [
      await send({ sha: 'b'.repeat(40) }),
      await send({ attempt: '2' }),
      await send({ job: 'x' }),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
    const { uploads, page } = await client.call('listUploads', { ...asked, page_query: { page_size: 3 } });
    expect([uploads.map(({ id }) => id), page.total_rows]).toEqual([others.toReversed(), 4]);
    const ofB = await client.call('listUploads', { ...asked, page_query: {}, sha: 'b'.repeat(40) });
    expect(ofB.uploads.map(({ id }) => id)).toEqual([others[0]]);
  });

  it('may name its repository in three parameters', async () => {
    const world = await openWorldForTest();
    const client = await world.client();
    const parts = { repo_host: 'sandbox.example', repo_owner: 'acme', repo_name: 'widgets' };
    const { repo: _repo, ...rest } = query;
    const path = `/v1/flaky-tests/upload?${new URLSearchParams({ ...rest, ...parts }).toString()}`;
    expect((await client.send({ path, body: junit(some) })).status).toBe(200);
  });

  it('that is none is refused, and nothing is stored', async () => {
    const world = await openWorldForTest();
    const client = await world.client();
    for (const body of ['', 'not a report', '<html><body>502</body></html>', '{"a":1}']) {
      const answer = await upload(client, body);
      expect([answer.status, (answer.body as { error: { code: string } }).error.code]).toEqual([
        400,
        'NOT_A_REPORT',
      ]);
    }
    const { uploads } = await client.call('listUploads', { ...asked, page_query: {} });
    expect(uploads).toEqual([]);
  });

  it('may have 20 MiB, decoded, and no more', async () => {
    const world = await openWorldForTest();
    const client = await world.client();
    const pad = (bytes: number) => junit(some) + ' '.repeat(bytes - junit(some).length);
    const limit = 20 * 1_048_576;
    expect((await upload(client, pad(limit))).status).toBe(200);
    expect((await upload(client, pad(limit + 1))).status).toBe(413);
    expect((await upload(client, zstdCompressSync(pad(limit + 1)))).status).toBe(413);
    const headers = { 'content-encoding': 'gzip' };
    expect((await upload(client, gzipSync(pad(limit + 1)), {}, headers)).status).toBe(413);
  });

  it('must say what it is about', async () => {
    const world = await openWorldForTest();
    const client = await world.client();
    const answer = await upload(client, junit(some), {
      sha: 'HEAD',
      repo: 'widgets',
      pr: 'x',
      url: 'ftp://x',
    });
    expect(answer.status).toBe(400);
    const { details } = (answer.body as { error: { details: { path: string }[] } }).error;
    expect(details.map(({ path }) => path).toSorted()).toEqual(['pr', 'repo', 'sha', 'url']);
  });

  it('needs a token that may upload, for its own organization', async () => {
    const world = await openWorldForTest();
    const reader = await upload(await world.client('acme', ['read']), junit(some));
    expect(reader.status).toBe(403);
    const stranger = await upload(await world.client('globex'), junit(some));
    expect([stranger.status, (stranger.body as { error: { code: string } }).error.code]).toEqual([
      404,
      'ORGANIZATION_NOT_FOUND',
    ]);
  });
});

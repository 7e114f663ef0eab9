import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, clientOf, openWorld, openWorldForTest, type World } from '../support/harness.ts';
import { send, signIn, tokenOf } from '../app/browser.ts';
import { sql } from '../support/sql.ts';

let world: World & { close: () => Promise<void> };
let admin: Client;
beforeAll(async () => {
  world = await openWorld();
  admin = await world.client('acme', ['admin']);
});
afterAll(() => world.close());

const dayMs = 86_400_000;

describe('a token that an admin makes', () => {
  it('does what it was made for and no more, also what the admin’s own token may not', async () => {
    const { token, value } = await admin.call('createToken', { name: ' ci ', scopes: ['READ', 'read'] });
    expect(token).toMatchObject({
      name: 'ci',
      scopes: ['read'],
      expiresAt: null,
      revokedAt: null,
      state: 'active',
      isCaller: false,
    });
    const client = clientOf(world.server, value);
    expect(await client.call('getOrganization', {})).toMatchObject({
      organization: { slug: 'acme' },
      token: { id: token.id, name: 'ci' },
    });
    expect((await client.call('listQueues', {})).queues).toEqual([]);
    expect((await client.refusal('createToken', { name: 'more', scopes: ['admin'] }, 403)).code).toBe(
      'INSUFFICIENT_SCOPE',
    );
  });

  it('is taken in the header of clients of Prometheus for metrics of queues, and nowhere else', async () => {
    const { value } = await admin.call('createToken', { name: 'prometheus', scopes: ['read'] });
    const ask = (path: string, authorization: string, method: 'GET' | 'POST' = 'GET') =>
      send(world.server, {
        method,
        path,
        headers: { authorization },
        ...(method === 'GET' ? {} : { body: {} }),
      });
    const metrics = '/v1/getMergeQueueMetrics';
    expect((await ask(metrics, `Bearer ${value}`)).status).toBe(200);
    expect((await ask(metrics, `bearer ${value}`)).status).toBe(200);
    expect(await ask(metrics, `Bearer ${value}x`)).toMatchObject({
      status: 401,
      body: { error: { code: 'INVALID_TOKEN' } },
    });
    for (const wrong of [`Basic ${value}`, 'Bearer', `Bearer  ${value}`, value])
      expect(await ask(metrics, wrong)).toMatchObject({
        status: 401,
        body: { error: { code: 'AUTHENTICATION_REQUIRED' } },
      });
    const { status } = await ask('/v1/getOrganization', `Bearer ${value}`, 'POST');
    expect(status).toBe(401);
  });

  it('expires after the days it was given', async () => {
    const short = await openWorldForTest();
    const owner = await short.client('acme');
    const made = await owner.call('createToken', { name: 'short', scopes: ['read'], expiresInDays: 2 });
    const { id } = made.token;
    expect(Math.abs(Date.parse(made.token.expiresAt!) - Date.now() - 2 * dayMs)).toBeLessThan(60_000);
    const past = new Date(Date.now() - 1_000);
    await sql(short.cell.db)`update api_token set expires_at = ${past} where id = ${id}`;
    await clientOf(short.server, made.value).refusal('getOrganization', {}, 401);
    expect((await owner.call('listTokens', {})).tokens.map((token) => token.id)).not.toContain(id);
    const { tokens } = await owner.call('listTokens', { includeEnded: true });
    expect(tokens.find((token) => token.id === id)).toMatchObject({ state: 'expired' });
  });

  it('is kept as a hash: its text is in no row and in no later answer', async () => {
    const { value } = await admin.call('createToken', { name: 'hidden', scopes: ['upload', 'read'] });
    const secret = value.split('_')[3]!;
    const rows = await sql(world.cell.db)`select * from api_token`;
    const audit = await admin.call('listAuditLog', { action: 'token.' });
    const list = await admin.call('listTokens', { take: 100, includeEnded: true });
    expect(JSON.stringify([rows, audit, list])).not.toContain(secret);
  });

  it.each([
    [{}],
    [{ name: '', scopes: ['read'] }],
    [{ name: '  ', scopes: ['read'] }],
    [{ name: 'two\nlines', scopes: ['read'] }],
    [{ name: 'x'.repeat(101), scopes: ['read'] }],
    [{ name: 'none', scopes: [] }],
    [{ name: 'unknown', scopes: ['root'] }],
    [{ name: 'past', scopes: ['read'], expiresInDays: 0 }],
    [{ name: 'for ever', scopes: ['read'], expiresInDays: 3_651 }],
  ])('cannot be %j', async (input) => {
    expect((await admin.refusal('createToken', input, 400)).code).toBe('VALIDATION_FAILED');
  });
});

describe('revoking a token', () => {
  it('refuses it from the next request on, and the sessions made with it; twice is as once', async () => {
    const { token, value } = await admin.call('createToken', { name: 'leaked', scopes: ['read'] });
    const browser = await signIn(world.server, value);
    const { token: revoked } = await admin.call('revokeToken', { tokenId: token.id });
    expect(revoked).toMatchObject({ id: token.id, state: 'revoked' });
    await clientOf(world.server, value).refusal('getOrganization', {}, 401);
    expect((await browser.call('getOrganization')).status).toBe(401);
    expect((await admin.call('revokeToken', { tokenId: token.id })).token.revokedAt).toBe(revoked.revokedAt);
    const { entries } = await admin.call('listAuditLog', { action: 'token.revoke' });
    expect(entries.filter(({ subject }) => subject.includes(token.id))).toHaveLength(1);
  });

  it('finds no token that is not there, nor that of another organization', async () => {
    const other = await world.client('globex', ['admin']);
    const { token, value } = await other.call('createToken', { name: 'theirs', scopes: ['read'] });
    for (const tokenId of ['nothing', token.id])
      expect((await admin.refusal('revokeToken', { tokenId }, 404)).code).toBe('TOKEN_NOT_FOUND');
    await clientOf(world.server, value).call('getOrganization', {});
    expect((await admin.refusal('revokeToken', {}, 400)).code).toBe('VALIDATION_FAILED');
  });
});

describe('the tokens of an organization', () => {
  it('are listed newest first, page by page, each once, and say which one asks', async () => {
    const many = await openWorldForTest();
    const owner = await many.client('acme', ['admin']);
    for (let number = 1; number <= 7; number += 1)
      await owner.call('createToken', { name: `t-${number}`, scopes: ['read'] });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await owner.call('listTokens', { take: 3, ...(cursor && { cursor }) });
      names.push(...page.tokens.map(({ name, isCaller }) => (isCaller ? `${name}!` : name)));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names).toEqual(['t-7', 't-6', 't-5', 't-4', 't-3', 't-2', 't-1', 'admin!']);
    const elsewhere = await many.client('globex', ['admin']);
    const { tokens } = await elsewhere.call('listTokens', { cursor: 'of-another' });
    expect(tokens).toEqual([]);
  });

  it('are for admins: others are refused, and strangers not even told why', async () => {
    const submitter = await world.client('acme', ['read', 'submit', 'upload']);
    const calls = [
      ['listTokens', {}],
      ['createToken', { name: 'mine', scopes: ['read'] }],
      ['revokeToken', { tokenId: 'x' }],
    ] as const;
    for (const [operation, input] of calls) {
      expect((await submitter.refusal(operation, input, 403)).code).toBe('INSUFFICIENT_SCOPE');
      await clientOf(world.server, `sbx_main_x_${'0'.repeat(64)}`).refusal(operation, input, 401);
    }
  });

  it('are made and revoked by name in the audit log', async () => {
    const browser = await signIn(world.server, await tokenOf(world.cell, { scopes: ['admin', 'read'] }));
    const made = await browser.call('createToken', { name: 'logged', scopes: ['read'], expiresInDays: 1 });
    const { token } = made.body as { token: { id: string } };
    await browser.call('revokeToken', { tokenId: token.id });
    const { entries } = await admin.call('listAuditLog', { subject: token.id });
    expect(entries).toMatchObject([
      { action: 'token.revoke', actor: 'app:admin-read', before: { scopes: ['read'] }, after: null },
      { action: 'token.create', subject: `logged (${token.id})`, after: { scopes: ['read'] } },
    ]);
  });
});

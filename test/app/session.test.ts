import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '#contract/endpoint/endpoint.ts';
import { Session } from '#contract/session.ts';
import { hashToken } from '#db/account/scope-view.ts';
import { revokeToken } from '#command/token.ts';
import { main, openWorld, openWorldForTest, pr, type World } from '../support/harness.ts';
import { cookieOf, ownPage, send, signIn, tokenOf } from './browser.ts';
import { sql } from '../support/sql.ts';

let world: World & { close: () => Promise<void> };
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const path = '/app/api/session';
const code = (body: unknown) => (body as { error: { code: string } }).error.code;

describe('signing in', () => {
  it('answers who one is, and sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const token = await tokenOf(world.cell, { scopes: ['read', 'submit'] });
    const answer = await send(world.server, { path, body: { token } });
    expect(answer.status).toBe(200);
    expect(Session.parse(answer.body)).toMatchObject({
      organization: { slug: 'acme', name: 'acme' },
      name: 'read-submit',
      scopes: ['read', 'submit'],
      role: 'submitter',
    });
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(/^signalbox_session=sbs_main_[\w-]{43}; Path=\/app; /);
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect(answer.headers['cache-control']).toBe('no-store');
    const again = await send(world.server, { method: 'GET', path, headers: { cookie: cookieOf(answer) } });
    expect(again.body).toEqual(answer.body);
  });

  it.each([
    [['read'], 'viewer'],
    [['upload'], 'viewer'],
    [['read', 'submit'], 'submitter'],
    [['admin'], 'admin'],
  ] as const)('with the scopes %s is signing in as %s', async (scopes, role) => {
    const answer = await send(world.server, { path, body: { token: await tokenOf(world.cell, { scopes }) } });
    expect(answer.body).toMatchObject({ role });
  });

  it('is refused with a token that is not good, and with none', async () => {
    const bad = await send(world.server, { path, body: { token: `sbx_main_x_${'0'.repeat(64)}` } });
    expect([bad.status, code(bad.body), bad.headers['set-cookie']]).toEqual([
      401,
      'INVALID_TOKEN',
      undefined,
    ]);
    const none = await send(world.server, { path, body: {} });
    expect([none.status, code(none.body)]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('is for safe connections only where the dashboard is reached by one', async () => {
    const safe = await openWorldForTest({
      config: { publicUrl: 'https://queue.test', isPublicUrlGiven: true },
    });
    const answer = await send(safe.server, { path, body: { token: await tokenOf(safe.cell) } });
    expect(String(answer.headers['set-cookie'])).toMatch(/; Secure$/);
  });

  it('stores neither the token nor the cookie', async () => {
    const browser = await signIn(world.server, await tokenOf(world.cell));
    const value = browser.cookie.split('=')[1]!;
    const rows = await sql(world.cell.db)`select * from session where hash = ${hashToken(value)}`;
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(value);
  });

  it('anew ends the session that was there', async () => {
    const token = await tokenOf(world.cell);
    const before = await signIn(world.server, token);
    await before.send({ path, body: { token } });
    expect((await before.send({ method: 'GET', path })).status).toBe(401);
  });
});

describe('a session', () => {
  it('does what its token may, by the same handlers', async () => {
    const browser = await signIn(world.server, await tokenOf(world.cell));
    expect((await browser.call('createQueue', { ...main, requiredStatuses: [] })).status).toBe(200);
    expect((await browser.call('submitPullRequest', pr(1))).body).toMatchObject({ prNumber: 1 });
    const { body } = await browser.call('getSubmittedPullRequest', { ...pr(1), includeTimeline: true });
    expect(body).toMatchObject({ timeline: [{ actor: 'app:read-submit-admin-upload' }] });
  });

  it('may not do what its token may not', async () => {
    const browser = await signIn(world.server, await tokenOf(world.cell, { scopes: ['read'] }));
    const refused = await browser.call('cancelPullRequest', pr(1));
    expect([refused.status, code(refused.body)]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  });

  it('answers what is wrong with a request as /v1 does', async () => {
    const browser = await signIn(world.server, await tokenOf(world.cell));
    const answer = await browser.call('getQueue', { targetBranch: 7 });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { code: 'VALIDATION_FAILED', details: [{ path: 'repo' }, { path: 'targetBranch' }] },
    });
  });

  it('sees nothing of another organization', async () => {
    const stranger = await signIn(world.server, await tokenOf(world.cell, { organization: 'globex' }));
    const answer = await stranger.call('getQueue', main);
    expect([answer.status, code(answer.body)]).toEqual([404, 'QUEUE_NOT_FOUND']);
  });

  it('offers every operation with a JSON body, and no other', async () => {
    const browser = await signIn(world.server, await tokenOf(world.cell));
    for (const [operation, endpoint] of Object.entries(endpoints)) {
      const { status } = await browser.call(operation, { no: 'such field' });
      const isOffered = endpoint.method === 'POST' && !('body' in endpoint);
      expect([operation, status === 404]).toEqual([operation, !isOffered]);
    }
    expect((await browser.call('constructor')).status).toBe(404);
  });

  it('ends with its token, at once', async () => {
    const token = await tokenOf(world.cell);
    const browser = await signIn(world.server, token);
    expect((await browser.call('getOrganization')).status).toBe(200);
    const revoked = { id: token.split('_')[2]!, organizationId: null };
    await revokeToken(world.cell, revoked, { actor: 'test', now: new Date() });
    const answer = await browser.call('getOrganization');
    expect([answer.status, code(answer.body)]).toEqual([401, 'INVALID_TOKEN']);
    expect((await browser.send({ method: 'GET', path })).status).toBe(401);
  });

  it('does not outlive its token', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const token = await tokenOf(world.cell, { expiresAt });
    const answer = await send(world.server, { path, body: { token } });
    expect(answer.body).toMatchObject({ expires_at: expiresAt.toISOString() });
  });

  it('says that the sandbox host serves', async () => {
    const answer = await send(world.server, { path, body: { token: await tokenOf(world.cell) } });
    expect(answer.body).toMatchObject({ is_sandbox: true });
  });

  it('ends after its time, and is swept when somebody signs in', async () => {
    const token = await tokenOf(world.cell);
    const browser = await signIn(world.server, token);
    const hash = hashToken(browser.cookie.split('=')[1]!);
    const past = new Date(Date.now() - 1_000);
    await sql(world.cell.db)`update session set expires_at = ${past} where hash = ${hash}`;
    expect((await browser.call('getOrganization')).status).toBe(401);
    await signIn(world.server, token);
    const rows = await sql(world.cell.db)`select hash from session where hash = ${hash}`;
    expect(rows).toEqual([]);
  });

  it('is ended by signing out, and the cookie is taken back', async () => {
    const browser = await signIn(world.server, await tokenOf(world.cell));
    const answer = await browser.send({ method: 'DELETE', path });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect(String(answer.headers['set-cookie'])).toContain(
      'signalbox_session=; Path=/app; Expires=Thu, 01 Jan 1970',
    );
    expect((await browser.send({ method: 'GET', path })).status).toBe(401);
    expect((await send(world.server, { method: 'DELETE', path })).status).toBe(200);
  });

  it('is no token of /v1, and a token is no session', async () => {
    const token = await tokenOf(world.cell);
    const browser = await signIn(world.server, token);
    const value = browser.cookie.split('=')[1]!;
    const asToken = {
      path: '/v1/getOrganization',
      headers: { 'x-api-token': value, cookie: browser.cookie },
      body: {},
    };
    expect((await send(world.server, asToken)).status).toBe(401);
    const call = { path: '/app/api/call/getOrganization', body: {} };
    for (const cookie of [
      `signalbox_session=${token}`,
      'signalbox_session=',
      'signalbox_session=sbs_other_x',
    ])
      expect((await send(world.server, { ...call, headers: { ...ownPage, cookie } })).status).toBe(401);
    expect(
      (await send(world.server, { ...call, headers: { ...ownPage, 'x-api-token': token } })).status,
    ).toBe(401);
  });

  it('has a limit of its organization, ten times that of tokens and apart from it', async () => {
    const slow = await openWorldForTest({
      config: { rateLimit: { perSecond: 0.001, burst: 5, metricsPerSecond: 1 } },
    });
    const token = await tokenOf(slow.cell);
    const browser = await signIn(slow.server, token);
    const statuses: number[] = [];
    for (let call = 0; call < 51; call++) statuses.push((await browser.call('getOrganization')).status);
    expect(statuses).toEqual([...Array.from({ length: 50 }, () => 200), 429]);
    const another = await signIn(slow.server, await tokenOf(slow.cell, { scopes: ['read'] }));
    expect((await another.call('getOrganization')).status).toBe(429);
    const byToken = { path: '/v1/getOrganization', headers: { 'x-api-token': token }, body: {} };
    // Two of the five were spent on signing in.
    for (const status of [200, 200, 200, 429]) expect((await send(slow.server, byToken)).status).toBe(status);
  });
});

describe('a call that does not come from the dashboard’s own pages', () => {
  const own = { 'x-signalbox-app': '1', host: 'queue.test' };
  it.each([
    ['without the header', { 'sec-fetch-site': 'same-origin' }, 403],
    ['from another site', { ...own, 'sec-fetch-site': 'cross-site' }, 403],
    ['from a neighbour of the site', { ...own, 'sec-fetch-site': 'same-site' }, 403],
    ['from another origin', { ...own, origin: 'https://evil.test' }, 403],
    ['from an origin that is none', { ...own, origin: 'null' }, 403],
    ['from nowhere', own, 403],
    [
      'from another site that claims our origin',
      { ...own, 'sec-fetch-site': 'cross-site', origin: 'http://queue.test' },
      403,
    ],
    ['from our origin', { ...own, origin: 'http://queue.test' }, 200],
    ['from our origin behind a proxy that makes it safe', { ...own, origin: 'https://queue.test' }, 200],
    ['from the configured address', { ...own, origin: 'http://localhost:8080' }, 200],
    ['from our own page', { ...own, 'sec-fetch-site': 'same-origin' }, 200],
  ])('%s is answered as it deserves', async (_name, headers, status) => {
    const { cookie } = await signIn(world.server, await tokenOf(world.cell));
    const sent = { headers: { ...headers, cookie } };
    const call = await send(world.server, { ...sent, path: '/app/api/call/getOrganization', body: {} });
    expect(call.status).toBe(status);
    const token = await tokenOf(world.cell);
    expect((await send(world.server, { ...sent, path, body: { token } })).status).toBe(status);
    const signOut = await send(world.server, { ...sent, method: 'DELETE', path });
    expect(signOut.status).toBe(status);
    expect(signOut.body).toMatchObject(status === 403 ? { error: { code: 'CROSS_SITE_REFUSED' } } : {});
  });

  it('is refused also where it only reads', async () => {
    const { cookie } = await signIn(world.server, await tokenOf(world.cell));
    const headers = { cookie, 'sec-fetch-site': 'cross-site' };
    expect((await send(world.server, { method: 'GET', path, headers })).status).toBe(403);
  });
});

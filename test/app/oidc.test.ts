import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { OidcConfig } from '#config/oidc.ts';
import { Session, SignInWays } from '#contract/session.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { type OidcProvider, startOidcProvider } from '../fixture/oidc-provider.ts';
import { main, openWorld, openWorldForTest, pr, type World } from '../support/harness.ts';
import { ownPage, send, signIn, tokenOf } from './browser.ts';
import {
  begin,
  callbackUrl,
  comeBack,
  cookieNamed,
  problemOf,
  sessionCookie,
  signInAs,
  signInAt,
} from './oidc-browser.ts';

const accounts = {
  'u-1': { preferred_username: 'ana', groups: ['leads', 'staff'] },
  'u-2': { preferred_username: 'ben', groups: ['engineers'] },
  'u-3': { preferred_username: 'chidi', groups: ['staff'] },
  'u-4': { preferred_username: 'dora', groups: ['guests'] },
  'u-5': { preferred_username: 'emre' },
  'u-6': { preferred_username: 'Ana', groups: ['staff'] },
  'u-7': { preferred_username: 'api:root\n', groups: ['staff'] },
};

let provider: OidcProvider;
let world: World & { close: () => Promise<void> };

const configOf = (wishes: Partial<OidcConfig> = {}): OidcConfig => ({
  issuer: provider.issuer,
  clientId: provider.clientId,
  clientSecret: provider.clientSecret,
  organization: 'acme',
  scopes: 'openid profile groups',
  roles: {
    claim: 'groups',
    values: { admin: ['leads'], submitter: ['engineers'], viewer: ['staff'] },
  },
  label: 'Sign in with Example',
  ...wishes,
});

beforeAll(async () => {
  provider = await startOidcProvider({ redirectUri: callbackUrl, accounts });
  world = await openWorld({ config: { oidc: configOf() } });
  await ensureOrganization(world.cell.db, 'acme', 'Acme');
});
afterAll(async () => {
  await world.close();
  await provider.stop();
});

const session = async (cookie: string, { server }: Pick<World, 'server'> = world) => {
  const headers = { ...ownPage, cookie };
  const { status, body } = await send(server, { method: 'GET', path: '/app/api/session', headers });
  return status === 200 ? Session.parse(body) : status;
};

const call = (cookie: string, operation: string, body: object = {}) =>
  send(world.server, { path: `/app/api/call/${operation}`, headers: { ...ownPage, cookie }, body });

describe('a person who signs in at the provider', () => {
  it.each([
    ['u-1', 'ana', 'admin', ['read', 'submit', 'admin']],
    ['u-2', 'ben', 'submitter', ['read', 'submit']],
    ['u-3', 'chidi', 'viewer', ['read']],
  ] as const)('%s is %s, with the role %s', async (login, name, role, scopes) => {
    const answer = await signInAs(world.server, login);
    expect([answer.status, answer.headers['location']]).toEqual([303, '/app/']);
    expect(await session(sessionCookie(answer))).toMatchObject({
      organization: { slug: 'acme', name: 'Acme' },
      kind: 'person',
      name,
      role,
      scopes,
    });
  });

  it('may do what the role may and no more, and is named in the timeline', async () => {
    const admin = sessionCookie(await signInAs(world.server, 'u-1'));
    const submitter = sessionCookie(await signInAs(world.server, 'u-2'));
    const viewer = sessionCookie(await signInAs(world.server, 'u-3'));
    expect((await call(admin, 'createQueue', { ...main, requiredStatuses: [] })).status).toBe(200);
    expect((await call(submitter, 'submitPullRequest', pr(1))).status).toBe(200);
    const { body } = await call(viewer, 'getSubmittedPullRequest', { ...pr(1), includeTimeline: true });
    expect(body).toMatchObject({ timeline: [{ actor: 'person:ben' }] });
    expect(await call(viewer, 'cancelPullRequest', pr(1))).toMatchObject({
      status: 403,
      body: { error: { code: 'INSUFFICIENT_SCOPE', message: expect.stringContaining('your role has read') } },
    });
    expect((await call(submitter, 'updateQueue', { ...main, state: 'PAUSED' })).status).toBe(403);
    expect((await call(admin, 'getOrganization')).body).toMatchObject({ token: { name: 'ana' } });
  });

  it('comes back to the page that was asked for', async () => {
    const path = '/app/queue?repo=git.example/acme/widgets&branch=main';
    expect((await signInAs(world.server, 'u-3', path)).headers['location']).toBe(path);
  });

  it.each(['//evil.test/app/', 'https://evil.test/app/', '/v1/getQueue', '/app/api/session'])(
    'is not sent to %s',
    async (path) => {
      expect((await signInAs(world.server, 'u-3', path)).headers['location']).toBe('/app/');
    },
  );

  it('keeps a name of their own: others of that name get another, and none can look like a token', async () => {
    const nameOf = async (login: string) => {
      const found = await session(sessionCookie(await signInAs(world.server, login)));
      return typeof found === 'number' ? found : found.name;
    };
    expect(await nameOf('u-1')).toBe('ana');
    expect(await nameOf('u-6')).toBe('Ana (2)');
    expect(await nameOf('u-6')).toBe('Ana (2)');
    expect(await nameOf('u-1')).toBe('ana');
    const cookie = sessionCookie(await signInAs(world.server, 'u-7'));
    expect(await session(cookie)).toMatchObject({ name: 'api:root' });
  });

  it('who has no role is refused', async () => {
    for (const login of ['u-4', 'u-5']) {
      const answer = await signInAs(world.server, login, '/app/tests');
      expect(problemOf(answer)).toBe('no-role');
      expect(cookieNamed(answer, 'signalbox_session')).toBeUndefined();
      expect(String(answer.headers['location'])).toContain('return=%2Fapp%2Ftests');
    }
  });

  it('who says no at the provider is told so, and nothing of the answer stays in the address', async () => {
    const answer = await signInAs(world.server, null);
    expect(problemOf(answer)).toBe('refused');
    expect(String(answer.headers['location'])).not.toMatch(/code|state|error|description/);
  });

  it('signs out, and the session is over', async () => {
    const cookie = sessionCookie(await signInAs(world.server, 'u-1'));
    const headers = { ...ownPage, cookie };
    const out = await send(world.server, { method: 'DELETE', path: '/app/api/session', headers });
    expect(out.status).toBe(200);
    expect(await session(cookie)).toBe(401);
  });

  it('is not let in by /v1', async () => {
    const cookie = sessionCookie(await signInAs(world.server, 'u-1'));
    const value = cookie.split('=')[1]!;
    const headers = { cookie, 'x-api-token': value };
    expect((await send(world.server, { path: '/v1/getOrganization', headers, body: {} })).status).toBe(401);
  });

  it('sees nothing of another organization', async () => {
    const other = await signIn(world.server, await tokenOf(world.cell, { organization: 'globex' }));
    const theirs = { ...main, targetBranch: 'theirs' };
    expect((await other.call('createQueue', { ...theirs, requiredStatuses: [] })).status).toBe(200);
    const cookie = sessionCookie(await signInAs(world.server, 'u-1'));
    expect((await call(cookie, 'getQueue', theirs)).status).toBe(404);
  });

  it('stays for 12 hours', async () => {
    const found = await session(sessionCookie(await signInAs(world.server, 'u-3')));
    const end = typeof found === 'number' ? 0 : Date.parse(found.expires_at);
    expect(Math.abs(end - Date.now() - 12 * 3_600_000)).toBeLessThan(60_000);
  });
});

describe('the cookies of a sign-in', () => {
  it('cannot be read by scripts; the first comes along from other sites, the session’s does not', async () => {
    const { answer, cookie, location } = await begin(world.server);
    expect(cookieNamed(answer, 'signalbox_oidc')).toMatch(
      /^signalbox_oidc=[\w-]+; Path=\/app\/api\/oidc; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    const back = await comeBack(world.server, await signInAt(location, 'u-3'), cookie);
    expect(cookieNamed(back, 'signalbox_session')).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect(cookieNamed(back, 'signalbox_oidc')).toMatch(/^signalbox_oidc=; .*Expires=Thu, 01 Jan 1970/);
    expect(back.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });

  it('show nothing of what must come back', async () => {
    const { cookie, location } = await begin(world.server);
    const bytes = Buffer.from(cookie.split('=')[1]!, 'base64url').toString('latin1');
    for (const name of ['state', 'nonce'])
      expect(bytes).not.toContain(new URL(location).searchParams.get(name));
    expect(new URL(location).searchParams.get('code_challenge_method')).toBe('S256');
  });

  it('are for safe connections only where the dashboard is reached by one', async () => {
    const safe = await openWorldForTest({
      config: { publicUrl: 'https://queue.test', isPublicUrlGiven: true, oidc: configOf() },
    });
    const { answer } = await begin(safe.server);
    expect(cookieNamed(answer, 'signalbox_oidc')).toMatch(/; Secure$/);
  });
});

describe('a sign-in that is not what was begun', () => {
  it('without the cookie is refused', async () => {
    const { location } = await begin(world.server);
    expect(problemOf(await comeBack(world.server, await signInAt(location, 'u-1'), ''))).toBe('stale');
  });

  it('of another browser is refused, and does not spoil the one under way', async () => {
    const mine = await begin(world.server);
    const theirs = await begin(world.server);
    const foreign = await comeBack(world.server, await signInAt(theirs.location, 'u-1'), mine.cookie);
    expect(problemOf(foreign)).toBe('stale');
    expect(foreign.headers['set-cookie']).toBeUndefined();
    const own = await comeBack(world.server, await signInAt(mine.location, 'u-3'), mine.cookie);
    expect(problemOf(own)).toBeNull();
  });

  it('whose code was used already is refused', async () => {
    const { location, cookie } = await begin(world.server);
    const url = await signInAt(location, 'u-1');
    expect(problemOf(await comeBack(world.server, url, cookie))).toBeNull();
    expect(problemOf(await comeBack(world.server, url, cookie))).toBe('stale');
  });

  it('whose cookie was changed is refused', async () => {
    const { location, cookie } = await begin(world.server);
    const url = await signInAt(location, 'u-1');
    const changed = cookie.slice(0, -2) + (cookie.endsWith('AA') ? 'BB' : 'AA');
    expect(problemOf(await comeBack(world.server, url, changed))).toBe('stale');
  });

  it('that took too long is refused', async () => {
    const slow = await openWorldForTest({ config: { oidc: configOf() } });
    await ensureOrganization(slow.cell.db, 'acme', 'Acme');
    const { location, cookie } = await begin(slow.server);
    const url = await signInAt(location, 'u-1');
    slow.clock.advance(601_000);
    expect(problemOf(await comeBack(slow.server, url, cookie))).toBe('stale');
  });

  const leader = { groups: ['leads'], preferred_username: 'chidi' };
  it.each([
    ['that nobody signed', { ...leader }, false, 'failed'],
    ['of another nonce', { nonce: 'x' }, true, 'failed'],
    ['for another client', { aud: 'x' }, true, 'failed'],
    ['of another issuer', { iss: 'https://id.test' }, true, 'failed'],
    ['that has expired', { exp: 1_000 }, true, 'clock'],
    // The provider's own word counts: so the first of these is refused for its signature alone.
    ['that the provider signed', { ...leader }, true, null],
  ])('with an ID token %s is answered as it deserves', async (_name, changed, resigned, problem) => {
    provider.alter({ claims: (claims) => ({ ...claims, ...changed }), resigned });
    const answer = await signInAs(world.server, 'u-3').finally(() => provider.alter(null));
    expect(problemOf(answer)).toBe(problem);
    expect(cookieNamed(answer, 'signalbox_session') === undefined).toBe(problem !== null);
  });
});

describe('what is configured', () => {
  it('is told to the sign-in page, with the address that the provider sends back to', async () => {
    const ways = await send(world.server, { method: 'GET', path: '/app/api/sign-in', headers: {} });
    expect(SignInWays.parse(ways.body)).toEqual({
      oidc: { label: 'Sign in with Example', start_url: 'http://localhost:8080/app/api/oidc/start' },
    });
  });

  it('may be nothing: then there is no such way in', async () => {
    const plain = await openWorldForTest();
    const ways = await send(plain.server, { method: 'GET', path: '/app/api/sign-in', headers: {} });
    expect(ways.body).toEqual({ oidc: null });
    const start = await send(plain.server, { method: 'GET', path: '/app/api/oidc/start', headers: {} });
    expect(start.status).toBe(404);
  });

  it('proves itself in a way that providers understand which do not decode: dashes stay dashes', async () => {
    await signInAs(world.server, 'u-3');
    const pair = `${provider.clientId}:${provider.clientSecret}`;
    expect(pair).toMatch(/-web:.*-/);
    expect(provider.authorization()).toBe(`Basic ${Buffer.from(pair).toString('base64')}`);
  });

  it('may be a client without a secret', async () => {
    const open = { clientId: provider.publicClientId, clientSecret: null };
    const plain = await openWorldForTest({ config: { oidc: configOf(open) } });
    await ensureOrganization(plain.cell.db, 'acme', 'Acme');
    expect(await session(sessionCookie(await signInAs(plain.server, 'u-1')), plain)).toMatchObject({
      role: 'admin',
    });
  });

  it.each([
    ['a secret that is wrong', { clientSecret: 'wrong' }, 'failed'],
    ['an organization that is not there', { organization: 'nobody' }, 'no-organization'],
  ] as const)('may be wrong: %s', async (_name, wishes, problem) => {
    const wrong = await openWorldForTest({ config: { oidc: configOf(wishes) } });
    await ensureOrganization(wrong.cell.db, 'acme', 'Acme');
    expect(problemOf(await signInAs(wrong.server, 'u-1'))).toBe(problem);
  });

  it('finds the organization in whichever cell it is', async () => {
    const two = await openWorldForTest({ cellNames: ['eu', 'us'], config: { oidc: configOf() } });
    await ensureOrganization(two.cells[1]!.db, 'acme', 'Acme');
    const cookie = sessionCookie(await signInAs(two.server, 'u-1'));
    expect(cookie).toMatch(/^signalbox_session=sbs_us_/);
    expect(await session(cookie, two)).toMatchObject({ organization: { slug: 'acme' } });
  });
});

describe('a provider that is away', () => {
  it('is told in words before and after, and is found again when it is back', async () => {
    const gone = await startOidcProvider({ redirectUri: callbackUrl, accounts });
    const oidc = configOf({ issuer: gone.issuer });
    const lost = await openWorldForTest({ config: { oidc } });
    const { location, cookie } = await begin(lost.server);
    const url = await signInAt(location, 'u-1');
    await gone.stop();
    expect(problemOf(await comeBack(lost.server, url, cookie))).toBe('unreachable');
    const never = await openWorldForTest({ config: { oidc } });
    await ensureOrganization(never.cell.db, 'acme', 'Acme');
    expect(problemOf((await begin(never.server)).answer)).toBe('unreachable');
    const port = Number(new URL(gone.issuer).port);
    const back = await startOidcProvider({ redirectUri: callbackUrl, accounts, port });
    onTestFinished(back.stop);
    expect(problemOf(await signInAs(never.server, 'u-1'))).toBeNull();
  });
});

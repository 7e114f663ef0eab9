import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '#base/clock.ts';
import {
  type Asked,
  connectionsOf,
  organizationId,
  startStub,
  type Stub,
  type StubAnswer,
  stubHost,
} from '../../../../test/host-contract/gitea-stub.ts';
import type { Credentials } from '../../connection.ts';
import { createClient } from './client.ts';
import { createTokenProvider } from './credential.ts';

const start = Date.UTC(2026, 0, 1);
const hour = 3_600_000;

const oauth: Extract<Credentials, { kind: 'oauth' }> = {
  kind: 'oauth',
  clientId: 'client',
  clientSecret: 'cl1ent-secret',
  accessToken: 'access-1',
  refreshToken: 'refresh-1',
  expiresAt: start + hour,
};

let stub: Stub | undefined;
afterEach(() => stub?.close());

/** Renews as Gitea does: each time with a token of the next number. */
function renewing(): (asked: Asked) => StubAnswer {
  let count = 1;
  return ({ path }) => {
    if (path !== '/login/oauth/access_token') return [200, {}];
    count += 1;
    const tokens = { access_token: `access-${count}`, refresh_token: `refresh-${count}` };
    return [200, { ...tokens, token_type: 'bearer', expires_in: 3_600 }];
  };
}

async function world(answer: (asked: Asked) => StubAnswer) {
  stub = await startStub(answer);
  let now = start;
  const clock: Clock = { now: () => new Date(now) };
  const connections = connectionsOf(stub.url, oauth);
  const tokenOf = createTokenProvider({ connections, clock, timeoutMs: 1_000 });
  const client = createClient({ host: stubHost, connections, tokenOf, clock, timeoutMs: 1_000 });
  const renewals = () => stub!.asked.filter(({ path }) => path === '/login/oauth/access_token');
  return { connections, tokenOf, client, renewals, pass: (ms: number) => (now += ms) };
}

describe('the access of an OAuth application', () => {
  it('is used while it lasts, and renewed before it runs out', async () => {
    const { connections, tokenOf, renewals, pass } = await world(renewing());
    expect(await tokenOf(connections.current())).toBe('access-1');
    pass(hour - 30_000);
    expect(await tokenOf(connections.current())).toBe('access-2');
    expect(renewals().map(({ body }) => body)).toEqual([
      {
        client_id: 'client',
        client_secret: 'cl1ent-secret',
        grant_type: 'refresh_token',
        refresh_token: 'refresh-1',
      },
    ]);
    expect(connections.current().credentials).toEqual({
      ...oauth,
      accessToken: 'access-2',
      refreshToken: 'refresh-2',
      expiresAt: start + hour - 30_000 + hour,
    });
    pass(hour);
    expect(await tokenOf(connections.current())).toBe('access-3');
  });

  it('is renewed once for all who ask, also for those who read it before', async () => {
    const { connections, tokenOf, renewals, pass } = await world(renewing());
    const old = connections.current();
    pass(hour);
    const tokens = await Promise.all(Array.from({ length: 5 }, () => tokenOf(old)));
    expect(new Set(tokens)).toEqual(new Set(['access-2']));
    expect(await tokenOf(old)).toBe('access-2');
    expect(renewals()).toHaveLength(1);
  });

  it('that the host does not accept any more is renewed, and the call made again', async () => {
    const renew = renewing();
    const { client, renewals } = await world((asked) =>
      asked.authorization === 'token access-1' ? [401, { message: 'expired' }] : renew(asked),
    );
    expect((await client.call(organizationId, { path: '/user' })).status).toBe(200);
    expect(renewals()).toHaveLength(1);
    expect(stub!.asked.map(({ authorization }) => authorization)).toEqual([
      'token access-1',
      undefined,
      'token access-2',
    ]);
  });

  it('that another process has renewed is taken from there', async () => {
    const { connections, tokenOf, pass } = await world(() => [
      400,
      { error: 'unauthorized_client', error_description: 'token was already used' },
    ]);
    const old = connections.current();
    pass(hour);
    const theirs = {
      ...oauth,
      accessToken: 'theirs',
      refreshToken: 'refresh-9',
      expiresAt: start + 9 * hour,
    };
    await connections.save(old, theirs);
    expect(await tokenOf(old)).toBe('theirs');
  });

  it.each([
    ['refuses it', 400, 'forbidden'],
    ['does not know the application', 401, 'forbidden'],
    ['is in trouble', 503, 'unavailable'],
    ['answers with something else', 200, 'forbidden'],
  ] as const)(
    'that cannot be renewed because the host %s says so, and no secret',
    async (_why, status, trouble) => {
      const { connections, tokenOf, pass } = await world(() => [
        status,
        { error: 'refresh-1 cl1ent-secret' },
      ]);
      pass(hour);
      const error: unknown = await tokenOf(connections.current()).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'HostError', trouble });
      expect(String(error)).not.toMatch(/refresh-1|cl1ent-secret/);
    },
  );

  it('cannot be renewed by a host that is not there', async () => {
    const { connections, tokenOf, pass } = await world(renewing());
    pass(hour);
    await stub!.close();
    await expect(tokenOf(connections.current())).rejects.toMatchObject({ trouble: 'unavailable' });
  });
});

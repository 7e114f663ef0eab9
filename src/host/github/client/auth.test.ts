import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Clock } from '#base/clock.ts';
import { hourMs } from '#base/duration.ts';
import type { Credentials } from '../../connection.ts';
import { type AskToken, createAuth } from './auth.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const app: Credentials = { kind: 'github-app', appId: 12, privateKey, installationId: 34 };
const clock: Clock = { now: () => new Date() };

const claimsOf = (jwt: string): { iat: number; exp: number; iss: string } => {
  const [head = '', body = '', seal = ''] = jwt.split('.');
  const isOurs = verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${body}`),
    createPublicKey(publicKey),
    Buffer.from(seal, 'base64url'),
  );
  expect(isOurs).toBe(true);
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as ReturnType<typeof claimsOf>;
};

/** Gives out a token per request, each for an hour. */
function tokens(prefix: string) {
  const asked: string[] = [];
  const ask: AskToken = (_installationId, appToken) => {
    asked.push(appToken);
    const at = Date.now();
    return Promise.resolve({ token: `${prefix}${asked.length}`, expiresAt: at + hourMs, at });
  };
  return { ask, asked };
}

describe('an App', () => {
  it('signs for itself, dated back for clocks that differ, for less than ten minutes', async () => {
    const { ask, asked } = tokens('t');
    const auth = createAuth(app, ask, clock);
    await auth.token();
    const { iat, exp, iss } = claimsOf(asked[0]!);
    const now = Date.now() / 1_000;
    expect(iss).toBe('12');
    expect(now - iat).toBeGreaterThanOrEqual(59);
    expect(exp - now).toBeLessThan(600);
    expect(exp - now).toBeGreaterThan(300);
  });

  it('asks for a token once for all who need one, and again before it runs out', async () => {
    let now = Date.now();
    const { ask, asked } = tokens('t');
    const auth = createAuth(app, ask, { now: () => new Date(now) });
    expect(await Promise.all([auth.token(), auth.token(), auth.token()])).toEqual(['t1', 't1', 't1']);
    now += hourMs - 11 * 60_000;
    expect(await auth.token()).toBe('t1');
    now += 2 * 60_000;
    expect(await auth.token()).toBe('t2');
    expect(asked).toHaveLength(2);
  });

  it('gets a new token where the last was taken back, once for all who saw that', async () => {
    const { ask } = tokens('t');
    const auth = createAuth(app, ask, clock);
    const first = await auth.token();
    expect([auth.renew(first), await auth.token()]).toEqual([true, 't2']);
    expect([auth.renew(first), await auth.token()]).toEqual([true, 't2']);
  });

  it('never gets the token of another host that has an installation of the same number', async () => {
    const [here, there] = [tokens('here'), tokens('there')];
    const auths = [createAuth(app, here.ask, clock), createAuth(app, there.ask, clock)];
    expect(await Promise.all(auths.map((auth) => auth.token()))).toEqual(['here1', 'there1']);
  });

  it('goes by the clock of the host where they differ', async () => {
    const aheadMs = 20 * 60_000;
    const asked: string[] = [];
    const ask: AskToken = (_installationId, appToken) => {
      asked.push(appToken);
      const theirNow = Date.now() + aheadMs;
      const date = new Date(theirNow).toUTCString();
      if (claimsOf(appToken).exp * 1_000 < theirNow)
        return Promise.resolve({ failure: { status: 401, message: 'exp', headers: { date } } });
      return Promise.resolve({ token: 't', expiresAt: theirNow + hourMs, at: theirNow });
    };
    const auth = createAuth(app, ask, clock);
    expect(await auth.token()).toBe('t');
    expect(asked).toHaveLength(2);
    expect(claimsOf(auth.appToken()!).exp * 1_000).toBeGreaterThan(Date.now() + aheadMs);
  });

  it.each([
    [401, 'forbidden'],
    [403, 'forbidden'],
    [404, 'forbidden'],
    [503, 'unavailable'],
    [0, 'unavailable'],
    [429, 'rate_limited'],
  ] as const)(
    'that gets %i instead of a token is in trouble, whatever was asked for: %s',
    async (status, trouble) => {
      const failure = { status, message: '', headers: {} };
      const auth = createAuth(app, () => Promise.resolve({ failure }), clock);
      await expect(auth.token()).rejects.toMatchObject({ trouble });
    },
  );

  it('with a key that is none says so, without the key', () => {
    const broken: Credentials = { ...app, privateKey: 'not-a-key' };
    const make = () => createAuth(broken, tokens('t').ask, clock);
    expect(make).toThrow('The private key of the GitHub App cannot be read');
    expect(make).not.toThrow('not-a-key');
  });
});

describe('an account', () => {
  it('has the one token that it has', async () => {
    const auth = createAuth({ kind: 'token', token: 'ghp_x' }, tokens('t').ask, clock);
    expect(await auth.token()).toBe('ghp_x');
    expect([auth.appId, auth.appToken(), auth.renew('ghp_x')]).toEqual([null, null, false]);
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '#base/clock.ts';
import type { OrganizationId } from '#base/id.ts';
import {
  type Asked,
  connectionsOf,
  organizationId,
  startStub,
  type Stub,
  type StubAnswer,
  stubHost,
} from '../../../../test/host-contract/gitea-stub.ts';
import { HostError } from '../../host.ts';
import { type Client, createClient } from './client.ts';

const token = 'tok3n-that-no-one-may-see';

let stub: Stub | undefined;
afterEach(() => stub?.close());

async function clientOf(answer: (asked: Asked) => StubAnswer | null, timeoutMs = 20_000): Promise<Client> {
  stub = await startStub(answer);
  const connections = connectionsOf(stub.url, { kind: 'token', token });
  const tokenOf = () => Promise.resolve(token);
  return createClient({ host: stubHost, connections, tokenOf, clock: systemClock, timeoutMs });
}

const troubleOf = async (call: Promise<unknown>): Promise<HostError> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HostError)) throw new Error(`not a HostError: ${String(error)}`);
  return error;
};

describe('an answer', () => {
  it('is asked for with our token, which is in no address', async () => {
    const client = await clientOf(() => [200, { version: '1' }]);
    const { body } = await client.call(organizationId, { path: '/version', query: { a: 'ä b' } });
    expect(body).toEqual({ version: '1' });
    expect(stub!.asked).toMatchObject([
      { method: 'GET', path: '/api/v1/version?a=%C3%A4+b', authorization: `token ${token}` },
    ]);
  });

  it('that there is no such thing is null', async () => {
    const client = await clientOf(() => [404, { message: 'not found' }]);
    expect(await client.read(organizationId, z.object({}), { path: '/x' })).toBeNull();
    expect(await client.list(organizationId, z.object({}), { path: '/x' })).toEqual([]);
  });

  it('of a repository that was renamed comes from where it is now, whatever was asked', async () => {
    const client = await clientOf(({ path }) =>
      path.startsWith('/api/v1/new') ? [201, {}] : [301, '', { location: '/api/v1/new' }],
    );
    const answer = await client.call(organizationId, { method: 'POST', path: '/old', body: { a: 1 } });
    expect(answer.status).toBe(201);
    expect(stub!.asked[1]).toMatchObject({ method: 'POST', body: { a: 1 }, authorization: `token ${token}` });
  });

  it('is never asked for at another host', async () => {
    const other = await startStub(() => [200, {}]);
    const client = await clientOf(() => [302, '', { location: `${other.url}/steal` }]);
    expect(await troubleOf(client.call(organizationId, { path: '/x' }))).toMatchObject({
      trouble: 'forbidden',
    });
    expect(other.asked).toEqual([]);
    await other.close();
  });

  it('is put together of all pages, by links or by their count', async () => {
    const pages = [[1, 2], [3, 4], [5]];
    const pageOf = ({ path }: Asked) => Number(new URL(path, 'http://x').searchParams.get('page'));
    const linked = await clientOf((asked) => {
      const page = pageOf(asked);
      return [200, pages[page - 1], page < 3 ? { link: '<http://x/?page=9>; rel="next"' } : {}];
    });
    expect(await linked.list(organizationId, z.number(), { path: '/x' })).toEqual([1, 2, 3, 4, 5]);
    expect(await linked.list(organizationId, z.number(), { path: '/x', pagesMax: 2 })).toHaveLength(4);
    await stub!.close();
    const counted = await clientOf((asked) => [
      200,
      pages[pageOf(asked) - 1] ?? [],
      { 'x-total-count': '5' },
    ]);
    expect(await counted.list(organizationId, z.number(), { path: '/x' })).toEqual([1, 2, 3, 4, 5]);
    expect(stub!.asked).toHaveLength(3);
  });
});

describe('trouble', () => {
  it.each([
    [500, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [408, 'unavailable'],
    [429, 'rate_limited'],
    [401, 'forbidden'],
    [403, 'forbidden'],
    [422, 'forbidden'],
    [423, 'forbidden'],
  ] as const)('answered with %i is %s', async (status, trouble) => {
    const client = await clientOf(() => [status, { message: `no, ${token} may not` }]);
    const error = await troubleOf(client.call(organizationId, { path: '/x' }));
    expect(error.trouble).toBe(trouble);
    expect(error.message).not.toContain(token);
  });

  it('is reported with the message of the host, without credentials', async () => {
    const client = await clientOf(() => [403, { message: `token ${token} lacks the scope write:issue` }]);
    const error = await troubleOf(client.call(organizationId, { path: '/x' }));
    expect(error.message).toBe('gitea.test answered 403 to GET /x: token *** lacks the scope write:issue');
  });

  it('says how long to wait, in seconds or until an instant', async () => {
    const client = await clientOf(({ path }) => [
      429,
      '',
      { 'retry-after': path.endsWith('/s') ? '7' : new Date(Date.now() + 60_000).toUTCString() },
    ]);
    const call = (path: string) => troubleOf(client.call(organizationId, { path }));
    expect((await call('/s')).retryAfterMs).toBe(7_000);
    expect((await call('/d')).retryAfterMs).toBeGreaterThan(50_000);
  });

  it('is also what is no JSON, or not of the form that is known', async () => {
    const client = await clientOf(({ path }) => [200, path.endsWith('/html') ? '<html>' : { a: 'b' }]);
    for (const path of ['/html', '/form'])
      expect(
        await troubleOf(client.read(organizationId, z.object({ a: z.number() }), { path })),
      ).toMatchObject({ trouble: 'unavailable' });
  });

  it('is silence, after a while', async () => {
    const client = await clientOf(() => null, 500);
    const error = await troubleOf(client.call(organizationId, { path: '/x' }));
    expect(error).toMatchObject({
      trouble: 'unavailable',
      message: 'gitea.test does not answer within 500 ms.',
    });
  });

  it('is an answer without end', async () => {
    const client = await clientOf(() => [200, `"${'x'.repeat(33 * 1024 * 1024)}"`]);
    expect(await troubleOf(client.call(organizationId, { path: '/x' }))).toMatchObject({
      trouble: 'unavailable',
      message: expect.stringContaining('larger than') as unknown,
    });
  });

  it('is an organization that is not connected', async () => {
    const client = await clientOf(() => [200, {}]);
    const error = await troubleOf(client.call('other' as OrganizationId, { path: '/x' }));
    expect(error).toMatchObject({ trouble: 'forbidden' });
    expect(stub!.asked).toEqual([]);
  });
});

// The webhook that Signalbox adds to a repository, and what it finds out about a token, on a real server.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openPlace, type Workplace } from './contract.ts';
import { silentLog } from '../support/silent-log.ts';
import { createGiteaHost } from '#host/gitea/host.ts';
import { connectionsOf, organizationId, stubHost } from './gitea-stub.ts';
import { createGiteaWorld, type GiteaWorld } from './gitea-world.ts';

let world: GiteaWorld;
beforeAll(async () => {
  world = await createGiteaWorld();
}, 600_000);
afterAll(() => world?.close());

describe('the webhook of a repository on Gitea', () => {
  const open = () => openPlace(world);
  const ask = <T = unknown>(
    { repository: { owner, name } }: Workplace,
    method: string,
    path: string,
    body?: object,
  ) =>
    world.gitea.call<T>(
      world.people.get(world.author)!.token,
      method,
      `/repos/${owner}/${name}${path}`,
      body,
    );

  const wanted = {
    url: 'http://127.0.0.1:9/hooks/main_1',
    secret: 'obviously-fake',
    isSecretNew: false,
    sharing: [],
  };
  type GiteaHook = {
    readonly id: number;
    readonly events: readonly string[];
    readonly config: { readonly url: string };
  };
  const hooksOf = async (place: Workplace) =>
    (await ask<readonly GiteaHook[]>(place, 'GET', '/hooks')).filter(
      ({ config }) => config.url === wanted.url,
    );

  it('is added to a repository once, with every event that is needed, and completed if some are missing', async () => {
    const place = await open();
    const { host, repository } = place;
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'set' });
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'unchanged' });
    const inspected = await host.inspect(repository, 'main');
    expect(inspected.webhooks?.find(({ url }) => url === wanted.url)).toMatchObject({
      isActive: true,
      events: ['pull-request-changed', 'check-changed', 'branch-moved', 'comment-written', 'label-changed'],
    });
    const [hook] = await hooksOf(place);
    await ask(place, 'PATCH', `/hooks/${hook!.id}`, { active: false, events: ['push'] });
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'set' });
    expect((await hooksOf(place)).map(({ id }) => id)).toEqual([hook!.id]);
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'unchanged' });
  });

  it('is signed with the secret that replaces another', async () => {
    const place = await open();
    const { host, repository, hookUrl } = place;
    const secret = 'another-obviously-fake';
    expect(
      await host.ensureWebhook(repository, { url: hookUrl, secret, isSecretNew: true, sharing: [] }),
    ).toEqual({
      kind: 'set',
    });
    const from = world.deliveries.length;
    await place.push('change', { 'a.txt': 'a' });
    const signed = await eventually(
      () => world.deliveries.slice(from),
      (deliveries) => deliveries.length > 0,
    );
    expect((await ask<readonly GiteaHook[]>(place, 'GET', '/hooks')).map(({ config }) => config.url)).toEqual(
      [hookUrl],
    );
    const delivery = { headers: signed[0]!.headers, body: Buffer.from(signed[0]!.body) };
    expect(host.parseWebhook({ ...delivery, secret })).toMatchObject({ kind: 'accepted' });
    expect(host.parseWebhook({ ...delivery, secret: world.webhookSecret })).toMatchObject({
      kind: 'refused',
    });
  });

  it('is left to a person where our account is no administrator', async () => {
    const place = await open();
    await place.grant(world.bot.name, 'write');
    expect(await place.host.ensureWebhook(place.repository, wanted)).toEqual({
      kind: 'cannot',
      reason: expect.stringContaining('An administrator of the repository may set its webhooks'),
    });
    expect(await hooksOf(place)).toEqual([]);
  });
});

describe('the access of an account on Gitea', () => {
  const hostWith = (token: string) =>
    createGiteaHost({
      host: stubHost,
      connections: connectionsOf(world.gitea.url, { kind: 'token', token }),
      clock: { now: () => new Date() },
      log: silentLog,
    });

  /** A token of our account with these scopes alone. */
  async function tokenWith(scopes: readonly string[]): Promise<string> {
    const { name, password } = world.bot;
    const answer = await fetch(`${world.gitea.url}/api/v1/users/${name}/tokens`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
      },
      body: JSON.stringify({ name: scopes.join(), scopes }),
    });
    return ((await answer.json()) as { readonly sha1: string }).sha1;
  }

  it('is shown with the repositories where it may write', async () => {
    const mine = (await openPlace(world)).repository;
    const readable = await openPlace(world);
    await readable.grant(world.bot.name, 'read');
    const access = await world.host.readAccess(organizationId);
    expect(access).toMatchObject({
      version: expect.stringMatching(/^Gitea \d/),
      account: world.bot.name,
      missing: [],
    });
    expect(access.repositories).toContainEqual({ owner: mine.owner, name: mine.name, defaultBranch: 'main' });
    expect(access.repositories.map(({ name }) => name)).not.toContain(readable.repository.name);
  });

  it.each([
    ['read:user', ['write:repository', 'write:issue']],
    ['write:repository', ['read:user', 'write:issue']],
    ['write:issue', ['read:user', 'write:repository']],
    ['read:repository', ['read:user', 'write:repository', 'write:issue']],
  ])('by a token with %s alone lacks the other scopes', async (scope, lacks) => {
    const { missing, account } = await hostWith(await tokenWith([scope])).readAccess(organizationId);
    expect(missing.map((sentence) => /the scope ([a-z:]+)\./.exec(sentence)?.[1])).toEqual(lacks);
    expect(account).toBe(scope === 'read:user' ? world.bot.name : null);
  });

  it('by the scopes that the guide names lacks nothing', async () => {
    const token = await tokenWith(['read:user', 'write:repository', 'write:issue']);
    const { repository } = await openPlace(world);
    const { missing, repositories } = await hostWith(token).readAccess(organizationId);
    expect(missing).toEqual([]);
    expect(repositories.map(({ name }) => name)).toContain(repository.name);
  });

  it('by a token that does not exist is refused', async () => {
    await expect(hostWith('0'.repeat(40)).readAccess(organizationId)).rejects.toMatchObject({
      trouble: 'forbidden',
    });
  });
});

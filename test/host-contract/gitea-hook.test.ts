// The webhook that Signalbox adds to a repository, on a real server.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openPlace, type Workplace } from './contract.ts';
import { createGiteaWorld, type GiteaWorld } from './gitea-world.ts';

describe('the webhook of a repository on Gitea', () => {
  let world: GiteaWorld;
  beforeAll(async () => {
    world = await createGiteaWorld();
  }, 600_000);
  afterAll(() => world?.close());

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

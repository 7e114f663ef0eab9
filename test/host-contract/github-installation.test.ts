// One App, several installations: of one organization, and of several.

import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { RepositoryId } from '#base/id.ts';
import { saveConnection } from '#db/account/connection-store.ts';
import { withTransaction } from '#db/transaction.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { createGithubHost } from '#host/github/host.ts';
import { openWorldForTest } from '../support/harness.ts';
import { counted, openGithub, widgets } from './github-fixture.ts';
import { hostName } from './github-world.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

it('an organization works in every account whose installation its connection lists, and in no other', async () => {
  const { server, connect, repository, propose } = await openGithub();
  const second = server.install('umbrella');
  server.install('stranger');
  for (const owner of ['umbrella', 'stranger'])
    await server.newRepository(`${owner}/gadgets`, { access: { ada: 'write' } });
  const { appId, privateKey, installationId } = server;
  const app = { kind: 'github-app', appId, privateKey, installationId } as const;
  const host = connect({ ...app, moreInstallationIds: [second] });
  const at = (owner: string) => ({ ...repository, id: randomUUID() as RepositoryId, owner, name: 'gadgets' });
  const files = { 'x.txt': 'x' };
  const open = (name: string) => server.openPullRequest(name, { branch: 'x', files, by: 'ada' });
  const first = await propose('one');
  const other = await open('umbrella/gadgets');
  const foreign = await open('stranger/gadgets');
  const read = (where: typeof repository, number: number) =>
    host.readPullRequest({ repository: where, number });
  expect(await read(repository, first.number)).toMatchObject({ headSha: first.headSha });
  const elsewhere = at('umbrella');
  expect(await read(elsewhere, other.number)).toMatchObject({ headSha: other.headSha });
  await expect(read(at('stranger'), foreign.number)).rejects.toMatchObject({ trouble: 'forbidden' });
  // Which installation it is, is asked once.
  server.forgetCalls();
  await read(elsewhere, other.number);
  expect(counted(server)['GET /repos/{owner}/{repo}/installation']).toBeUndefined();
  expect(
    await host.findRepository(repository.organizationId, {
      host: hostName,
      owner: 'umbrella',
      name: 'gadgets',
    }),
  ).toMatchObject({ owner: 'umbrella' });
  expect(server.pullRequest(widgets, first.number).state).toBe('open');
});

it('the one webhook of an App reaches every organization that is connected with the App', async () => {
  const host = 'github.example';
  const connections = { find: () => Promise.resolve(null), save: () => Promise.resolve() };
  const github = createGithubHost({ host, connections, clock: { now: () => new Date() }, log: silent });
  const world = await openWorldForTest({
    wrapHosts: (others) => (cell, name) => (name === host ? github : others(cell, name)),
  });
  const key = randomBytes(32);
  const credentials = JSON.stringify({ kind: 'github-app', appId: 7, installationId: 1, privateKey: '' });
  const connect = async (slug: string, appId: number) => {
    const { id } = await ensureOrganization(world.cell.db, slug, slug);
    const wish = {
      organizationId: id,
      kind: 'github',
      host,
      url: `https://${host}`,
      appId,
      credentials,
    } as const;
    const connection = await withTransaction(world.cell, (tx) => saveConnection(tx, key, wish));
    const repository = { host, owner: slug, name: 'widgets', isSandbox: false };
    await withTransaction(world.cell, (tx) => ensureRepository(tx, id, repository));
    return connection;
  };
  const first = await connect('acme', 7);
  const second = await connect('umbrella', 7);
  const third = await connect('stranger', 8);
  expect(second.webhookSecret).toBe(first.webhookSecret);
  expect(third.webhookSecret).not.toBe(first.webhookSecret);
  const ownersWithEvents = async () => {
    const { rows } = await world.cell.pool.query<{ owner: string }>(
      'select r.owner from pull_request_head h join repository r on r.id = h.repository_id order by 1',
    );
    return rows.map(({ owner }) => owner);
  };
  const ids = ['acme', 'umbrella', 'stranger'];
  const deliver = async (owner: string) => {
    const payload = {
      action: 'opened',
      number: 1,
      repository: { id: ids.indexOf(owner) + 1, name: 'widgets', owner: { login: owner } },
      pull_request: { head: { sha: 'a'.repeat(40) }, labels: [], updated_at: '2026-01-01T00:00:00Z' },
    };
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', first.webhookSecret).update(body).digest('hex');
    const { statusCode } = await world.server.inject({
      method: 'POST',
      url: `/hooks/${world.cell.name}_${first.id}`,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'pull_request',
        'x-hub-signature-256': `sha256=${signature}`,
      },
      payload: body,
    });
    expect(statusCode).toBe(200);
  };
  for (const owner of ids) await deliver(owner);
  expect(await ownersWithEvents()).toEqual(['acme', 'umbrella']);
});

// Connecting an organization to a Git host over the API.

import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { type GithubServer, startGithubServer } from '../github-server/server.ts';
import { openWorldForTest, type WorldOptions } from '../support/harness.ts';

async function openScene(config: Partial<NonNullable<WorldOptions['config']>> = {}) {
  const server = await startGithubServer({ mergeabilityMs: 1 });
  onTestFinished(server.stop);
  await server.newRepository('acme/widgets', { access: {} });
  const world = await openWorldForTest({
    config: { sandbox: 'off', secretKey: randomBytes(32), gitHosts: [server.url], ...config },
  });
  return { server, world, client: await world.client() };
}

const appOf = ({ url, appId, privateKey, installationId }: GithubServer) => ({
  kind: 'github',
  url,
  credentials: { kind: 'github-app', appId, privateKey, installationIds: [installationId] },
});

it('connects a host, shows what it reaches, and a queue can be created there at once', async () => {
  const { server, client } = await openScene();
  expect((await client.call('listHostConnections', {})).connectable).toEqual([server.url]);
  const { connection, access } = await client.call('connectHost', appOf(server));
  const host = new URL(server.url).host;
  expect(connection).toMatchObject({ kind: 'github', host, url: server.url });
  expect(access).toMatchObject({
    missing: [],
    repositories: [{ owner: 'acme', name: 'widgets', defaultBranch: 'main' }],
  });
  const repo = { host, owner: 'acme', name: 'widgets' };
  await client.call('createQueue', { repo, targetBranch: 'main' });
  expect(await client.call('getHostAccess', { connectionId: connection.id })).toEqual(access);
  const { entries } = await client.call('listAuditLog', {});
  expect(entries.map(({ action }) => action)).toContain('host.connect');
  expect(JSON.stringify(entries)).not.toContain('PRIVATE KEY');
});

it('replaces the credentials of a connection, which keeps its webhook', async () => {
  const { server, client } = await openScene();
  const { token } = server.newUser('grace');
  const first = await client.call('connectHost', appOf(server));
  const second = await client.call('connectHost', {
    kind: 'github',
    url: `${server.url}/`,
    credentials: { kind: 'token', token },
  });
  expect(second.connection).toEqual(first.connection);
  expect(second.access).toMatchObject({ account: 'grace', repositories: [] });
  expect((await client.call('listHostConnections', {})).connections).toHaveLength(1);
});

it('stores nothing of credentials that the host refuses, and says why', async () => {
  const { server, client } = await openScene();
  const refused = await client.refusal(
    'connectHost',
    { kind: 'github', url: server.url, credentials: { kind: 'token', token: 'obviously-fake' } },
    409,
  );
  expect(refused.code).toBe('CREDENTIALS_REFUSED');
  expect(refused.message).not.toContain('obviously-fake');
  const other = { ...appOf(server).credentials, privateKey: 'obviously-fake' };
  const unread = await client.refusal('connectHost', { ...appOf(server), credentials: other }, 409);
  expect(unread.message).toContain('private key of the GitHub App cannot be read');
  expect((await client.call('listHostConnections', {})).connections).toEqual([]);
});

it('calls no host that the operator has not named, whatever the URL looks like', async () => {
  const { server, client } = await openScene();
  server.forgetCalls();
  const port = new URL(server.url).port;
  for (const url of [
    `http://localhost:${port}`,
    `${server.url}/api`,
    `${server.url}@127.0.0.1`,
    'http://169.254.169.254',
    'https://github.com',
    'file:///etc/passwd',
    'nonsense',
  ]) {
    const { code } = await client.refusal('connectHost', { ...appOf(server), url }, 403);
    expect(code).toBe('GIT_HOST_NOT_ALLOWED');
  }
  expect(server.calls()).toEqual([]);
});

it('does not let one organization decide what a name is for another', async () => {
  const { server, world, client } = await openScene();
  await client.call('connectHost', appOf(server));
  const other = await world.client('globex');
  const asGitea = { kind: 'gitea', url: server.url, credentials: { kind: 'token', token: 'obviously-fake' } };
  expect(await other.refusal('connectHost', asGitea, 403)).toMatchObject({ code: 'GIT_HOST_NOT_ALLOWED' });
  const github = await openScene({ gitHosts: ['https://github.com'] });
  const wrongKind = { ...asGitea, url: 'https://github.com' };
  expect((await github.client.refusal('connectHost', wrongKind, 403)).message).toContain(
    'Use the kind github',
  );
});

it('names the kinds of Git hosts', async () => {
  const { server, client } = await openScene();
  const refused = await client.refusal('connectHost', { ...appOf(server), kind: 'svn' }, 400);
  expect(refused.details).toEqual([{ path: 'kind', message: 'must be one of gitea, github' }]);
});

it('needs the scope admin, and a key of the installation', async () => {
  const { server, world } = await openScene();
  const reader = await world.client('acme', ['read', 'submit', 'upload']);
  expect(await reader.refusal('connectHost', appOf(server), 403)).toMatchObject({
    code: 'INSUFFICIENT_SCOPE',
  });
  const keyless = await openScene({ secretKey: null });
  expect(await keyless.client.refusal('connectHost', appOf(keyless.server), 409)).toMatchObject({
    code: 'SECRET_KEY_MISSING',
  });
});

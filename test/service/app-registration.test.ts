// Registering a GitHub App from the manifest that Signalbox describes, as a browser does, and installing it.

import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { startGithubServer } from '../github-server/server.ts';
import { openWorldForTest, type WorldOptions } from '../support/harness.ts';

async function openScene(config: Partial<NonNullable<WorldOptions['config']>> = {}) {
  const server = await startGithubServer({ mergeabilityMs: 1, isAppRegistered: false });
  onTestFinished(server.stop);
  await server.newRepository('acme/widgets', { access: {} });
  const world = await openWorldForTest({
    config: {
      sandbox: 'off',
      secretKey: randomBytes(32),
      gitHosts: [server.url],
      publicUrl: 'https://signalbox.example',
      isPublicUrlGiven: true,
      ...config,
    },
  });
  return { server, world, client: await world.client() };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

const send = (url: string, form: Readonly<Record<string, string>>) =>
  fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams(form) });

/** What the browser comes back with. */
const queryOf = (response: Response) =>
  Object.fromEntries(new URL(response.headers.get('location')!).searchParams) as Readonly<
    Record<string, string>
  >;

const asked = ({ server }: Scene, owner?: string) => ({
  kind: 'github',
  url: server.url,
  ...(owner === undefined ? {} : { owner }),
});

/** A person confirms the form. */
async function register(scene: Scene, owner = 'acme') {
  const { action, manifest } = await scene.client.call('beginAppRegistration', asked(scene, owner));
  const shown = await send(action, { manifest });
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining(`for ${owner}`)]);
  const name = (JSON.parse(manifest) as { name: string }).name;
  return queryOf(await send(action, { manifest, name })) as { code: string; state: string };
}

it('connects an organization without a value that a person copies', async () => {
  const scene = await openScene();
  const { server, world, client } = scene;
  const { connection, installUrl } = await client.call('finishAppRegistration', await register(scene));
  const host = new URL(server.url).host;
  expect(connection).toMatchObject({ kind: 'github', host });
  const connectionId = connection.id;
  const access = await client.call('getHostAccess', { connectionId });
  expect(access).toMatchObject({ account: 'signalbox-of-acme', repositories: [], app: { installUrl } });
  expect(access.missing).toEqual(['The App is not installed on any account yet. Install it.']);
  const early = await client.call('useInstallations', { connectionId });
  expect(early.access.missing).toHaveLength(1);

  // A person installs it, and the browser comes back.
  const installed = await send(installUrl, {});
  expect(queryOf(installed)).toMatchObject({ setup_action: 'install' });
  const found = await client.call('useInstallations', { connectionId });
  expect(found.access).toMatchObject({
    missing: [],
    repositories: [{ owner: 'acme', name: 'widgets', defaultBranch: 'main' }],
    app: { installations: [{ account: 'acme', isOwn: true, isUsed: true }] },
  });
  expect(await client.call('useInstallations', { connectionId })).toEqual(found);
  expect(await client.call('getHostAccess', { connectionId })).toEqual(found.access);

  // A queue can be created at once, and the webhook of the App becomes the one of the connection.
  const repo = { host, owner: 'acme', name: 'widgets' };
  await client.call('createQueue', { repo, targetBranch: 'main' });
  await world.runJobs();
  expect(server.webhookUrl()).toBe(connection.webhookUrl);
  const { entries } = await client.call('listAuditLog', {});
  expect(JSON.stringify(entries)).not.toContain('PRIVATE KEY');
});

it('keeps the key of an App where GitHub stops answering right after it has given it out', async () => {
  const scene = await openScene();
  const { server, client } = scene;
  const back = await register(scene);
  server.fail({ how: 503, operation: /^(?!POST \/app-manifests)/, times: 1_000 });
  const { connection, installUrl } = await client.call('finishAppRegistration', back);
  const connectionId = connection.id;
  expect((await client.refusal('getHostAccess', { connectionId }, 502)).code).toBe('HOST_ERROR');
  server.heal();
  await send(installUrl, {});
  const { access } = await client.call('useInstallations', { connectionId });
  expect(access).toMatchObject({ missing: [], repositories: [{ owner: 'acme', name: 'widgets' }] });
});

it('asks for every permission and event that a queue needs, on an account of the person too', async () => {
  const scene = await openScene();
  const { action, manifest } = await scene.client.call('beginAppRegistration', asked(scene));
  expect(new URL(action).pathname).toBe('/settings/apps/new');
  expect(JSON.parse(manifest)).toMatchObject({
    public: false,
    default_permissions: { contents: 'write', pull_requests: 'write', checks: 'write', issues: 'write' },
  });
  const shown = await send(action, { manifest });
  expect(shown.status).toBe(200);
});

it('leaves out the webhook where GitHub could not reach it', async () => {
  const url = 'https://github.com';
  const { client } = await openScene({ gitHosts: [url], publicUrl: 'http://localhost:8080' });
  const local = await client.call('beginAppRegistration', { kind: 'github', url });
  expect(JSON.parse(local.manifest)).not.toHaveProperty('hook_attributes');
  const open = await openScene({ gitHosts: [url] });
  const { manifest } = await open.client.call('beginAppRegistration', { kind: 'github', url });
  expect(JSON.parse(manifest)).toMatchObject({
    hook_attributes: { url: 'https://signalbox.example/hooks/', active: true },
    redirect_url: 'https://signalbox.example/app/git-hosts',
  });
});

it('takes a registration from the person and the organization that began it, once, within an hour', async () => {
  const scene = await openScene();
  const { world, client } = scene;
  const back = await register(scene);
  for (const other of [await world.client('globex'), await world.client('acme', ['admin'])])
    expect(await other.refusal('finishAppRegistration', back, 409)).toMatchObject({
      code: 'APP_REGISTRATION_UNKNOWN',
    });
  const changed = { ...back, state: `${back.state.slice(0, -2)}AA` };
  for (const state of [changed, { ...back, state: 'theirs' }])
    expect(await client.refusal('finishAppRegistration', state, 409)).toMatchObject({
      code: 'APP_REGISTRATION_UNKNOWN',
    });
  const wrong = await client.refusal('finishAppRegistration', { ...back, code: 'obviously-fake' }, 409);
  expect(wrong.message).toContain('GitHub does not know this code');
  expect((await client.call('listHostConnections', {})).connections).toEqual([]);
  await client.call('finishAppRegistration', back);
  expect(await client.refusal('finishAppRegistration', back, 409)).toMatchObject({
    code: 'HOST_ALREADY_CONNECTED',
  });
  world.clock.advance(61 * 60_000);
  expect(await client.refusal('finishAppRegistration', back, 409)).toMatchObject({
    code: 'APP_REGISTRATION_UNKNOWN',
  });
});

it('does not take the place of a connection, and has no Apps at Gitea', async () => {
  const scene = await openScene({ gitHosts: ['https://codeberg.org'] });
  const wrong = await scene.client.refusal(
    'beginAppRegistration',
    { kind: 'gitea', url: 'https://codeberg.org' },
    400,
  );
  expect(wrong.message).toContain('Connect codeberg.org with the token of an account');
  const other = await openScene();
  const { token } = other.server.newUser('grace');
  await other.client.call('connectHost', { ...asked(other), credentials: { kind: 'token', token } });
  expect(await other.client.refusal('beginAppRegistration', asked(other), 409)).toMatchObject({
    code: 'HOST_ALREADY_CONNECTED',
  });
});

it('uses an installation on another account only if it is named, and one that took the place of another', async () => {
  const scene = await openScene();
  const { server, client } = scene;
  const { connection, installUrl } = await client.call('finishAppRegistration', await register(scene));
  const connectionId = connection.id;
  await send(installUrl, {});
  await server.newRepository('globex/gadgets', { access: {} });
  const other = server.install('globex');
  const own = await client.call('useInstallations', { connectionId });
  expect(own.access.repositories.map(({ owner }) => owner)).toEqual(['acme']);
  const [first] = own.access.app!.installations;
  const both = { connectionId, installationIds: [first!.id, other] };
  const { access: wider } = await client.call('useInstallations', both);
  expect(wider.repositories.map(({ owner }) => owner)).toEqual(['acme', 'globex']);
  const unknown = { connectionId, installationIds: [9] };
  expect((await client.refusal('useInstallations', unknown, 409)).message).toBe(
    'The App has no installation 9.',
  );
  server.uninstall('acme');
  const left = await client.call('useInstallations', { connectionId });
  expect(left.access.repositories.map(({ owner }) => owner)).toEqual(['globex']);
});

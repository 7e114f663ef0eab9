import { expect, it, onTestFinished } from 'vitest';
import { startGithubServer } from './server.ts';

const manifest = {
  name: 'A queue',
  url: 'https://queue.example',
  redirect_url: 'https://queue.example/back',
  setup_url: 'https://queue.example/installed',
  hook_attributes: { url: 'https://queue.example/hooks' },
  default_permissions: { contents: 'write' },
  default_events: ['push'],
};

async function openServer(edition: 'api.github.com' | 'ghes-3.19' = 'api.github.com') {
  const server = await startGithubServer({ edition, isAppRegistered: false });
  onTestFinished(server.stop);
  const post = (path: string, form: Readonly<Record<string, string>>) =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(form),
    });
  const show = async (change: object, path = '/organizations/acme/settings/apps/new') => {
    const response = await post(path, { manifest: JSON.stringify({ ...manifest, ...change }) });
    return [response.status, await response.text()] as const;
  };
  return { server, post, show };
}

it('shows the person what is wrong with a manifest', async () => {
  const { show } = await openServer();
  expect(await show({})).toEqual([200, expect.stringContaining('Create GitHub App for acme')]);
  for (const [change, message] of [
    [{ name: 'x'.repeat(35) }, 'Name is too long'],
    [{ url: undefined }, 'url is missing'],
    [{ webhook: {} }, 'unknown in a manifest: webhook'],
    [{ default_permissions: { everything: 'write' } }, 'not included: everything'],
    [{ default_events: ['push', 'status'] }, 'Default events unsupported: status'],
    [{ hook_attributes: { url: 'http://localhost:8080/hooks' } }, 'reachable over the public Internet'],
  ] as const)
    expect(await show(change)).toEqual([422, expect.stringContaining(message)]);
  expect(await show({}, '/organizations/unknown/settings/apps/new')).toEqual([404, expect.anything()]);
});

it('gives out the key of an App once, and installs it on its owner', async () => {
  const { server, post } = await openServer();
  const form = { manifest: JSON.stringify(manifest), name: manifest.name };
  const registered = await post('/organizations/acme/settings/apps/new?state=x%20y', form);
  const back = new URL(registered.headers.get('location')!);
  expect(back.searchParams.get('state')).toBe('x y');
  const convert = () =>
    fetch(`${server.apiUrl}/app-manifests/${back.searchParams.get('code')}/conversions`, { method: 'POST' });
  const first = await convert();
  expect([first.status, await first.json()]).toEqual([
    201,
    expect.objectContaining({ slug: 'a-queue', pem: server.privateKey }),
  ]);
  expect((await convert()).status).toBe(404);
  expect(server.webhookUrl()).toBe('https://queue.example/hooks');
  const installed = await post('/apps/a-queue/installations/new', {});
  const then = new URL(installed.headers.get('location')!);
  expect(then.searchParams.get('installation_id')).toBe(String(server.installationId));
});

// What an App, or the token of an account, is good for on GitHub.

import { expect, it } from 'vitest';
import { openGithub } from './github-fixture.ts';

it('an App reaches the repositories of all its installations', async () => {
  const { server, connect, repository } = await openGithub();
  const second = server.install('umbrella');
  server.install('stranger');
  for (const name of ['umbrella/gadgets', 'stranger/gadgets'])
    await server.newRepository(name, { access: {} });
  const { appId, privateKey, installationId } = server;
  const app = { kind: 'github-app', appId, privateKey, installationId } as const;
  const { organizationId } = repository;
  const one = await connect(app).readAccess(organizationId);
  expect(one).toMatchObject({ account: expect.any(String) as string, missing: [] });
  expect(one.repositories).toEqual([{ owner: 'acme', name: 'widgets', defaultBranch: 'main' }]);
  const both = await connect({ ...app, moreInstallationIds: [second] }).readAccess(organizationId);
  expect(both.repositories.map(({ owner }) => owner)).toEqual(['acme', 'umbrella']);
});

it('what an App lacks is named, with what to do', async () => {
  const { server, host, connect, repository } = await openGithub();
  server.setPermissions({
    metadata: 'read',
    contents: 'write',
    issues: 'write',
    pull_requests: 'read',
    statuses: 'read',
  });
  const { missing } = await host.readAccess(repository.organizationId);
  expect(missing.map((sentence) => /“([^”]+)”/.exec(sentence)?.[1])).toEqual([
    'Checks: read and write',
    'Pull requests: read and write',
  ]);
  const { appId, privateKey } = server;
  const app = { kind: 'github-app', appId, privateKey, installationId: 4711 } as const;
  await expect(connect(app).readAccess(repository.organizationId)).rejects.toMatchObject({
    trouble: 'forbidden',
    message: expect.stringContaining('installation 4711') as string,
  });
});

it('the token of an account reaches the repositories where the account may write', async () => {
  const { server, token, connect, repository } = await openGithub();
  await server.newRepository('acme/gadgets', { access: { ada: 'read' } });
  const { account, repositories } = await connect({ kind: 'token', token }).readAccess(
    repository.organizationId,
  );
  expect(account).toBe('ada');
  expect(repositories.map(({ name }) => name)).toEqual(['widgets']);
});

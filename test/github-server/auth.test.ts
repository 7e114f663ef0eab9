// Who is let in, and as whom.
import { generateKeyPairSync } from 'node:crypto';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import { describe, expect, it } from 'vitest';
import { asApp, asUser, installed, openGithubServer, refusalOf } from './for-test.ts';
import { usualPermissions } from './site.ts';

const widgets = { owner: 'acme', repo: 'widgets' };

describe('an App', () => {
  it('finds itself, its installations and the one of a repository', async () => {
    const github = await openGithubServer();
    await github.newRepository('acme/widgets');
    const other = github.install('globex');
    const octokit = asApp(github);
    expect((await octokit.request('GET /app')).data).toMatchObject({
      id: github.appId,
      installations_count: 2,
    });
    const { data } = await octokit.request('GET /app/installations');
    expect(data.map(({ id }) => id)).toEqual([github.installationId, other]);
    const own = await octokit.request('GET /repos/{owner}/{repo}/installation', widgets);
    expect(own.data).toMatchObject({ id: github.installationId, app_id: github.appId });
    expect(
      await refusalOf(octokit.request('GET /repos/{owner}/{repo}/installation', { owner: 'a', repo: 'b' })),
    ).toMatchObject({
      status: 404,
    });
  });

  it('is not believed with another key, nor with a token that is no web token', async () => {
    const github = await openGithubServer();
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const stranger = new Octokit({
      baseUrl: github.apiUrl,
      authStrategy: createAppAuth,
      auth: { appId: github.appId, privateKey },
    });
    const words = { status: 401, message: expect.stringContaining('could not be decoded') as string };
    expect(await refusalOf(stranger.request('GET /app'))).toMatchObject(words);
    const { token } = github.newUser('ada');
    expect(await refusalOf(asUser(github, token).request('GET /app'))).toMatchObject(words);
    expect(await refusalOf(asUser(github, 'ghp_wrong').request('GET /user'))).toMatchObject({
      status: 401,
      message: expect.stringContaining('Bad credentials') as string,
    });
  });

  it('has tokens that end after an hour, and is given a new one by its client', async () => {
    let offsetMs = 0;
    const github = await openGithubServer({ clock: { now: () => new Date(Date.now() + offsetMs) } });
    await github.newRepository('acme/widgets');
    const octokit = installed(github);
    const { token } = (await octokit.auth({ type: 'installation' })) as { token: string };
    const fixed = asUser(github, token);
    await fixed.request('GET /repos/{owner}/{repo}', widgets);
    offsetMs = 3_601_000;
    expect(await refusalOf(fixed.request('GET /repos/{owner}/{repo}', widgets))).toMatchObject({
      status: 401,
    });
    offsetMs = 0;
    await octokit.request('GET /repos/{owner}/{repo}', widgets);
    expect(github.callCounts()['POST /app/installations/{installation_id}/access_tokens']).toBe(1);
  });

  it('gets a token for some repositories and permissions only', async () => {
    const github = await openGithubServer();
    await github.newRepository('acme/widgets');
    await github.newRepository('acme/gadgets');
    const { data } = await asApp(github).request('POST /app/installations/{installation_id}/access_tokens', {
      installation_id: github.installationId,
      repositories: ['widgets'],
      permissions: { metadata: 'read', contents: 'read' },
    });
    const octokit = asUser(github, data.token);
    await octokit.request('GET /repos/{owner}/{repo}', widgets);
    expect(
      await refusalOf(octokit.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'gadgets' })),
    ).toMatchObject({ status: 404 });
    expect(await refusalOf(octokit.request('GET /repos/{owner}/{repo}/pulls', widgets))).toMatchObject({
      status: 403,
      message: expect.stringContaining('Resource not accessible by integration') as string,
    });
    const { data: own } = await octokit.request('GET /installation/repositories');
    expect(own.repositories.map(({ full_name }) => full_name)).toEqual(['acme/widgets']);
  });

  it('may not do what it was not given, and is told what would be needed', async () => {
    const { administration: _, ...permissions } = usualPermissions;
    const github = await openGithubServer({ permissions });
    await github.newRepository('acme/widgets');
    const error = await installed(github)
      .request('GET /repos/{owner}/{repo}/branches/{branch}/protection', { ...widgets, branch: 'main' })
      .catch(
        (caught: unknown) => caught as { status: number; response: { headers: Record<string, string> } },
      );
    expect(error.status).toBe(403);
    expect('response' in error && error.response.headers['x-accepted-github-permissions']).toBe(
      'administration=read',
    );
  });
});

describe('a person', () => {
  it('sees and does in a repository what their access allows', async () => {
    const github = await openGithubServer();
    const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((login) => asUser(github, github.newUser(login).token));
    await github.newRepository('acme/widgets', { access: { ada: 'write', bob: 'read' } });
    const { headSha, number } = await github.openPullRequest('acme/widgets', {
      branch: 'x',
      files: { x: 'x' },
    });
    const say = { ...widgets, sha: headSha, state: 'success' as const };
    expect(await refusalOf(eve!.request('GET /repos/{owner}/{repo}', widgets))).toMatchObject({
      status: 404,
    });
    await bob!.request('GET /repos/{owner}/{repo}', widgets);
    expect(await refusalOf(bob!.request('POST /repos/{owner}/{repo}/statuses/{sha}', say))).toMatchObject({
      status: 403,
    });
    await ada!.request('POST /repos/{owner}/{repo}/statuses/{sha}', say);
    await bob!.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...widgets,
      issue_number: number,
      body: 'hello',
    });
    expect(
      await refusalOf(
        ada!.request('POST /repos/{owner}/{repo}/check-runs', { ...widgets, name: 'x', head_sha: headSha }),
      ),
    ).toMatchObject({
      status: 403,
      message: expect.stringContaining('You must authenticate via a GitHub App') as string,
    });
  });

  it('has a permission in a repository that others can ask for', async () => {
    const github = await openGithubServer();
    for (const login of ['ada', 'bob', 'eve']) github.newUser(login);
    await github.newRepository('acme/widgets', { access: { ada: 'maintain', bob: 'triage' } });
    const permission = async (username: string) =>
      (
        await installed(github).request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
          ...widgets,
          username,
        })
      ).data;
    expect(await permission('ada')).toMatchObject({ permission: 'write', role_name: 'maintain' });
    expect(await permission('bob')).toMatchObject({ permission: 'read', role_name: 'triage' });
    expect(await permission('eve')).toMatchObject({ permission: 'none' });
    expect(await refusalOf(permission('nobody'))).toMatchObject({ status: 404 });
  });

  it('finds a repository however it is spelled, and reads its own name', async () => {
    const github = await openGithubServer();
    await github.newRepository('acme/Widgets', { isPrivate: false });
    const { data } = await new Octokit({ baseUrl: github.apiUrl }).request('GET /repos/{owner}/{repo}', {
      owner: 'ACME',
      repo: 'wiDGets',
    });
    expect(data.full_name).toBe('acme/Widgets');
  });
});

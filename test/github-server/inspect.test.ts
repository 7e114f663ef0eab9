// What there is to find out before a queue can work somewhere.
import { Octokit } from '@octokit/core';
import { describe, expect, it } from 'vitest';
import { asApp, asUser, installed, openGithubServer, refusalOf } from './for-test.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const name = 'acme/widgets';

describe('the server', () => {
  it('says which version it is, under each of its addresses', async () => {
    const github = await openGithubServer();
    const enterprise = await new Octokit({ baseUrl: `${github.url}/api/v3` }).request('GET /meta');
    expect(enterprise.headers['x-github-enterprise-version']).toMatch(/^3\.\d+\.\d+$/);
    expect(enterprise.data).toMatchObject({
      installed_version: enterprise.headers['x-github-enterprise-version'],
    });
    const github2 = await openGithubServer({ edition: 'api.github.com' });
    const hosted = new Octokit({ baseUrl: github2.url });
    expect((await hosted.request('GET /meta')).headers['x-github-enterprise-version']).toBeUndefined();
    expect((await hosted.request('GET /versions')).data).toContain('2022-11-28');
  });
});

describe('a branch', () => {
  it('says whether it is there, and how it is protected', async () => {
    const github = await openGithubServer();
    await github.newRepository(name);
    await github.commit(name, { branch: 'release/1', files: { x: 'x' } });
    const octokit = installed(github);
    const branch = (branch: string) =>
      octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...widgets, branch });
    const protection = (branch: string) =>
      octokit.request('GET /repos/{owner}/{repo}/branches/{branch}/protection', { ...widgets, branch });
    expect((await branch('release/1')).data).toMatchObject({ name: 'release/1', protected: false });
    expect(await refusalOf(branch('gone'))).toMatchObject({ status: 404 });
    expect(await refusalOf(protection('main'))).toMatchObject({
      status: 404,
      message: expect.stringContaining('Branch not protected') as string,
    });
    github.protect(name, 'release/*', {
      checks: { strict: true, contexts: ['ci', 'lint'] },
      reviews: { approvals: 2, bypass: ['signalbox'] },
      pushers: ['signalbox'],
      linearHistory: true,
    });
    const { data } = await protection('release/1');
    expect(data.required_status_checks).toMatchObject({ strict: true, contexts: ['ci', 'lint'] });
    expect(data.required_pull_request_reviews).toMatchObject({ required_approving_review_count: 2 });
    expect(data.restrictions?.apps.map(({ slug }) => slug)).toEqual(['signalbox']);
    expect(data.required_linear_history).toEqual({ enabled: true });
    expect((await branch('release/1')).data.protected).toBe(true);
  });

  it('has the rules of its rulesets, also before it exists, and says who may pass by', async () => {
    const github = await openGithubServer();
    const { token } = github.newUser('ada');
    await github.newRepository(name, { access: { ada: 'admin' } });
    const id = github.addRuleset(name, {
      name: 'Tests',
      include: ['refs/heads/signalbox/**'],
      rules: [{ type: 'creation' }],
      bypassApps: [github.appId],
    });
    github.addRuleset(name, { rules: [{ type: 'deletion' }], enforcement: 'evaluate' });
    const octokit = installed(github);
    const rules = async (branch: string) =>
      (await octokit.request('GET /repos/{owner}/{repo}/rules/branches/{branch}', { ...widgets, branch }))
        .data;
    expect(await rules('signalbox/main/1')).toMatchObject([{ type: 'creation', ruleset_id: id }]);
    expect(await rules('main')).toEqual([]);
    const ruleset = { ...widgets, ruleset_id: id };
    const seen = await octokit.request('GET /repos/{owner}/{repo}/rulesets/{ruleset_id}', ruleset);
    expect(seen.data.current_user_can_bypass).toBe('always');
    const other = await asUser(github, token).request(
      'GET /repos/{owner}/{repo}/rulesets/{ruleset_id}',
      ruleset,
    );
    expect(other.data.current_user_can_bypass).toBe('never');
  });

  it('is moved, made and deleted by its ref, under the same rules as by a push', async () => {
    const github = await openGithubServer();
    await github.newRepository(name);
    const octokit = installed(github);
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', {
      ...widgets,
      ref: 'heads/main',
    });
    const { sha } = data.object;
    await octokit.request('POST /repos/{owner}/{repo}/git/refs', { ...widgets, ref: 'refs/heads/x', sha });
    const next = await github.commit(name, { branch: 'y', files: { y: 'y' } });
    const ref = { ...widgets, ref: 'heads/x' };
    await octokit.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', { ...ref, sha: next });
    expect(
      await refusalOf(octokit.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', { ...ref, sha })),
    ).toMatchObject({ status: 422, message: expect.stringContaining('not a fast forward') as string });
    github.protect(name, 'x', {});
    expect(
      await refusalOf(octokit.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', ref)),
    ).toMatchObject({
      status: 422,
    });
    github.protect(name, 'x', null);
    await octokit.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', ref);
    const left = await octokit.request('GET /repos/{owner}/{repo}/branches', widgets);
    expect(left.data.map((branch) => branch.name)).toEqual(['main', 'y']);
  });
});

describe('webhooks', () => {
  it('are listed for a repository and for the App', async () => {
    const github = await openGithubServer({ webhookUrl: 'http://127.0.0.1:1/hooks/x' });
    await github.newRepository(name);
    github.addHook(name, { url: 'http://127.0.0.1:1/other', secret: 's', events: ['push', 'status'] });
    await github.settled();
    const { data } = await installed(github).request('GET /repos/{owner}/{repo}/hooks', widgets);
    expect(data).toMatchObject([{ active: true, events: ['push', 'status'], last_response: { code: 502 } }]);
    const config = await asApp(github).request('GET /app/hook/config');
    expect(config.data).toMatchObject({ url: 'http://127.0.0.1:1/hooks/x', content_type: 'json' });
  });
});

describe('a repository', () => {
  it('says which merges it allows to those who may write', async () => {
    const github = await openGithubServer();
    const eve = github.newUser('eve');
    await github.newRepository(name, { mergeMethods: ['squash', 'rebase'], access: { eve: 'read' } });
    const { data } = await installed(github).request('GET /repos/{owner}/{repo}', widgets);
    expect(data).toMatchObject({
      allow_merge_commit: false,
      allow_squash_merge: true,
      allow_rebase_merge: true,
    });
    const seen = await asUser(github, eve.token).request('GET /repos/{owner}/{repo}', widgets);
    expect(seen.data.allow_squash_merge).toBeUndefined();
  });
});

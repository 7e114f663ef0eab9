// Failing on command.
import { Octokit } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { describe, expect, it } from 'vitest';
import { asUser, openGithubServer, refusalOf } from './for-test.ts';
import { cloneOf } from './git-client.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const get = 'GET /repos/{owner}/{repo}';
const comment = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';

async function openWidgets() {
  const github = await openGithubServer();
  const { token } = github.newUser('ada');
  await github.newRepository('acme/widgets', { access: { ada: 'write' } });
  return { github, token, octokit: asUser(github, token) };
}

describe('a fault', () => {
  it('is met by as many requests as were named, and a client that tries again gets through', async () => {
    const { github, token, octokit } = await openWidgets();
    github.fail({ how: 502, times: 2, operation: get });
    expect(await refusalOf(octokit.request(get, widgets))).toMatchObject({ status: 502 });
    const patient = new (Octokit.plugin(retry))({
      baseUrl: github.apiUrl,
      auth: token,
      retry: { retryAfterBaseValue: 1 },
    });
    expect((await patient.request(get, widgets)).status).toBe(200);
    expect(github.calls().map(({ status }) => status)).toEqual([502, 502, 200]);
  });

  it('leaves other requests alone, and can be taken back', async () => {
    const { github, octokit } = await openWidgets();
    github.fail({ how: 503, times: 100, operation: /pulls/ });
    await octokit.request(get, widgets);
    expect(await refusalOf(octokit.request('GET /repos/{owner}/{repo}/pulls', widgets))).toMatchObject({
      status: 503,
    });
    github.heal();
    await octokit.request('GET /repos/{owner}/{repo}/pulls', widgets);
  });

  it('may say what GitHub says, or be a page of something in between', async () => {
    const { github, octokit } = await openWidgets();
    github.fail({ how: 405, message: 'Base branch was modified. Review and try the merge again.' });
    expect(await refusalOf(octokit.request(get, widgets))).toMatchObject({
      status: 405,
      message: expect.stringContaining('Base branch was modified') as string,
    });
    github.fail({ how: 502, page: '<html>Unicorn!</html>' });
    expect(await refusalOf(octokit.request(get, widgets))).toMatchObject({ status: 502 });
  });

  it('cuts the connection, or never answers', async () => {
    const { github, octokit } = await openWidgets();
    github.fail({ how: 'reset' });
    expect(await refusalOf(octokit.request(get, widgets))).toMatchObject({ status: 500 });
    github.fail({ how: 'hang' });
    const signal = AbortSignal.timeout(100);
    await expect(octokit.request(get, { ...widgets, request: { signal } })).rejects.toThrow(/abort|timeout/i);
    expect(github.calls().map(({ status }) => status)).toEqual([0, 0]);
  });

  it('can come after the work was done, so that only the answer is lost', async () => {
    const { github, octokit } = await openWidgets();
    await github.openPullRequest('acme/widgets', { branch: 'x', files: { x: 'x' } });
    const say = { ...widgets, issue_number: 1, body: 'once' };
    github.fail({ how: 'reset', when: 'after', operation: comment });
    await refusalOf(octokit.request(comment, say));
    github.fail({ how: 502, when: 'after', operation: comment });
    expect(await refusalOf(octokit.request(comment, say))).toMatchObject({ status: 502 });
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...widgets,
      issue_number: 1,
    });
    expect(data.map(({ body }) => body)).toEqual(['once', 'once']);
  });

  it('is met by git too', async () => {
    const { github, token } = await openWidgets();
    const clone = await cloneOf(github, 'acme/widgets', token);
    await clone.commit('x.txt', 'x');
    github.fail({ how: 503, operation: 'git-receive-pack' });
    expect(await clone.refusal('push', 'origin', 'main')).toContain('503');
    await clone.git('push', '--quiet', 'origin', 'main');
    github.fail({ how: 'reset', operation: 'info/refs' });
    await clone.refusal('fetch', 'origin');
    await clone.git('fetch', 'origin');
    const sha = await clone.commit('x.txt', 'y');
    github.fail({ how: 'reset', when: 'after', operation: 'git-receive-pack' });
    await clone.refusal('push', 'origin', 'main');
    expect(await clone.git('ls-remote', 'origin', 'main')).toContain(sha);
  });
});

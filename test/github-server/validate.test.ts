// The server is held to GitHub's own description, and that is really checked.
import { describe, expect, it } from 'vitest';
import { asUser, openGithubServer, refusalOf } from './for-test.ts';
import { operations, startGithubServer } from './server.ts';
import { checkAnswer, checkWebhook, findOperation } from './validate.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const pulls = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';

type Body = { readonly head: object };

async function openBroken() {
  const github = await startGithubServer();
  const { token } = github.newUser('ada');
  await github.newRepository('acme/widgets', { access: { ada: 'write' } });
  await github.openPullRequest('acme/widgets', { branch: 'x', files: { x: 'x' } });
  return {
    github,
    ask: () => refusalOf(asUser(github, token).request(pulls, { ...widgets, pull_number: 1 })),
  };
}

describe('an answer that GitHub would not give', () => {
  it.each([
    ['lacks a field', (body: Body) => ({ ...body, mergeable: undefined }), 'mergeable'],
    ['has a field of another type', (body: Body) => ({ ...body, number: '1' }), '/number'],
    ['has a field that is not described', (body: Body) => ({ ...body, queue: 1 }), 'queue'],
    ['has one deep inside', (body: Body) => ({ ...body, head: { ...body.head, sha: null } }), '/head/sha'],
  ])('is a failure when it %s', async (_, alter, reason) => {
    const { github, ask } = await openBroken();
    github.tamper((operation, answer) =>
      operation === pulls ? { ...answer, body: alter(answer.body as Body) } : answer,
    );
    expect(await ask()).toMatchObject({ status: 500, message: expect.stringContaining(reason) as string });
    await expect(github.stop()).rejects.toThrow(reason);
  });

  it('is a failure with a status that is not described', async () => {
    const { github, ask } = await openBroken();
    github.tamper((_, answer) => ({ ...answer, status: 202 }));
    expect((await ask()).message).toContain('202 is not described');
    await expect(github.stop()).rejects.toThrow('202 is not described');
  });

  it('is a failure when an error does not look like one', () => {
    expect(checkAnswer('api.github.com', pulls, 404, { message: 'Not Found' })).toBeNull();
    expect(checkAnswer('api.github.com', pulls, 404, { message: 404 })).toContain('/message');
    expect(checkAnswer('api.github.com', pulls, 403, { message: 403 })).toContain('/message');
    expect(checkAnswer('api.github.com', pulls, 404, undefined)).toContain('no body');
  });
});

describe('a webhook that GitHub would not send', () => {
  it('is told from one that it would send', async () => {
    const github = await openGithubServer({ webhookUrl: 'http://127.0.0.1:1/' });
    await github.newRepository('acme/widgets');
    await github.openPullRequest('acme/widgets', { branch: 'x', files: { x: 'x' } });
    const { body } = github.deliveries().find(({ event }) => event === 'pull_request')!;
    const payload = JSON.parse(body) as object;
    const check = (more: object, action = 'opened') =>
      checkWebhook('ghes-3.19', 'pull_request', action, { ...payload, ...more });
    expect(check({})).toBeNull();
    expect(check({ number: null })).toContain('/number');
    expect(check({ extra: 1 })).toContain('extra');
    expect(check({}, 'queued')).toContain('not described');
  });

  it('is not sent, and is a failure', async () => {
    const { github } = await openBroken();
    github.setWebhook({ url: 'http://127.0.0.1:1/' });
    // GitHub knows no such state of a commit.
    const state = 'fine' as 'success';
    const { headSha } = github.pullRequest('acme/widgets', 1);
    await github.setStatus('acme/widgets', headSha, { context: 'ci', state });
    expect(github.deliveries()).toEqual([]);
    await expect(github.stop()).rejects.toThrow(/webhook status .*\n.*\/state must be equal to one of/);
  });
});

describe('a request', () => {
  it('that GitHub would not understand is answered with 422', async () => {
    const github = await openGithubServer();
    const { token } = github.newUser('ada');
    await github.newRepository('acme/widgets', { access: { ada: 'write' } });
    const octokit = asUser(github, token);
    const wrong = { ...widgets, head: 'x', base: 7 as unknown as string, title: 'x' };
    expect(await refusalOf(octokit.request('POST /repos/{owner}/{repo}/pulls', wrong))).toMatchObject({
      status: 422,
      message: expect.stringContaining('/base must be string') as string,
    });
  });

  it('with a query that GitHub would ignore is a failure', async () => {
    const { github } = await openBroken();
    const { token } = github.newUser('bob');
    github.setAccess('acme/widgets', 'bob', 'read');
    const odd = { ...widgets, perPage: 100 };
    const { status, message } = await refusalOf(
      asUser(github, token).request('GET /repos/{owner}/{repo}/pulls', odd),
    );
    expect(status).toBe(500);
    expect(message).toContain('knows no query parameter perPage');
    await expect(github.stop()).rejects.toThrow('perPage');
  });
});

describe('every operation of the server', () => {
  it('is one that GitHub describes', () => {
    const unknown = operations.filter((operation) => findOperation('api.github.com', operation) === null);
    expect(unknown).toEqual([]);
    expect(new Set(operations).size).toBe(operations.length);
  });
});

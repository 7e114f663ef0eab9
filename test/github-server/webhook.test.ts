// What is told, and to whom.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@octokit/webhooks-methods';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asApp, openGithubServer } from './for-test.ts';

const name = 'acme/widgets';

type Heard = { readonly headers: Readonly<Record<string, unknown>>; readonly body: string };

/** Somebody who listens. */
async function openEar(answer: () => number = () => 204) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      heard.push({ headers: request.headers, body });
      response.writeHead(answer()).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  const events = () =>
    heard.map(({ headers, body }) => {
      const { action } = JSON.parse(body) as { action?: string };
      return [headers['x-github-event'], action].filter(Boolean).join('.');
    });
  return { url, heard, events };
}

async function openHeard() {
  const ear = await openEar();
  const github = await openGithubServer({ webhookUrl: ear.url });
  github.newUser('ada');
  await github.newRepository(name, { access: { ada: 'write' } });
  return { github, ear };
}

describe('webhooks', () => {
  it('are signed with the secret, and say who they are for', async () => {
    const { github, ear } = await openHeard();
    await github.openPullRequest(name, { branch: 'x', files: { x: 'x' }, by: 'ada' });
    await github.settled();
    for (const { headers, body } of ear.heard) {
      expect(await verify(github.webhookSecret, body, String(headers['x-hub-signature-256']))).toBe(true);
      expect(headers['x-github-delivery']).toMatch(/^[0-9a-f-]{36}$/);
      expect(JSON.parse(body)).toMatchObject({
        installation: { id: github.installationId },
        repository: { full_name: name },
      });
    }
    expect(ear.events().toSorted()).toEqual(['check_suite.requested', 'pull_request.opened', 'push']);
  });

  it('tell everything that happens to a pull request', async () => {
    const { github } = await openHeard();
    const { number, headSha } = await github.openPullRequest(name, { branch: 'x', files: { x: 'x' } });
    await github.commit(name, { branch: 'x', files: { x: 'y' } });
    await github.changePullRequest(name, number, { title: 'New', draft: true });
    await github.changePullRequest(name, number, { draft: false, state: 'closed' });
    await github.changePullRequest(name, number, { state: 'open' });
    await github.label(name, number, 'queue');
    await github.label(name, number, 'queue', { on: false });
    github.comment(name, number, 'ada', 'hello');
    github.approve(name, number, 'ada');
    github.review(name, number, 'ada', 'dismissed');
    await github.setStatus(name, headSha, { context: 'ci', state: 'success' });
    await github.completeCheckRun(name, headSha, { name: 'ci', conclusion: 'success' });
    await github.setBranch(name, 'x', null);
    await github.settled();
    const told = github.deliveries().map(({ event, action }) => [event, action].filter(Boolean).join('.'));
    expect(told.filter((event) => event !== 'push' && event !== 'check_suite.requested')).toEqual([
      'pull_request.opened',
      'pull_request.synchronize',
      'pull_request.edited',
      'pull_request.converted_to_draft',
      'pull_request.ready_for_review',
      'pull_request.closed',
      'pull_request.reopened',
      'pull_request.labeled',
      'pull_request.unlabeled',
      'issue_comment.created',
      'pull_request_review.submitted',
      'pull_request_review.dismissed',
      'status',
      'check_run.created',
      'check_run.completed',
      'check_suite.completed',
      'pull_request.closed',
    ]);
    expect(github.deliveries().every(({ statusCode }) => statusCode === 204)).toBe(true);
  });

  it('say of a push where the branch was and is, and what is new', async () => {
    const { github } = await openHeard();
    const before = await github.commit(name, { files: { 'a.txt': '1' } });
    const after = await github.commit(name, { files: { 'a.txt': null, 'b.txt': '1' }, by: 'ada' });
    const payload = JSON.parse(
      github.deliveries().findLast(({ event }) => event === 'push')!.body,
    ) as unknown;
    expect(payload).toMatchObject({
      ref: 'refs/heads/main',
      before,
      after,
      created: false,
      deleted: false,
      forced: false,
      pusher: { name: 'ada' },
      commits: [{ id: after, added: ['b.txt'], removed: ['a.txt'], modified: [] }],
    });
  });

  it('go to a repository’s own hooks too, for the events they ask for, with a ping first', async () => {
    const { github, ear } = await openHeard();
    const own = await openEar();
    github.addHook(name, { url: own.url, secret: 'other', events: ['push'] });
    await github.settled();
    await github.openPullRequest(name, { branch: 'x', files: { x: 'x' } });
    await github.settled();
    expect(own.events()).toEqual(['ping', 'push']);
    const { headers, body } = own.heard[1]!;
    expect(await verify('other', body, String(headers['x-hub-signature-256']))).toBe(true);
    expect(JSON.parse(body)).not.toHaveProperty('installation');
    expect(ear.events()).not.toContain('ping');
  });

  it('can be switched off, or lost and asked for again', async () => {
    const { github, ear } = await openHeard();
    github.setWebhook({ mode: 'off' });
    await github.commit(name, { branch: 'a', files: { a: 'a' } });
    expect(github.deliveries()).toEqual([]);
    github.setWebhook({ mode: 'lost' });
    await github.commit(name, { branch: 'b', files: { b: 'b' } });
    await github.settled();
    expect(ear.heard).toEqual([]);
    const octokit = asApp(github);
    const { data } = await octokit.request('GET /app/hook/deliveries', { per_page: 1, status: 'failure' });
    expect(data).toMatchObject([{ event: 'check_suite', status_code: 502, redelivery: false }]);
    const list = await octokit.request('GET /app/hook/deliveries', { per_page: 1 });
    expect(list.headers.link).toMatch(/cursor=\d+>; rel="next"/);
    github.setWebhook({ mode: 'on' });
    const [missed] = github.deliveries();
    const one = { delivery_id: missed!.id };
    const whole = await octokit.request('GET /app/hook/deliveries/{delivery_id}', one);
    expect(whole.data.request.payload).toMatchObject({ ref: 'refs/heads/b' });
    await octokit.request('POST /app/hook/deliveries/{delivery_id}/attempts', one);
    await github.settled();
    expect(ear.heard.map(({ headers }) => headers['x-github-delivery'])).toEqual([missed!.guid]);
  });

  it('that are refused are kept as failed, and are not sent again', async () => {
    const ear = await openEar(() => 500);
    const github = await openGithubServer({ webhookUrl: ear.url, events: ['push'] });
    await github.newRepository(name);
    await github.commit(name, { files: { a: 'a' } });
    await github.settled();
    expect(github.deliveries().map(({ statusCode }) => statusCode)).toEqual([500]);
    expect(ear.heard).toHaveLength(1);
  });
});

import { sign } from '@octokit/webhooks-methods';
import { describe, expect, it } from 'vitest';
import { parseWebhook } from './webhook.ts';

const secret = 'a secret for this test';
const repository = { name: 'widgets', owner: { login: 'Acme' } };
const named = { host: 'github.com', owner: 'Acme', name: 'widgets' };
const pull_request = {
  head: { sha: 'd'.repeat(40) },
  labels: [{ name: 'submit' }],
  updated_at: '2026-01-02T03:04:05Z',
};

async function parseSignedWebhook(event: string, payload: object, headers: Record<string, string> = {}) {
  const text = JSON.stringify(payload);
  const signature = await sign(secret, text);
  return parseWebhook('github.com', {
    headers: { 'x-github-event': event, 'x-hub-signature-256': signature, ...headers },
    body: Buffer.from(text),
    secret,
  });
}

const events = async (...args: Parameters<typeof parseSignedWebhook>) => {
  const result = await parseSignedWebhook(...args);
  return result.kind === 'accepted' ? result.events : result;
};

describe('a signature', () => {
  it('is what GitHub documents for its example', () => {
    const body = Buffer.from('Hello, World!');
    const given = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const result = parseWebhook('github.com', {
      headers: { 'x-hub-signature-256': given },
      body,
      secret: "It's a Secret to Everybody",
    });
    expect(result).toEqual({ kind: 'accepted', events: [] });
  });

  it('that is missing, of another body or by the old hash is refused, and so is everything without a secret', async () => {
    const body = Buffer.from('{}');
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': await sign(secret, '{ }') };
    for (const delivery of [
      { headers, body, secret },
      { headers: { 'x-github-event': 'push' }, body, secret },
      { headers: { 'x-hub-signature': `sha1=${'0'.repeat(40)}` }, body, secret },
      { headers, body, secret: '' },
    ])
      expect(parseWebhook('github.com', delivery)).toMatchObject({ kind: 'refused' });
  });
});

describe('a webhook of a pull request', () => {
  it.each(['reopened', 'closed', 'edited', 'ready_for_review', 'converted_to_draft'])(
    '%s says that it changed',
    async (action) => {
      expect(await events('pull_request', { action, number: 3, repository, pull_request })).toEqual([
        { kind: 'pull-request-changed', repository: named, number: 3 },
      ]);
    },
  );

  it.each([
    ['opened', 0],
    ['synchronize', Date.parse(pull_request.updated_at)],
  ])('%s says which head it got, and when', async (action, at) => {
    const head = { sha: pull_request.head.sha, at };
    expect(await events('pull_request', { action, number: 3, repository, pull_request })).toEqual([
      { kind: 'pull-request-changed', repository: named, number: 3, head },
    ]);
  });

  it.each(['assigned', 'review_requested', 'milestoned', 'locked', 'auto_merge_enabled', 'enqueued'])(
    '%s changes nothing for a queue',
    async (action) => {
      expect(await events('pull_request', { action, number: 3, repository, pull_request })).toEqual([]);
    },
  );

  it.each(['labeled', 'unlabeled'])('%s says which labels are on now', async (action) => {
    const label = { name: 'another' };
    expect(await events('pull_request', { action, number: 3, repository, pull_request, label })).toEqual([
      { kind: 'label-changed', repository: named, number: 3, label: 'another', labels: ['submit'] },
    ]);
  });

  it.each([
    ['submitted', 'approved', 1],
    ['submitted', 'changes_requested', 1],
    ['submitted', 'commented', 1],
    ['dismissed', 'dismissed', 1],
    ['edited', 'approved', 0],
  ])('a review that was %s as %s changes it: %i', async (action, state, count) => {
    const payload = { action, review: { state }, pull_request: { number: 3 }, repository };
    expect(await events('pull_request_review', payload)).toHaveLength(count);
  });

  it.each(['resolved', 'unresolved'])('a conversation that was %s changes it', async (action) => {
    const payload = { action, thread: {}, pull_request: { number: 3 }, repository };
    expect(await events('pull_request_review_thread', payload)).toEqual([
      { kind: 'pull-request-changed', repository: named, number: 3 },
    ]);
  });
});

describe('a webhook of a comment', () => {
  const at = '2026-01-02T03:04:05Z';
  const comment = {
    id: 99,
    body: '/merge',
    user: { login: 'ada' },
    created_at: at,
    updated_at: at,
    performed_via_github_app: null,
  };
  const payload = { action: 'created', issue: { number: 3, pull_request: {} }, comment, repository };

  it('says what was written on a pull request', async () => {
    expect(await events('issue_comment', payload)).toEqual([
      {
        kind: 'comment-written',
        repository: named,
        number: 3,
        commentId: '99',
        author: 'ada',
        text: '/merge',
        writtenAt: Date.parse(at),
      },
    ]);
  });

  it('of an issue, or one that was edited or deleted, says nothing', async () => {
    expect(await events('issue_comment', { ...payload, issue: { number: 3 } })).toEqual([]);
    for (const action of ['edited', 'deleted'])
      expect(await events('issue_comment', { ...payload, action })).toEqual([]);
    const edited = { ...comment, updated_at: '2026-01-02T03:04:06Z' };
    expect(await events('issue_comment', { ...payload, comment: edited })).toEqual([]);
  });

  it('of ours says nothing; of another App it does', async () => {
    const by = (id: number) => ({ ...payload, comment: { ...comment, performed_via_github_app: { id } } });
    const headers = {
      'x-github-hook-installation-target-type': 'integration',
      'x-github-hook-installation-target-id': '12',
    };
    expect(await events('issue_comment', by(12), headers)).toEqual([]);
    expect(await events('issue_comment', by(13), headers)).toHaveLength(1);
  });

  it('that is long, or whose author is gone, is reported as far as possible', async () => {
    const long = { ...comment, body: 'x'.repeat(100_000), user: null };
    expect(await events('issue_comment', { ...payload, comment: long })).toMatchObject([
      { author: 'ghost', text: 'x'.repeat(65_536) },
    ]);
  });
});

describe('a webhook of CI', () => {
  const check_run = {
    id: 5,
    head_sha: 'a'.repeat(40),
    name: 'build',
    status: 'completed',
    conclusion: 'failure',
    started_at: '2026-01-01T00:00:00Z',
    completed_at: '2026-01-01T00:01:00Z',
    check_suite: { id: 9 },
  };

  it('reports a check run that began or ended, and not the request to run it again', async () => {
    const payload = { action: 'completed', check_run, repository };
    expect(await events('check_run', payload)).toMatchObject([
      { kind: 'check-changed', sha: check_run.head_sha, check: { suite: '9', conclusion: 'failure' } },
    ]);
    expect(await events('check_run', { ...payload, action: 'created' })).toHaveLength(1);
    expect(await events('check_run', { ...payload, action: 'rerequested' })).toEqual([]);
  });

  describe('of a click on an action of our check', () => {
    const ownRun = { ...check_run, app: { id: 12 }, external_id: 'pull/7' };
    const headers = {
      'x-github-hook-installation-target-type': 'integration',
      'x-github-hook-installation-target-id': '12',
      'x-github-delivery': 'd-1',
    };
    const payload = {
      action: 'requested_action',
      requested_action: { identifier: 'requeue' },
      check_run: ownRun,
      sender: { login: 'ada' },
      repository,
    };
    const click = (change: object = {}, more: Record<string, string> = {}) =>
      events('check_run', { ...payload, ...change }, { ...headers, ...more });

    it('is a comment of who clicked, on the pull request of the check', async () => {
      expect(await click()).toEqual([
        {
          kind: 'comment-written',
          repository: named,
          number: 7,
          commentId: expect.stringMatching(/^click-[0-9a-f]{64}$/) as string,
          author: 'ada',
          text: '',
          writtenAt: Date.parse(check_run.started_at),
          action: { id: 'requeue', headSha: check_run.head_sha },
        },
      ]);
      expect(await click({ sender: null })).toMatchObject([{ author: 'ghost' }]);
    });

    it('is the same one when its body is sent again, but tests may be restarted again', async () => {
      const idOf = async (identifier: string, delivery: string) => {
        const [event] = (await click(
          { requested_action: { identifier } },
          { 'x-github-delivery': delivery },
        )) as readonly { readonly commentId: string }[];
        return event?.commentId;
      };
      expect(await idOf('cancel', 'd-1')).toBe(await idOf('cancel', 'd-2'));
      expect(await idOf('cancel', 'd-1')).not.toBe(await idOf('requeue', 'd-1'));
      expect(await idOf('restart', 'd-1')).toBe(await idOf('restart', 'd-1'));
      expect(await idOf('restart', 'd-1')).not.toBe(await idOf('restart', 'd-2'));
    });

    it('says nothing if the check or the action is not ours, or the webhook is not that of our App', async () => {
      for (const requested_action of [{ identifier: 'merge' }, { identifier: 'constructor' }, undefined])
        expect(await click({ requested_action })).toEqual([]);
      for (const change of [
        { external_id: '' },
        { external_id: 'pull/0' },
        { external_id: 'pull/7/8' },
        { app: { id: 13 } },
        { app: null },
        { started_at: null },
      ])
        expect(await click({ check_run: { ...ownRun, ...change } })).toEqual([]);
      expect(await click({}, { 'x-github-hook-installation-target-type': 'repository' })).toEqual([]);
      expect(await click({}, { 'x-github-hook-installation-target-id': '13' })).toEqual([]);
    });
  });

  it('reports a status', async () => {
    const status = {
      sha: 'b'.repeat(40),
      context: 'ci/test',
      state: 'pending',
      target_url: 'https://ci.example',
    };
    expect(
      await events('status', { ...status, updated_at: '2026-01-01T00:00:00Z', repository }),
    ).toMatchObject([{ sha: status.sha, check: { kind: 'status', name: 'ci/test', state: 'pending' } }]);
  });
});

describe('a webhook of a push', () => {
  it('reports that it changes workflows, which its commits list', async () => {
    const push = { ref: 'refs/heads/main', after: 'c'.repeat(40), deleted: false, repository };
    const commit = { added: [], modified: ['.github/workflows/ci.yml'], removed: [] };
    expect(await events('push', { ...push, commits: [commit] })).toMatchObject([{ changesWorkflows: true }]);
    for (const commits of [[{ ...commit, modified: ['ci.yml'] }], [], null])
      expect(await events('push', { ...push, commits })).toEqual([
        { kind: 'branch-moved', repository: named, branch: 'main', sha: push.after },
      ]);
  });

  const zero = '0'.repeat(40);

  it('reports where a branch is, with slashes in its name, and that it is gone', async () => {
    const push = { ref: 'refs/heads/feature/x', after: 'c'.repeat(40), deleted: false, repository };
    expect(await events('push', push)).toEqual([
      { kind: 'branch-moved', repository: named, branch: 'feature/x', sha: push.after },
    ]);
    expect(await events('push', { ...push, after: zero, deleted: true })).toMatchObject([{ sha: null }]);
    expect(await events('push', { ...push, ref: 'refs/tags/v1' })).toEqual([]);
  });

  it('is read from a form as well', async () => {
    const push = { ref: 'refs/heads/main', after: 'c'.repeat(40), deleted: false, repository };
    const body = new URLSearchParams({ payload: JSON.stringify(push) }).toString();
    const headers = {
      'x-github-event': 'push',
      'x-hub-signature-256': await sign(secret, body),
      'content-type': 'application/x-www-form-urlencoded',
    };
    const result = parseWebhook('github.com', { headers, body: Buffer.from(body), secret });
    expect(result).toMatchObject({ events: [{ kind: 'branch-moved', branch: 'main' }] });
  });

  it.each(['ping', 'constructor', '__proto__', ''])('of the kind “%s” says nothing', async (event) => {
    expect(await parseSignedWebhook(event, { repository })).toEqual({ kind: 'accepted', events: [] });
  });
});

import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { recorded } from './recorded.ts';
import { createWebhookParser } from './webhook.ts';

const secret = 's3cret';
const repository = { host: 'gitea.test', owner: 'ada', name: 'widgets' };
const sign = (body: Buffer) => createHmac('sha256', secret).update(body).digest('hex');

function parseEvents(payload: unknown, parse = createWebhookParser('gitea.test')) {
  const body = Buffer.from(JSON.stringify(payload));
  const result = parse({ headers: { 'x-gitea-signature': sign(body) }, body, secret });
  if (result.kind === 'refused') throw new Error(result.reason);
  return result.events;
}

const { webhooks } = recorded;
const sha = webhooks['push']!['after'];

describe('a webhook of Gitea', () => {
  it.each([
    ['a branch that was made', 'create', { branch: 'topic', sha }],
    ['a push', 'push', { branch: 'topic', sha }],
    ['a branch that is gone', 'delete', { branch: 'late', sha: null }],
  ])('reports %s', (_what, name, moved) => {
    expect(parseEvents(webhooks[name])).toEqual([{ kind: 'branch-moved', repository, ...moved }]);
  });

  it('reports that a push changes workflows, which its commits list', () => {
    const { push } = webhooks;
    const commits = [{ added: null, modified: ['a.txt'], removed: ['.gitea/workflows/ci.yml'] }];
    expect(parseEvents({ ...push, commits })).toMatchObject([{ changesWorkflows: true }]);
    for (const others of [[{ added: ['docs/.gitea/workflows/x'] }], null, 'none'])
      expect(parseEvents({ ...push, commits: others })).toEqual([
        { kind: 'branch-moved', repository, branch: 'topic', sha },
      ]);
  });

  it('says nothing of a tag', () => {
    expect(parseEvents({ ...webhooks['push'], ref: 'refs/tags/v1' })).toEqual([]);
    expect(parseEvents({ ...webhooks['create'], ref_type: 'tag' })).toEqual([]);
  });

  it.each(['edited', 'merged'])('reports that a pull request changed: it was %s', (name) => {
    expect(parseEvents(webhooks[name])[0]).toEqual({ kind: 'pull-request-changed', repository, number: 1 });
  });

  it('reports a comment on a pull request, and no other', () => {
    const { comment } = webhooks;
    expect(parseEvents(comment)).toEqual([
      {
        kind: 'comment-written',
        repository,
        number: 1,
        commentId: expect.stringMatching(/^\d+$/) as unknown,
        author: 'ada',
        text: '/signalbox merge',
        writtenAt: Date.parse(String((comment!['comment'] as { created_at: unknown }).created_at)),
      },
    ]);
    expect(parseEvents({ ...comment, is_pull: false })).toEqual([]);
    expect(parseEvents({ ...comment, action: 'edited' })).toEqual([]);
    const edited = { ...(comment!['comment'] as object), updated_at: '2036-01-01T00:00:00Z' };
    expect(parseEvents({ ...comment, comment: edited })).toEqual([]);
    expect(parseEvents({ ...comment, action: 'deleted' })).toEqual([]);
  });

  it('cuts a comment that is too long, between characters', () => {
    const comment = webhooks['comment']!['comment'] as object;
    const [event] = parseEvents({
      ...webhooks['comment'],
      comment: { ...comment, body: 'ä'.repeat(40_000) },
    });
    expect(event).toMatchObject({ text: 'ä'.repeat(32_768) });
    const [odd] = parseEvents({
      ...webhooks['comment'],
      comment: { ...comment, body: `x${'ä'.repeat(40_000)}` },
    });
    expect(odd).toMatchObject({ text: `x${'ä'.repeat(32_767)}` });
  });

  it('reports a job of Actions as a check of its workflow', () => {
    const name = 'ci / quick (push)';
    const suite = 'ci (push)';
    const url = 'https://gitea.test/ada/widgets/actions/runs/1/jobs/1';
    const [pending] = parseEvents(webhooks['jobPending']);
    expect(pending).toMatchObject({
      kind: 'check-changed',
      sha,
      check: { kind: 'check', suite, name, status: 'in_progress', conclusion: null, url },
    });
    const [failed] = parseEvents(webhooks['jobFailed']);
    expect(failed).toMatchObject({ check: { suite, status: 'completed', conclusion: 'failure' } });
    const [skipped] = parseEvents(webhooks['jobSkipped']);
    expect(skipped).toMatchObject({ check: { suite, status: 'completed', conclusion: 'skipped' } });
  });

  it('says nothing if it is of a kind that we do not need', () => {
    for (const payload of [{}, { action: 'created', repository: webhooks['push']!['repository'] }, 7, null])
      expect(parseEvents(payload)).toEqual([]);
  });
});

describe('labels, of which a webhook names only those that are on', () => {
  const labelled = (action: string, ...labels: string[]) => {
    const payload = { ...webhooks['label'], action };
    const pull = { head: { sha: 'a'.repeat(40) }, labels: labels.map((name, id) => ({ id, name })) };
    return parseEvents({ ...payload, pull_request: pull }).filter(({ kind }) => kind === 'label-changed');
  };
  const number = 1;

  it('are never an act of a person: the webhook says only that labels changed', () => {
    for (const action of ['opened', 'label_updated'])
      expect(labelled(action, 'a', 'b')).toEqual([
        { kind: 'label-changed', repository, number, label: null, labels: ['a', 'b'] },
      ]);
    // What it says of labels when all were taken off is from before.
    expect(labelled('label_cleared', 'b')).toEqual([
      { kind: 'label-changed', repository, number, label: null, labels: [] },
    ]);
  });

  it('are not mentioned where they did not change', () => {
    expect(labelled('opened')).toEqual([]);
    expect(labelled('synchronized', 'a')).toEqual([]);
  });
});

describe('the head of a pull request', () => {
  it('is named by a webhook that it was opened or pushed to, without an instant of the push', () => {
    const opened = parseEvents(webhooks['opened'])[0];
    const { sha: head } = (webhooks['opened']!['pull_request'] as { head: { sha: string } }).head;
    expect(opened).toEqual({
      kind: 'pull-request-changed',
      repository,
      number: 1,
      head: { sha: head, at: 0 },
    });
    expect(parseEvents({ ...webhooks['opened'], action: 'synchronized' })[0]).toMatchObject({
      head: { sha: head, at: null },
    });
  });
});

describe('the signature of a webhook', () => {
  const parse = createWebhookParser('gitea.test');
  const body = Buffer.from(JSON.stringify(webhooks['push']));
  const kindOf = (headers: Record<string, string>, bytes = body, key = secret) =>
    parse({ headers, body: bytes, secret: key }).kind;

  it('may be Gitea’s or Forgejo’s', () => {
    expect(kindOf({ 'x-gitea-signature': sign(body) })).toBe('accepted');
    expect(kindOf({ 'x-forgejo-signature': sign(body), 'x-gitea-signature': sign(body) })).toBe('accepted');
    expect(kindOf({ 'x-forgejo-signature': sign(body) })).toBe('accepted');
  });

  it('is of the bytes that came, with our secret', () => {
    expect(kindOf({ 'x-gitea-signature': sign(body) }, Buffer.concat([body, Buffer.from(' ')]))).toBe(
      'refused',
    );
    expect(kindOf({ 'x-gitea-signature': sign(body) }, body, 'another')).toBe('refused');
    expect(kindOf({ 'x-gitea-signature': '' })).toBe('refused');
    expect(kindOf({ 'x-gitea-signature': sign(body).slice(1) })).toBe('refused');
    expect(kindOf({})).toBe('refused');
    // Without a secret Gitea sends an empty signature.
    expect(kindOf({ 'x-gitea-signature': '' }, body, '')).toBe('refused');
  });

  it('is of the payload where the webhook sends a form', () => {
    const form = Buffer.from(new URLSearchParams({ payload: body.toString() }).toString());
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(
      parse({ headers: { ...type, 'x-gitea-signature': sign(body) }, body: form, secret }),
    ).toMatchObject({ kind: 'accepted', events: [{ kind: 'branch-moved' }] });
    expect(kindOf({ ...type, 'x-gitea-signature': sign(form) }, form)).toBe('refused');
  });
});

// Webhooks of Gitea and Forgejo, signed with HMAC-SHA256 over the body. They are told apart by what is in them.
//
// A webhook about labels says which ones a pull request has now, and not which one came or went. So the labels of a pull
// request are remembered from webhook to webhook, in this process: one that was not there before came, one that is
// missing now went. Of a pull request that nobody has spoken of before, all labels are told as having come, by nobody
// known: what has come before is then told twice, and what went meanwhile is not told.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Host, WebhookDelivery } from '../host.ts';
import { checkOf } from './check.ts';
import { CommentPayload, PullRequestPayload, PushPayload, RefPayload, StatusPayload } from './schema.ts';
import { boundedText } from './text.ts';

const signatureHeaders = ['x-forgejo-signature', 'x-gitea-signature'] as const;

export function createWebhookParser(host: string): Host['parseWebhook'] {
  const labelsSeen = createLabelMemory();
  return ({ headers, body, secret }) => {
    const payload = payloadOf(headers, body);
    if (!isSigned(headers, payload, secret))
      return { kind: 'refused', reason: 'The signature of the webhook does not match its body.' };
    return { kind: 'accepted', events: eventsOf(host, parseJson(payload), labelsSeen) };
  };
}

/** What is signed: the body, or, where the webhook sends a form, what is in it. */
function payloadOf(headers: WebhookDelivery['headers'], body: Buffer): Buffer {
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return body;
  return Buffer.from(new URLSearchParams(body.toString('utf8')).get('payload') ?? '');
}

function isSigned(headers: WebhookDelivery['headers'], payload: Buffer, secret: string): boolean {
  const expected = Buffer.from(createHmac('sha256', secret).update(payload).digest('hex'));
  return signatureHeaders.some((name) => {
    const given = Buffer.from(headers[name] ?? '');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** A signed event that we do not know is not an error: hosts have many kinds. */
function eventsOf(host: string, payload: unknown, labelsSeen: LabelMemory): readonly HostEvent[] {
  const named = (repository: { readonly name: string; readonly owner: { readonly login: string } }) => ({
    host,
    owner: repository.owner.login,
    name: repository.name,
  });
  const status = StatusPayload.safeParse(payload).data;
  if (status !== undefined) {
    const { state, sender: creator, ...rest } = status;
    // Links are whole here.
    const check = checkOf({ ...rest, status: state, creator }, `https://${host}`);
    return [{ kind: 'check-changed', repository: named(status.repository), sha: status.sha, check }];
  }
  const comment = CommentPayload.safeParse(payload).data;
  if (comment !== undefined) {
    const { id, user: author, body } = comment.comment;
    if (!comment.is_pull || comment.action !== 'created') return [];
    const { number } = comment.issue;
    const written = { number, commentId: String(id), author, text: boundedText(body) };
    return [{ kind: 'comment-written', repository: named(comment.repository), ...written }];
  }
  const pullRequest = PullRequestPayload.safeParse(payload).data;
  if (pullRequest !== undefined) {
    const repository = named(pullRequest.repository);
    return [
      { kind: 'pull-request-changed', repository, number: pullRequest.number },
      ...labelsSeen.changes(repository, pullRequest),
    ];
  }
  const push = PushPayload.safeParse(payload).data;
  if (push !== undefined) return branchMoved(named(push.repository), push.ref, push.after);
  const ref = RefPayload.safeParse(payload).data;
  return ref?.ref_type === 'branch'
    ? branchMoved(named(ref.repository), `${branches}${ref.ref}`, ref.sha ?? null)
    : [];
}

const branches = 'refs/heads/';

function branchMoved(repository: RepositoryName, ref: string, sha: string | null): readonly HostEvent[] {
  if (!ref.startsWith(branches)) return [];
  const branch = ref.slice(branches.length);
  const isGone = sha === null || /^0+$/.test(sha);
  return [{ kind: 'branch-moved', repository, branch, sha: isGone ? null : sha }];
}

type LabelMemory = {
  readonly changes: (repository: RepositoryName, payload: PullRequestPayload) => readonly HostEvent[];
};

/** Pull requests whose labels are remembered; the ones longest unheard of are forgotten. */
const rememberedMax = 20_000;
/** Of these all labels count as having come. */
const labelling: ReadonlySet<string> = new Set(['opened', 'label_updated', 'label_cleared']);

function createLabelMemory(): LabelMemory {
  const seen = new Map<string, readonly string[]>();
  return {
    changes: (repository, { number, action, sender, pull_request: { labels } }) => {
      const key = `${repository.owner}/${repository.name}#${number}`.toLowerCase();
      const before = seen.get(key);
      const after = action === 'label_cleared' ? [] : labels.map(({ name }) => name);
      seen.delete(key);
      seen.set(key, after);
      if (seen.size > rememberedMax) seen.delete(seen.keys().next().value!);
      const told = (label: string, isOn: boolean, by: string | null): HostEvent => ({
        kind: 'label-changed',
        repository,
        number,
        label,
        isOn,
        by,
      });
      if (before === undefined)
        return labelling.has(action) ? after.map((label) => told(label, true, null)) : [];
      return [
        ...after.filter((label) => !before.includes(label)).map((label) => told(label, true, sender)),
        ...before.filter((label) => !after.includes(label)).map((label) => told(label, false, sender)),
      ];
    },
  };
}

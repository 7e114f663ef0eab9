// Webhooks of Gitea and Forgejo, signed with HMAC-SHA256 over the body. They are recognized by their content.
//
// A webhook about labels lists the labels that a pull request has now. It says neither which one was added or
// removed nor who added the others. So it only reports that labels changed; who changed one is read from the
// timeline (label.ts).

import { changesWorkflows } from '../workflow.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Host, IncomingWebhook } from '../host.ts';
import { checkFromStatus } from './client/check.ts';
import { CommentPayload, PullRequestPayload, PushPayload, RefPayload, StatusPayload } from './schema.ts';
import { boundedText } from './pull-request/text.ts';

const signatureHeaders = ['x-forgejo-signature', 'x-gitea-signature'] as const;

export function createWebhookParser(host: string): Host['parseWebhook'] {
  return ({ headers, body, secret }) => {
    const payload = extractPayload(headers, body);
    if (!isSigned(headers, payload, secret))
      return { kind: 'refused', reason: 'The signature of the webhook does not match its body.' };
    return { kind: 'accepted', events: parseEvents(host, parseJson(payload)) };
  };
}

/** The signed text: the body, or the content of the form if the webhook sends one. */
function extractPayload(headers: IncomingWebhook['headers'], body: Buffer): Buffer {
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return body;
  return Buffer.from(new URLSearchParams(body.toString('utf8')).get('payload') ?? '');
}

function isSigned(headers: IncomingWebhook['headers'], payload: Buffer, secret: string): boolean {
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

/** A signed event of an unknown kind is not an error: hosts have many kinds. */
function parseEvents(host: string, payload: unknown): readonly HostEvent[] {
  const named = (repository: { readonly name: string; readonly owner: { readonly login: string } }) => ({
    host,
    owner: repository.owner.login,
    name: repository.name,
  });
  const status = StatusPayload.safeParse(payload).data;
  if (status !== undefined) {
    const { state, sender: creator, ...rest } = status;
    // Links are complete here.
    const check = checkFromStatus({ ...rest, status: state, creator }, `https://${host}`);
    return [{ kind: 'check-changed', repository: named(status.repository), sha: status.sha, check }];
  }
  const comment = CommentPayload.safeParse(payload).data;
  if (comment !== undefined) {
    const { id, user: author, body, created_at: writtenAt, updated_at } = comment.comment;
    // An account with write access to issues can edit the comments of others (Gitea
    // routers/web/repo/issue_comment.go, UpdateCommentContent): only an unedited comment is its author's.
    if (!comment.is_pull || comment.action !== 'created' || writtenAt !== updated_at) return [];
    const { number } = comment.issue;
    const written = { number, commentId: String(id), author, text: boundedText(body), writtenAt };
    return [{ kind: 'comment-written', repository: named(comment.repository), ...written }];
  }
  const pullRequest = PullRequestPayload.safeParse(payload).data;
  if (pullRequest !== undefined) return pullRequestEvents(named(pullRequest.repository), pullRequest);
  const push = PushPayload.safeParse(payload).data;
  if (push !== undefined)
    return branchMoved(named(push.repository), push.ref, push.after, changesWorkflows(push.commits));
  const ref = RefPayload.safeParse(payload).data;
  return ref?.ref_type === 'branch'
    ? branchMoved(named(ref.repository), `${branches}${ref.ref}`, ref.sha ?? null)
    : [];
}

const branches = 'refs/heads/';

function branchMoved(
  repository: RepositoryName,
  ref: string,
  sha: string | null,
  hasWorkflows = false,
): readonly HostEvent[] {
  if (!ref.startsWith(branches)) return [];
  const branch = ref.slice(branches.length);
  const isGone = sha === null || /^0+$/.test(sha);
  const moved: HostEvent = { kind: 'branch-moved', repository, branch, sha: isGone ? null : sha };
  return [hasWorkflows ? { ...moved, changesWorkflows: true } : moved];
}

/** Actions after which the labels may differ. */
const labelling: ReadonlySet<string> = new Set(['opened', 'label_updated', 'label_cleared']);

function pullRequestEvents(
  repository: RepositoryName,
  { number, action, pull_request: pull }: PullRequestPayload,
): readonly HostEvent[] {
  // When all labels were removed, its list of labels is the one from before.
  const labels = action === 'label_cleared' ? [] : pull.labels.map(({ name }) => name);
  const isLabelling = labelling.has(action) && (action !== 'opened' || labels.length > 0);
  const changed: HostEvent = { kind: 'pull-request-changed', repository, number };
  const { sha } = pull.head;
  // A pull request has the head of its opening from the beginning. For a push the webhook has no time of its
  // own.
  const head =
    action === 'opened' ? { sha, at: 0 } : action === 'synchronized' ? { sha, at: null } : undefined;
  return [
    head === undefined ? changed : { ...changed, head },
    ...(isLabelling ? [{ kind: 'label-changed' as const, repository, number, label: null, labels }] : []),
  ];
}

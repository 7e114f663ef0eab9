// Webhooks of GitHub, signed with HMAC-SHA256 over the body. The signature is compared here as @octokit/webhooks-methods
// does it, only at once instead of with a promise, and over the very bytes: what is decoded and encoded again need not be
// what was signed.
//
// GitHub tells of much that changes nothing for a queue, such as who was asked for a review: that is passed over, because
// each word that a pull request changed costs a question.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import type { HostEvent, RepositoryMoved } from '#core/queue/host-event.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { WebhookDelivery, WebhookResult } from '../host.ts';
import { checkOfRun, checkOfStatus } from './check.ts';
import { cut } from './pull-request.ts';
import {
  CheckRunEvent,
  CommentEvent,
  PullRequestEvent,
  PushEvent,
  RepositoryEvent,
  ReviewEvent,
  StatusEvent,
  ThreadEvent,
} from './schema.ts';

const signatureHeader = 'x-hub-signature-256';

export function parseWebhook(host: string, { headers, body, secret }: WebhookDelivery): WebhookResult {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(headers[signatureHeader] ?? '');
  if (secret === '' || given.length !== expected.length || !timingSafeEqual(given, expected))
    return { kind: 'refused', reason: 'The signature of the webhook does not match its body.' };
  const payload = payloadOf(headers['content-type'] ?? '', body);
  const read = readers.get(headers['x-github-event'] ?? '');
  // A signed event we do not know is not an error: GitHub adds kinds of events.
  const all = read?.({ host, headers, payload }) ?? [];
  const isMove = (event: WebhookEvent): event is RepositoryMoved => event.kind === 'repository-moved';
  const moved = all.filter(isMove);
  const events = all.filter((event) => !isMove(event));
  return { kind: 'accepted', events, ...(moved.length === 0 ? {} : { moved }) };
}

type WebhookEvent = HostEvent | RepositoryMoved;

type Told = {
  readonly host: string;
  readonly headers: WebhookDelivery['headers'];
  readonly payload: unknown;
};

/** As JSON, or as a form with the JSON in it: both can be chosen at GitHub. */
function payloadOf(contentType: string, body: Buffer): unknown {
  const text = body.toString('utf8');
  const isForm = contentType.startsWith('application/x-www-form-urlencoded');
  try {
    return JSON.parse(isForm ? (new URLSearchParams(text).get('payload') ?? '') : text);
  } catch {
    return null;
  }
}

type Payload = {
  readonly repository: {
    readonly id?: number | undefined;
    readonly name: string;
    readonly owner: { readonly login: string };
  };
};

const reader =
  <Event extends Payload>(
    schema: z.ZodType<Event>,
    eventsOf: (event: Event, repository: RepositoryName, told: Told) => readonly WebhookEvent[],
  ) =>
  (told: Told): readonly WebhookEvent[] => {
    const event = schema.safeParse(told.payload);
    if (!event.success) return [];
    const { id, name, owner } = event.data.repository;
    const known = id === undefined ? {} : { hostId: String(id) };
    return eventsOf(event.data, { host: told.host, owner: owner.login, name, ...known }, told);
  };

const changes: ReadonlySet<string> = new Set([
  'opened',
  'reopened',
  'closed',
  'edited',
  'synchronize',
  'ready_for_review',
  'converted_to_draft',
]);

/** Actions after which the pull request has a head that it did not have before (GitHub webhook docs, `pull_request`). */
const headChanges: ReadonlySet<string> = new Set(['opened', 'synchronize']);

const branchPrefix = 'refs/heads/';

const readers: ReadonlyMap<string, (told: Told) => readonly WebhookEvent[]> = new Map(
  Object.entries({
    pull_request: reader(PullRequestEvent, (event, repository) => {
      const { action, number, label, pull_request: pull } = event;
      const labels = pull.labels.map(({ name }) => name);
      if (changes.has(action)) {
        // With the head of its opening a pull request was never without: whatever is done on it comes later.
        const at = action === 'opened' ? 0 : Date.parse(pull.updated_at);
        const head = { sha: pull.head.sha, at };
        return [
          {
            kind: 'pull-request-changed',
            repository,
            number,
            ...(headChanges.has(action) ? { head } : {}),
          },
        ];
      }
      if ((action !== 'labeled' && action !== 'unlabeled') || label === undefined) return [];
      return [{ kind: 'label-changed', repository, number, label: label.name, labels }];
    }),
    // A review that only comments may begin a conversation, which some branches want resolved.
    pull_request_review: reader(ReviewEvent, ({ action, pull_request: { number } }, repository) =>
      action === 'dismissed' || action === 'submitted'
        ? [{ kind: 'pull-request-changed', repository, number }]
        : [],
    ),
    // GitHub webhook docs, `pull_request_review_thread`: resolved and unresolved are all that it knows.
    pull_request_review_thread: reader(ThreadEvent, ({ pull_request: { number } }, repository) => [
      { kind: 'pull-request-changed', repository, number },
    ]),
    issue_comment: reader(CommentEvent, ({ action, issue, comment }, repository, { headers }) => {
      // Ours: said by the App whose webhook this is.
      const app = comment.performed_via_github_app?.id;
      const isOurs =
        headers['x-github-hook-installation-target-type'] === 'integration' &&
        app !== undefined &&
        String(app) === headers['x-github-hook-installation-target-id'];
      // A person with write access can edit the comments of others: only a comment as it was created is its author's.
      const isAsWritten = action === 'created' && comment.created_at === comment.updated_at;
      if (!isAsWritten || issue.pull_request === undefined || isOurs) return [];
      return [
        {
          kind: 'comment-written',
          repository,
          number: issue.number,
          commentId: String(comment.id),
          author: comment.user?.login ?? 'ghost',
          text: cut(comment.body ?? ''),
          writtenAt: Date.parse(comment.created_at),
        },
      ];
    }),
    check_run: reader(CheckRunEvent, ({ action, check_run: run }, repository) =>
      action === 'created' || action === 'completed'
        ? [{ kind: 'check-changed', repository, sha: run.head_sha, check: checkOfRun(run) }]
        : [],
    ),
    status: reader(StatusEvent, ({ sha, sender, ...status }, repository) => [
      { kind: 'check-changed', repository, sha, check: checkOfStatus({ ...status, creator: sender }) },
    ]),
    repository: reader(RepositoryEvent, ({ action }, repository) =>
      action === 'renamed' || action === 'transferred' ? [{ kind: 'repository-moved', repository }] : [],
    ),
    push: reader(PushEvent, ({ ref, after, deleted }, repository) =>
      ref.startsWith(branchPrefix)
        ? [
            {
              kind: 'branch-moved',
              repository,
              branch: ref.slice(branchPrefix.length),
              sha: deleted ? null : after,
            },
          ]
        : [],
    ),
  }),
);

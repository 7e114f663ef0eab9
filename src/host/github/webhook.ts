// Webhooks of GitHub, signed with HMAC-SHA256 over the body. The signature is compared as
// @octokit/webhooks-methods does it, but synchronously and over the raw bytes: a body that is decoded and
// encoded again may differ from what was signed.
//
// Many of GitHub's events change nothing for a queue, such as review requests. They are ignored, because each
// changed pull request costs an API call.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import { checkActionIds, type HostEvent, type RepositoryMoved } from '#core/queue/host-event.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { IncomingWebhook, WebhookResult } from '../host.ts';
import { checkOfRun, checkOfStatus, parseExternalId } from './client/check.ts';
import { changesWorkflows } from '../workflow.ts';
import { cut } from './pull-request/pull-request.ts';
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

export function parseWebhook(host: string, { headers, body, secret }: IncomingWebhook): WebhookResult {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(headers[signatureHeader] ?? '');
  if (secret === '' || given.length !== expected.length || !timingSafeEqual(given, expected))
    return { kind: 'refused', reason: 'The signature of the webhook does not match its body.' };
  const payload = parsePayload(headers['content-type'] ?? '', body);
  const read = readers.get(headers['x-github-event'] ?? '');
  // A signed event we do not know is not an error: GitHub adds kinds of events.
  const digest = createHash('sha256').update(body).digest('hex');
  const all = read?.({ host, digest, headers, payload }) ?? [];
  const isMove = (event: WebhookEvent): event is RepositoryMoved => event.kind === 'repository-moved';
  const moved = all.filter(isMove);
  const events = all.filter((event) => !isMove(event));
  return { kind: 'accepted', events, ...(moved.length === 0 ? {} : { moved }) };
}

type WebhookEvent = HostEvent | RepositoryMoved;

type ParsedWebhook = {
  readonly host: string;
  /** Of the body, in hexadecimal. */
  readonly digest: string;
  readonly headers: IncomingWebhook['headers'];
  readonly payload: unknown;
};

/** As JSON, or as a form with the JSON in it: GitHub offers both. */
function parsePayload(contentType: string, body: Buffer): unknown {
  const text = body.toString('utf8');
  const isForm = contentType.startsWith('application/x-www-form-urlencoded');
  try {
    return JSON.parse(isForm ? (new URLSearchParams(text).get('payload') ?? '') : text);
  } catch {
    return null;
  }
}

type GithubEventPayload = {
  readonly repository: {
    readonly id?: number | undefined;
    readonly name: string;
    readonly owner: { readonly login: string };
  };
};

const reader =
  <Event extends GithubEventPayload>(
    schema: z.ZodType<Event>,
    eventsOf: (event: Event, repository: RepositoryName, webhook: ParsedWebhook) => readonly WebhookEvent[],
  ) =>
  (webhook: ParsedWebhook): readonly WebhookEvent[] => {
    const event = schema.safeParse(webhook.payload);
    if (!event.success) return [];
    const { id, name, owner } = event.data.repository;
    const known = id === undefined ? {} : { hostId: String(id) };
    return eventsOf(event.data, { host: webhook.host, owner: owner.login, name, ...known }, webhook);
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

/** Whether the App whose webhook this is wrote something. */
const isByOwnApp = ({ headers }: ParsedWebhook, app: { readonly id: number } | null | undefined): boolean =>
  headers['x-github-hook-installation-target-type'] === 'integration' &&
  headers['x-github-hook-installation-target-id'] === String(app?.id);

/**
 * A click on an action of our own check (GitHub webhook docs, `check_run`: `requested_action`). GitHub does not report when the
 * click was; it was after the check run began. The signature covers the body and no header, so the body is the id of the click:
 * sent again, it does nothing. Only tests may restart several times while the check stays the same; there a delivery counts once.
 */
function readClick(
  { check_run: run, requested_action: requested, sender }: CheckRunEvent,
  repository: RepositoryName,
  webhook: ParsedWebhook,
): readonly WebhookEvent[] {
  const id = checkActionIds.find((known) => known === requested?.identifier);
  const number = parseExternalId(run.external_id ?? '');
  const writtenAt = Date.parse(run.started_at ?? '');
  const delivery = webhook.headers['x-github-delivery'] ?? '';
  if (id === undefined || number === null || Number.isNaN(writtenAt) || !isByOwnApp(webhook, run.app))
    return [];
  return [
    {
      kind: 'comment-written',
      repository,
      number,
      commentId: `click-${webhook.digest}${id === 'restart' ? `-${delivery}` : ''}`,
      author: sender?.login ?? 'ghost',
      text: '',
      writtenAt,
      action: { id, headSha: run.head_sha },
    },
  ];
}

const readers: ReadonlyMap<string, (webhook: ParsedWebhook) => readonly WebhookEvent[]> = new Map(
  Object.entries({
    pull_request: reader(PullRequestEvent, (event, repository) => {
      const { action, number, label, pull_request: pull } = event;
      const labels = pull.labels.map(({ name }) => name);
      if (changes.has(action)) {
        // A pull request has the head of its opening from the beginning: every act on it is later.
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
    // A review that only comments may start a conversation, which some branches require to be resolved.
    pull_request_review: reader(ReviewEvent, ({ action, pull_request: { number } }, repository) =>
      action === 'dismissed' || action === 'submitted'
        ? [{ kind: 'pull-request-changed', repository, number }]
        : [],
    ),
    // GitHub webhook docs, `pull_request_review_thread`: resolved and unresolved are all that it knows.
    pull_request_review_thread: reader(ThreadEvent, ({ pull_request: { number } }, repository) => [
      { kind: 'pull-request-changed', repository, number },
    ]),
    issue_comment: reader(CommentEvent, ({ action, issue, comment }, repository, webhook) => {
      const isOurs = isByOwnApp(webhook, comment.performed_via_github_app);
      // A person with write access can edit the comments of others: only an unedited comment is its author's.
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
    check_run: reader(CheckRunEvent, (event, repository, webhook) => {
      const { action, check_run: run } = event;
      if (action === 'requested_action') return readClick(event, repository, webhook);
      return action === 'created' || action === 'completed'
        ? [{ kind: 'check-changed', repository, sha: run.head_sha, check: checkOfRun(run) }]
        : [];
    }),
    status: reader(StatusEvent, ({ sha, sender, ...status }, repository) => [
      { kind: 'check-changed', repository, sha, check: checkOfStatus({ ...status, creator: sender }) },
    ]),
    repository: reader(RepositoryEvent, ({ action }, repository) =>
      action === 'renamed' || action === 'transferred' ? [{ kind: 'repository-moved', repository }] : [],
    ),
    push: reader(PushEvent, ({ ref, after, deleted, commits }, repository) =>
      ref.startsWith(branchPrefix)
        ? [
            {
              kind: 'branch-moved',
              repository,
              branch: ref.slice(branchPrefix.length),
              sha: deleted ? null : after,
              ...(changesWorkflows(commits) && { changesWorkflows: true }),
            },
          ]
        : [],
    ),
  }),
);

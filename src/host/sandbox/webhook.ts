// Webhooks of the sandbox: signed with HMAC-SHA256 over the body, like those of the hosts it stands in for.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { IncomingWebhook, WebhookResult } from '../host.ts';
import { SandboxEvent } from './schema.ts';

export const signatureHeader = 'x-signalbox-sandbox-signature';

export const signWebhook = (secret: string, body: Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export function parseWebhook({ headers, body, secret }: IncomingWebhook): WebhookResult {
  const expected = Buffer.from(signWebhook(secret, body));
  const given = Buffer.from(headers[signatureHeader] ?? '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return { kind: 'refused', reason: 'The signature of the webhook does not match its body.' };
  const event = SandboxEvent.safeParse(parseJson(body));
  // A signed event we do not know is not an error: hosts add kinds of events.
  return { kind: 'accepted', events: event.success ? [toHostEvent(event.data)] : [] };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function toHostEvent(event: SandboxEvent): HostEvent {
  const { repository } = event;
  switch (event.event) {
    case 'pull_request': {
      const { number, head } = event;
      return { kind: 'pull-request-changed', repository, number, ...(head === undefined ? {} : { head }) };
    }
    case 'status': {
      const { sha, name, state, url, at } = event;
      return { kind: 'check-changed', repository, sha, check: { kind: 'status', name, state, url, at } };
    }
    case 'check_run': {
      const { sha, suite, name, status, conclusion, url, at, app } = event;
      const run = { kind: 'check', suite, name, status, conclusion, url, at } as const;
      return { kind: 'check-changed', repository, sha, check: app === null ? run : { ...run, app } };
    }
    case 'push':
      return { kind: 'branch-moved', repository, branch: event.branch, sha: event.sha };
    case 'comment': {
      const { number, id: commentId, author, text, writtenAt } = event;
      return { kind: 'comment-written', repository, number, commentId, author, text, writtenAt };
    }
    case 'label': {
      const { number, label, labels } = event;
      return { kind: 'label-changed', repository, number, label, labels };
    }
  }
}

/** The body of the webhook for an event. */
export function webhookBody(event: HostEvent): Buffer {
  const { host, owner, name } = event.repository;
  const body = { repository: { host, owner, name }, ...eventBody(event) };
  return Buffer.from(JSON.stringify(body satisfies SandboxEvent));
}

type EventBody<Event = SandboxEvent> = Event extends SandboxEvent ? Omit<Event, 'repository'> : never;

function eventBody(event: HostEvent): EventBody {
  switch (event.kind) {
    case 'pull-request-changed': {
      const { number, head } = event;
      return { event: 'pull_request', number, ...(head === undefined ? {} : { head }) };
    }
    case 'check-changed': {
      const { sha, check } = event;
      if (check.kind === 'check') {
        const { suite, name, status, conclusion, url, at, app = null } = check;
        return { event: 'check_run', sha, suite, name, status, conclusion, url, at, app };
      }
      // Only Gitea has a status that says skipped.
      const state = check.state === 'skipped' ? 'error' : check.state;
      return { event: 'status', sha, name: check.name, state, url: check.url, at: check.at };
    }
    case 'branch-moved':
      return { event: 'push', branch: event.branch, sha: event.sha };
    case 'comment-written': {
      const { number, commentId: id, author, text, writtenAt } = event;
      return { event: 'comment', number, id, author, text, writtenAt };
    }
    case 'label-changed': {
      const { number, label, labels } = event;
      return { event: 'label', number, label, labels: [...labels] };
    }
  }
}

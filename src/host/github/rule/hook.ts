// Webhooks: the one of the App, and those of a repository.

import type { HostEvent } from '#core/queue/host-event.ts';
import { z } from 'zod';
import type { HostRepository, Inspection } from '../../host.ts';
import { cannot, type WantedWebhook, type WebhookAnswer } from '../../wanted-webhook.ts';
import type { GithubClient } from '../client/client.ts';
import { HookConfig, HookDeliveries, Hooks, type Installation } from '../schema.ts';

type HostEventKind = HostEvent['kind'];

/** The webhook events that each kind of event needs. */
const events: { readonly [Kind in HostEventKind]: readonly string[] } = {
  // A review or a conversation can change the mergeability.
  'pull-request-changed': ['pull_request', 'pull_request_review', 'pull_request_review_thread'],
  'label-changed': ['pull_request'],
  // CI reports in either form, and some CI in both.
  'check-changed': ['check_run', 'status'],
  'branch-moved': ['push'],
  'comment-written': ['issue_comment'],
};

const listCoveredEventKinds = (subscribed: readonly string[]): readonly HostEventKind[] =>
  (Object.keys(events) as HostEventKind[]).filter(
    (kind) => subscribed.includes('*') || events[kind].every((event) => subscribed.includes(event)),
  );

/** The App's own webhook, and those of the repository that Signalbox may read. */
export async function readHooks(
  { read, auth }: GithubClient,
  { owner, name: repo }: HostRepository,
  installation: Installation | null,
): Promise<Inspection['webhooks']> {
  const absent = [403, 404];
  const config = auth.appId === null ? null : await read('/app/hook/config', {}, HookConfig, { as: 'app' });
  const app = await readAppHook(read, config?.url ?? '', installation);
  const path = '/repos/{owner}/{repo}/hooks';
  const hooks = await read(path, { owner, repo, per_page: 100 }, Hooks, { absent });
  if (hooks === null && app === null) return null;
  const own = (hooks ?? []).map(({ active, events, config: { url = '' }, last_response: last }) => ({
    url,
    isActive: active,
    events: listCoveredEventKinds(events),
    lastStatus: last?.code ?? null,
  }));
  return app === null ? own : [app, ...own];
}

async function readAppHook(read: GithubClient['read'], url: string, installation: Installation | null) {
  if (url === '' || installation === null) return null;
  const path = '/app/hook/deliveries';
  const deliveries = await read(path, { per_page: 1 }, HookDeliveries, { as: 'app' });
  return {
    url,
    isActive: true,
    events: listCoveredEventKinds(installation.events),
    lastStatus: deliveries?.[0]?.status_code ?? null,
  };
}

/**
 * Sets URL and secret of the App's webhook (GitHub REST docs, "Update a webhook configuration for an app"). Which events it
 * sends, and whether it is active, only its settings page can change. A webhook that leads elsewhere stays as it is: the
 * App may be another program's too.
 */
export async function ensureWebhook(
  { auth, read, attempt }: GithubClient,
  { url, sharing, secret, isSecretNew }: WantedWebhook,
): Promise<WebhookAnswer> {
  if (auth.appId === null)
    return cannot('Signalbox is connected with the token of an account. Add the webhook to the repository.');
  const config = await read('/app/hook/config', {}, HookConfig, { as: 'app' });
  if (config === null)
    return cannot('The App has no webhook. Switch it on: the settings of the App, General, Webhook, Active.');
  const { url: present = '' } = config;
  const isRight = present === url || sharing.includes(present);
  if (isRight && !isSecretNew) return { kind: 'unchanged' };
  // What a person entered for the webhook to come, or the URL of a connection that was removed.
  const isForUs = present === '' || `${present}/`.startsWith(hooksUrl(url));
  if (!isRight && !isForUs)
    return cannot(
      `The webhook of the App leads to ${new URL(present).host}. If the App is for Signalbox alone, set the URL of its webhook to ${url}.`,
    );
  // `data`: the client would take a parameter of the name `url` for the URL to call.
  const data = isRight ? { secret } : { url, secret, content_type: 'json', insecure_ssl: '0' };
  const options = { as: 'app', isRepeatable: true } as const;
  const written = await attempt('PATCH /app/hook/config', { data }, z.unknown(), [403, 404, 422], options);
  return written.kind === 'done'
    ? { kind: 'set' }
    : cannot(
        `GitHub answered ${written.status} when Signalbox set the webhook of the App: ${written.message}`,
      );
}

/** The URL below which all webhooks of this installation are, with its slash. */
const hooksUrl = (url: string): string => url.slice(0, url.lastIndexOf('/') + 1);

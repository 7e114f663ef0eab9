// Webhooks: checked against GitHub's description, signed, and sent in the background. They are never sent again by
// themselves; the list of deliveries says how each went, and one can be asked for again.

import { createHmac, randomUUID } from 'node:crypto';
import { organizationJson, userJson, nodeId } from './json/account.ts';
import { repositoryJson } from './json/repository.ts';
import { fullNameOf, type Account, type Delivery, type Hook, type Repository, type Site } from './model.ts';
import { checkWebhook } from './validate.ts';

/** The App's one webhook. */
export type AppHook = {
  /** Null: it has none. */
  url: string | null;
  secret: string;
  /**
   * - `on`: told at once.
   * - `off`: nobody is told, and no delivery is kept.
   * - `lost`: deliveries are kept as failed, as if nobody had answered.
   */
  mode: 'on' | 'off' | 'lost';
};

/** Longest wait for an answer. */
const answerMs = 10_000;

type Target = {
  readonly url: string;
  readonly secret: string;
  /** Null: the App's. */
  readonly hook: Hook | null;
  /** Of the repository or the App. */
  readonly targetId: number;
  readonly installationId: number | null;
};

type Message = {
  readonly repository: Repository;
  readonly event: string;
  readonly action: string | null;
  readonly payload: object;
};

const hookTarget = (repository: Repository, hook: Hook): Target => ({
  url: hook.url,
  secret: hook.secret,
  hook,
  targetId: repository.id,
  installationId: null,
});

/** In a push GitHub writes some of a repository's fields in another way. */
function inPush(site: Site, repository: Repository) {
  const json = repositoryJson(site, repository);
  return {
    ...json,
    created_at: Math.floor(repository.createdAt.getTime() / 1_000),
    pushed_at: Math.floor(repository.pushedAt.getTime() / 1_000),
    stargazers: 0,
    master_branch: repository.defaultBranch,
  };
}

export function createAnnouncer(site: Site, appHook: AppHook): Site['announce'] {
  return (repository, event, action, sender, payload) => {
    const installation = site.installations.find(({ account }) => account === repository.owner);
    const whole = {
      ...(action === null ? {} : { action }),
      ...payload,
      repository: event === 'push' ? inPush(site, repository) : repositoryJson(site, repository),
      ...(repository.owner.type === 'Organization'
        ? { organization: organizationJson(site, repository.owner) }
        : {}),
      sender: userJson(site, sender),
    };
    const message = { repository, event, action };
    for (const hook of repository.hooks)
      if (hook.active && listens(hook.events, event) && !isForAppAlone(event, action))
        post(site, appHook, hookTarget(repository, hook), { ...message, payload: whole });
    if (installation === undefined || appHook.url === null || !listens(site.app.events, event)) return;
    const { id: installationId } = installation;
    const { url, secret } = appHook;
    const own = { id: installationId, node_id: nodeId('Installation', installationId) };
    const target = { url, secret, hook: null, targetId: site.app.id, installationId };
    post(site, appHook, target, { ...message, payload: { ...whole, installation: own } });
  };
}

/** GitHub webhook docs, `check_run`: webhooks of repositories get only what was created or completed. */
const isForAppAlone = (event: string, action: string | null): boolean =>
  event === 'check_run' && action !== 'created' && action !== 'completed';

const listens = (events: readonly string[], event: string): boolean =>
  events.includes(event) || events.includes('*');

function post(site: Site, appHook: AppHook, target: Target, message: Message): void {
  const { repository, event, action, payload } = message;
  if (appHook.mode === 'off') return;
  const wrong = checkWebhook(site.edition, event, action, payload);
  if (wrong !== null) {
    site.failures.push(wrong);
    return;
  }
  const body = JSON.stringify(payload);
  const guid = randomUUID();
  const delivery: Delivery = {
    id: site.nextId(),
    guid,
    event,
    action,
    hookId: target.hook?.id ?? null,
    installationId: target.installationId,
    repositoryId: repository.id,
    url: target.url,
    headers: headersOf(site, target, event, guid, body),
    body,
    redelivery: false,
    at: site.clock.now(),
    statusCode: 0,
    status: 'pending',
    durationMs: 0,
  };
  site.deliveries.push(delivery);
  if (appHook.mode === 'lost')
    Object.assign(delivery, { status: 'failed to connect to host', statusCode: 502 });
  else site.inBackground(send(delivery));
}

function headersOf(site: Site, target: Target, event: string, guid: string, body: string) {
  const enterprise =
    site.edition === 'api.github.com' ? {} : { 'x-github-enterprise-host': new URL(site.url).host };
  const sign = (hash: string) => createHmac(hash, target.secret).update(body).digest('hex');
  return {
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/044aadd',
    'x-github-delivery': guid,
    'x-github-event': event,
    'x-github-hook-id': String(target.hook?.id ?? site.app.id),
    'x-github-hook-installation-target-id': String(target.targetId),
    'x-github-hook-installation-target-type': target.hook === null ? 'integration' : 'repository',
    'x-hub-signature': `sha1=${sign('sha1')}`,
    'x-hub-signature-256': `sha256=${sign('sha256')}`,
    ...enterprise,
  };
}

async function send(delivery: Delivery): Promise<void> {
  const begun = performance.now();
  try {
    const answer = await fetch(delivery.url, {
      method: 'POST',
      headers: delivery.headers,
      body: delivery.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    });
    await answer.arrayBuffer();
    const status = answer.ok ? 'OK' : `Invalid HTTP Response: ${answer.status}`;
    Object.assign(delivery, { statusCode: answer.status, status });
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    Object.assign(delivery, {
      statusCode: isLate ? 504 : 502,
      status: isLate ? 'timed out' : 'failed to connect to host',
    });
  }
  delivery.durationMs = performance.now() - begun;
}

/** The same bytes once more, as somebody asked. */
export function redeliver(site: Site, delivery: Delivery): void {
  const again = {
    ...delivery,
    id: site.nextId(),
    redelivery: true,
    at: site.clock.now(),
    statusCode: 0,
    status: 'pending',
  };
  site.deliveries.push(again);
  site.inBackground(send(again));
}

/** What GitHub sends to a hook when it is made. */
export function ping(
  site: Site,
  appHook: AppHook,
  repository: Repository,
  hook: Hook,
  sender: Account,
): void {
  const payload = {
    zen: `Keep it logically awesome: ${fullNameOf(repository)}.`,
    hook_id: hook.id,
    hook: {
      type: 'Repository',
      id: hook.id,
      name: 'web',
      active: hook.active,
      events: hook.events,
      config: { url: hook.url, content_type: 'json', insecure_ssl: '0', secret: '********' },
      updated_at: hook.createdAt.toISOString(),
      created_at: hook.createdAt.toISOString(),
    },
    repository: repositoryJson(site, repository),
    sender: userJson(site, sender),
  };
  post(site, appHook, hookTarget(repository, hook), { repository, event: 'ping', action: null, payload });
}

// Webhooks and their deliveries.

import type { Delivery, Hook, Repository, Site } from '../model.ts';
import { instant } from './account.ts';
import { repositoryUrl } from './repository.ts';

const mask = '********';

const lastOf = (site: Site, hookId: number): Delivery | undefined =>
  site.deliveries.findLast((delivery) => delivery.hookId === hookId);

export function hookJson(site: Site, repository: Repository, hook: Hook) {
  const url = `${repositoryUrl(site, repository)}/hooks/${hook.id}`;
  const last = lastOf(site, hook.id);
  return {
    type: 'Repository',
    id: hook.id,
    name: 'web',
    active: hook.active,
    events: hook.events,
    config: { url: hook.url, content_type: 'json', insecure_ssl: '0', secret: mask },
    updated_at: instant(hook.createdAt),
    created_at: instant(hook.createdAt),
    url,
    test_url: `${url}/test`,
    ping_url: `${url}/pings`,
    deliveries_url: `${url}/deliveries`,
    last_response:
      last === undefined
        ? { code: null, status: 'unused', message: null }
        : {
            code: last.statusCode,
            status: last.statusCode < 400 ? 'active' : 'failed',
            message: last.status,
          },
  };
}

export const appHookConfigJson = (url: string) => ({
  url,
  content_type: 'json',
  insecure_ssl: '0',
  secret: mask,
});

export const deliveryJson = (delivery: Delivery) => ({
  id: delivery.id,
  guid: delivery.guid,
  delivered_at: instant(delivery.at),
  redelivery: delivery.redelivery,
  duration: delivery.durationMs / 1_000,
  status: delivery.status,
  status_code: delivery.statusCode,
  event: delivery.event,
  action: delivery.action,
  installation_id: delivery.installationId,
  repository_id: delivery.repositoryId,
  throttled_at: null,
});

export const wholeDeliveryJson = (delivery: Delivery) => ({
  ...deliveryJson(delivery),
  url: delivery.url,
  request: { headers: delivery.headers, payload: JSON.parse(delivery.body) as object },
  response: { headers: {}, payload: null },
});

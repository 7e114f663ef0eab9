// A new site with nothing in it but its App and the App of its CI.

import { systemClock, type Clock } from '#base/clock.ts';
import type { Account, App, Edition, Permissions, Repository, Site } from './model.ts';
import { type AppHook, createAnnouncer } from './webhook.ts';

export const usualPermissions: Permissions = {
  actions: 'write',
  metadata: 'read',
  administration: 'read',
  checks: 'write',
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  repository_hooks: 'read',
  statuses: 'write',
  workflows: 'write',
};

const usualEvents: readonly string[] = [
  'check_run',
  'check_suite',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'pull_request_review_thread',
  'push',
  'status',
];

export type SiteOptions = {
  readonly url: string;
  readonly appHook: AppHook;
  readonly edition: Edition;
  readonly root: string;
  readonly clock?: Clock | undefined;
  readonly permissions?: Permissions | undefined;
  readonly events?: readonly string[] | undefined;
  readonly mergeabilityMs?: number | undefined;
  /** False: it has to be registered from a manifest first. Default true. */
  readonly isAppRegistered?: boolean | undefined;
};

export type Background = { readonly settled: () => Promise<void> };

export function createSite(options: SiteOptions): { readonly site: Site; readonly background: Background } {
  const { url, edition, root, clock = systemClock } = options;
  let lastId = 1_000;
  const nextId = () => (lastId += 1);
  const accounts = new Map<string, Account>();
  const failures: string[] = [];
  const running = new Set<Promise<unknown>>();
  const app = newApp(nextId, clock, accounts, 'signalbox', options);
  const ciApp = newApp(nextId, clock, accounts, 'github-actions', {
    permissions: { checks: 'write', statuses: 'write' },
    events: [],
  });
  const site: Site = {
    url,
    apiUrl: edition === 'api.github.com' ? url : `${url}/api/v3`,
    edition,
    clock,
    root,
    app,
    registration: { isRegistered: options.isAppRegistered ?? true, codes: new Map(), setupUrl: null },
    ciApp,
    apps: [app, ciApp],
    accounts,
    tokens: new Map(),
    installations: [],
    repositories: new Map(),
    deliveries: [],
    nextId,
    inTurn: turns(),
    inBackground: (work) => {
      const watched = work
        .catch((error: unknown) =>
          failures.push(error instanceof Error ? (error.stack ?? '') : String(error)),
        )
        .finally(() => running.delete(watched));
      running.add(watched);
    },
    announce: (...told) => announce(...told),
    mergeabilityMs: options.mergeabilityMs ?? 50,
    pushListeners: [],
    failures,
  };
  const announce = createAnnouncer(site, options.appHook);
  const settled = async () => {
    while (running.size > 0) await Promise.all(running);
  };
  return { site, background: { settled } };
}

export function newApp(
  nextId: () => number,
  clock: Clock,
  accounts: Map<string, Account>,
  slug: string,
  { permissions, events }: Pick<SiteOptions, 'permissions' | 'events'>,
): App {
  const owner = newAccount(nextId, accounts, `${slug}-makers`, 'Organization');
  const bot = newAccount(nextId, accounts, `${slug}[bot]`, 'Bot');
  const id = nextId();
  return {
    id,
    slug,
    name: slug,
    clientId: `Iv23li${String(id).padStart(14, '0')}`,
    owner,
    bot,
    permissions: permissions ?? usualPermissions,
    events: events ?? usualEvents,
    createdAt: clock.now(),
  };
}

export function newAccount(
  nextId: () => number,
  accounts: Map<string, Account>,
  login: string,
  type: Account['type'],
  name = login,
): Account {
  const id = nextId();
  const local = login.replaceAll(/[^\w-]+/g, '-');
  const account: Account = { id, login, type, name, email: `${id}+${local}@users.noreply.github.com` };
  accounts.set(login.toLowerCase(), account);
  return account;
}

/** One after the other, per repository. */
function turns(): Site['inTurn'] {
  const last = new Map<Repository, Promise<unknown>>();
  return async (repository, work) => {
    const turn = (last.get(repository) ?? Promise.resolve()).then(work, work);
    const quiet = turn.catch(() => undefined);
    last.set(repository, quiet);
    return turn;
  };
}

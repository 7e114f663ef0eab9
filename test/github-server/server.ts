// A GitHub for tests: a real HTTP server with state, over real bare git repositories. Every answer and every webhook is held
// against GitHub's own published description; one that does not fit is answered with 500 and makes `stop` throw.
//
//   const github = await startGithubServer();
//   await github.newRepository('acme/widgets');
//   const { number } = await github.openPullRequest('acme/widgets', { branch: 'x', files: { 'x.txt': 'x' } });
//
// The API is at `apiUrl` (under /api/v3 as on an Enterprise Server, which is what `edition` chooses by default) and also
// without that prefix as on github.com; git is at `<url>/<owner>/<name>.git`.

import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Control, createControl } from './control.ts';
import { createFaults, type Fault } from './fault.ts';
import { createLimiter, type Limits } from './limit.ts';
import { type CallRecord, listen } from './listen.ts';
import type { Delivery, Edition, Permissions } from './model.ts';
import type { Tools } from './respond.ts';
import { routerOf } from './route.ts';
import { actionRoutes } from './route/action.ts';
import { appRoutes } from './route/app.ts';
import { checkRoutes } from './route/check.ts';
import { contentRoutes } from './route/content.ts';
import { graphqlRoutes } from './route/graphql.ts';
import { issueRoutes } from './route/issue.ts';
import { pullRoutes } from './route/pull.ts';
import { repositoryRoutes } from './route/repository.ts';
import { createSite, type SiteOptions } from './site.ts';
import { conversionRoute } from './registration.ts';
import { ensureAccount, installOn } from './stage.ts';
import { prepareDescriptions } from './validate.ts';
import type { AppHook } from './webhook.ts';

export type GithubServerOptions = Pick<
  SiteOptions,
  'clock' | 'permissions' | 'events' | 'mergeabilityMs' | 'isAppRegistered'
> & {
  /** What the addresses in answers and the webhooks are like. Default: an Enterprise Server. */
  readonly edition?: Edition;
  /** The organization that the App is installed on. Default `acme`. */
  readonly owner?: string;
  /** Where the App's webhooks go; can be set later. */
  readonly webhookUrl?: string;
  readonly limits?: Partial<Limits>;
};

export type GithubServer = Control & {
  /** For people and git. */
  readonly url: string;
  readonly apiUrl: string;
  readonly appId: number;
  readonly appSlug: string;
  /** PEM. */
  readonly privateKey: string;
  readonly installationId: number;
  readonly webhookSecret: string;
  readonly webhookUrl: () => string | null;
  /** The App's webhook: where it goes (null: nowhere), and whether it is told at all. */
  readonly setWebhook: (change: Partial<AppHook>) => void;
  /** What the App may do from its next token on. */
  readonly setPermissions: (permissions: Permissions) => void;
  readonly setLimits: (limits: Partial<Limits>) => void;
  /** How much content the API has created since the start, as the limits count it. */
  readonly contentCreated: () => number;
  readonly fail: (fault: Fault) => void;
  /** No more faults. */
  readonly heal: () => void;
  /** Requests since the start, or since `forgetCalls`. */
  readonly calls: () => readonly CallRecord[];
  /** How often each operation of the API was called; 304s are not counted. */
  readonly callCounts: () => Readonly<Record<string, number>>;
  readonly forgetCalls: () => void;
  readonly deliveries: () => readonly Delivery[];
  /** What was not as GitHub describes it. */
  readonly failures: () => readonly string[];
  /** Changes answers before they are checked: to see that the check works. */
  readonly tamper: (alter: Tools['tamper']['alter']) => void;
  /** When nothing goes on in the background: webhooks, mergeability, `onPush`. */
  readonly settled: () => Promise<void>;
  /** Throws if anything was not as GitHub describes it. */
  readonly stop: () => Promise<void>;
};

const routesOf = (privateKey: string) => [
  conversionRoute(privateKey),
  ...actionRoutes,
  ...appRoutes,
  ...pullRoutes,
  ...issueRoutes,
  ...checkRoutes,
  ...contentRoutes,
  ...repositoryRoutes,
  ...graphqlRoutes,
];

/** The operations that the server has, by GitHub's description. */
export const operations: readonly string[] = routesOf('')
  .filter(({ isUndescribed }) => isUndescribed !== true)
  .map(({ operation }) => operation);

/** Made once in a process: it takes a while. */
let keys: { readonly publicKey: string; readonly privateKey: string } | null = null;

export async function startGithubServer(options: GithubServerOptions = {}): Promise<GithubServer> {
  keys ??= generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const { edition = 'ghes-3.19' } = options;
  prepareDescriptions(edition);
  const root = await mkdtemp(join(tmpdir(), 'signalbox-github-'));
  const faults = createFaults();
  const appHook: AppHook = {
    url: options.webhookUrl ?? null,
    secret: randomBytes(16).toString('hex'),
    mode: 'on',
  };
  const listener = await listen({ faults, find: routerOf(routesOf(keys.privateKey)), tools: () => tools });
  const url = `http://127.0.0.1:${listener.port}`;
  const { site, background } = createSite({
    ...options,
    url,
    root,
    appHook,
    edition,
  });
  const limiter = createLimiter(site.clock, edition);
  limiter.set(options.limits ?? {});
  const tools: Tools = {
    site,
    key: createPublicKey(keys.publicKey),
    appHook,
    limiter,
    tamper: { alter: null },
  };
  const owner = options.owner ?? 'acme';
  const installation = site.registration.isRegistered ? installOn(site, owner) : null;
  ensureAccount(site, owner, 'Organization');

  return {
    ...createControl(site, appHook),
    url,
    apiUrl: site.apiUrl,
    appId: site.app.id,
    get appSlug() {
      return site.app.slug;
    },
    privateKey: keys.privateKey,
    get installationId() {
      return installation?.id ?? site.installations[0]!.id;
    },
    get webhookSecret() {
      return appHook.secret;
    },
    webhookUrl: () => appHook.url,
    setWebhook: (change) => void Object.assign(appHook, change),
    setPermissions: (permissions) => {
      site.app.permissions = permissions;
    },
    setLimits: limiter.set,
    contentCreated: limiter.contentCreated,
    fail: faults.add,
    heal: faults.clear,
    calls: () => [...listener.calls],
    callCounts: () => countsOf(listener.calls),
    forgetCalls: () => void listener.calls.splice(0),
    deliveries: () => [...site.deliveries],
    failures: () => [...site.failures],
    tamper: (alter) => {
      tools.tamper.alter = alter;
    },
    settled: background.settled,
    stop: async () => {
      await background.settled();
      await listener.close();
      await rm(root, { recursive: true, force: true });
      if (site.failures.length > 0)
        throw new Error(`The GitHub server was not as GitHub describes it:\n${site.failures.join('\n')}`);
    },
  };
}

function countsOf(calls: readonly CallRecord[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind, operation, status } of calls)
    if (kind === 'api' && status !== 304) counts[operation] = (counts[operation] ?? 0) + 1;
  return counts;
}

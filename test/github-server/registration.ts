// Registering an App from a manifest, and installing it: pages for people, and the call that answers with the App's key.
// GitHub docs, "Registering a GitHub App from a manifest", "About the setup URL", "Making a GitHub App public or private".
//
// Every visitor of these pages counts as signed in, as an owner of the account.

import { randomBytes } from 'node:crypto';
import { created, notFound, refused } from './answer.ts';
import { appJson } from './json/account.ts';
import type { Permissions, Site } from './model.ts';
import type { Route } from './route.ts';
import { newAccount, usualPermissions } from './site.ts';
import { ensureAccount, installOn } from './stage.ts';
import type { AppHook } from './webhook.ts';

/** The fields that a manifest may have; any other is a mistake in the manifest. */
type Manifest = {
  readonly name?: string;
  readonly url?: string;
  readonly hook_attributes?: { readonly url?: string; readonly active?: boolean };
  readonly redirect_url?: string;
  readonly callback_urls?: readonly string[];
  readonly setup_url?: string;
  readonly description?: string;
  readonly public?: boolean;
  readonly default_events?: readonly string[];
  readonly default_permissions?: Permissions;
  readonly request_oauth_on_install?: boolean;
  readonly setup_on_update?: boolean;
};

const manifestNames: ReadonlySet<string> = new Set<keyof Manifest>([
  'name',
  'url',
  'hook_attributes',
  'redirect_url',
  'callback_urls',
  'setup_url',
  'description',
  'public',
  'default_events',
  'default_permissions',
  'request_oauth_on_install',
  'setup_on_update',
]);

const permissionNames: ReadonlySet<string> = new Set(Object.keys(usualPermissions));

/** Those that an App can subscribe to with the permissions that it has (GitHub docs, "Webhook events and payloads"). */
const eventPermissions: Readonly<Record<string, string>> = {
  check_run: 'checks',
  check_suite: 'checks',
  issue_comment: 'issues',
  pull_request: 'pull_requests',
  pull_request_review: 'pull_requests',
  pull_request_review_thread: 'pull_requests',
  push: 'contents',
  repository: 'metadata',
  status: 'statuses',
};

/** Longest name of an App. */
const nameMax = 34;
const codeMs = 3_600_000;

const isUrl = (text: string | undefined): boolean => text !== undefined && /^https?:\/\/[^\s]+$/.test(text);

/** What GitHub would not accept; null: nothing. */
function objectionTo(site: Site, manifest: Manifest): string | null {
  const unknown = Object.keys(manifest).filter((name) => !manifestNames.has(name));
  if (unknown.length > 0) return `unknown in a manifest: ${unknown.join(', ')}`;
  const { name = 'x', url, hook_attributes: hook, redirect_url: back, setup_url: setup } = manifest;
  const { default_permissions: permissions = {}, default_events: events = [] } = manifest;
  if (name.length > nameMax) return `Name is too long (maximum is ${nameMax} characters)`;
  if (!isUrl(url)) return 'url is missing';
  if (!isUrl(back)) return 'redirect_url is missing';
  if (setup !== undefined && !isUrl(setup)) return 'setup_url is no URL';
  if (hook !== undefined && !isUrl(hook.url)) return 'Hook url is missing';
  const isLoopback = /^https?:\/\/(localhost|127\.|\[::1\])/.test(hook?.url ?? '');
  if (isLoopback && site.edition === 'api.github.com')
    return "Hook url is not supported because it isn't reachable over the public Internet";
  const strange = Object.keys(permissions).filter((permission) => !permissionNames.has(permission));
  if (strange.length > 0) return `Default permission records resource is not included: ${strange.join(', ')}`;
  const unsupported = events.filter((event) => permissions[eventPermissions[event] ?? ''] === undefined);
  return unsupported.length === 0 ? null : `Default events unsupported: ${unsupported.join(', ')}`;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (found) => escapes[found]!);

export type PageAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const htmlPage = (status: number, title: string, content: string): PageAnswer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<!doctype html><html lang="en"><title>${escapeHtml(title)}</title><h1>${escapeHtml(title)}</h1>${content}</html>`,
});

const redirect = (to: URL): PageAnswer => ({ status: 302, headers: { location: to.href }, body: '' });

function withQuery(url: string, values: Readonly<Record<string, string>>): URL {
  const target = new URL(url);
  for (const [name, value] of Object.entries(values)) target.searchParams.set(name, value);
  return target;
}

export type PageCall = {
  readonly site: Site;
  readonly appHook: AppHook;
  readonly method: string;
  readonly url: URL;
  readonly body: Buffer;
};

const newAppPath = /^(?:\/organizations\/(?<owner>[^/]+))?\/settings\/apps\/new$/;

/** Null: it is no page of these. */
export function servePage(call: PageCall): PageAnswer | null {
  const { site, method, url } = call;
  const found = newAppPath.exec(url.pathname);
  if (found !== null) {
    const owner = found.groups?.['owner'];
    if (method !== 'POST') return null;
    if (owner !== undefined && site.accounts.get(owner.toLowerCase())?.type !== 'Organization')
      return htmlPage(404, 'Page not found', '');
    return new URLSearchParams(call.body.toString()).has('name')
      ? register(call, owner ?? 'octocat')
      : askForName(call, owner ?? 'your account');
  }
  if (url.pathname === new URL(installUrl(site)).pathname && site.registration.isRegistered)
    return method === 'POST' ? install(site) : askToInstall(site);
  return null;
}

const manifestIn = ({ body }: PageCall): Manifest =>
  JSON.parse(new URLSearchParams(body.toString()).get('manifest') ?? '{}') as Manifest;

/** The person may change the name, and nothing else. */
function askForName(call: PageCall, owner: string): PageAnswer {
  const manifest = manifestIn(call);
  const wrong = objectionTo(call.site, manifest);
  if (wrong !== null) return htmlPage(422, 'The manifest is invalid', `<p>${escapeHtml(wrong)}</p>`);
  return htmlPage(
    200,
    `Create GitHub App for ${owner}`,
    `<form method="post"><label>GitHub App name <input name="name" value="${escapeHtml(manifest.name ?? '')}"></label>` +
      `<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(manifest))}">` +
      `<button>Create GitHub App for ${escapeHtml(owner)}</button></form>`,
  );
}

function register(call: PageCall, owner: string): PageAnswer {
  const { site, appHook, url, body } = call;
  const manifest = manifestIn(call);
  if (objectionTo(site, manifest) !== null || site.registration.isRegistered)
    return htmlPage(422, 'The App could not be created', '');
  const name = new URLSearchParams(body.toString()).get('name')!;
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  Object.assign(site.app, {
    slug,
    name,
    owner: ensureAccount(site, owner, owner === 'octocat' ? 'User' : 'Organization'),
    bot: newAccount(site.nextId, site.accounts, `${slug}[bot]`, 'Bot'),
    permissions: { metadata: 'read', ...manifest.default_permissions },
    events: manifest.default_events ?? [],
  });
  const { hook_attributes: hook } = manifest;
  appHook.url = hook === undefined || hook.active === false ? null : hook.url!;
  appHook.secret = randomBytes(16).toString('hex');
  const { registration } = site;
  registration.isRegistered = true;
  registration.setupUrl = manifest.setup_url ?? null;
  const code = randomBytes(20).toString('hex');
  registration.codes.set(code, site.clock.now());
  const state = url.searchParams.get('state');
  return redirect(withQuery(manifest.redirect_url!, { code, ...(state === null ? {} : { state }) }));
}

const installUrl = (site: Site): string =>
  `${site.url}/${site.edition === 'api.github.com' ? 'apps' : 'github-apps'}/${site.app.slug}/installations/new`;

const askToInstall = ({ app }: Site): PageAnswer =>
  htmlPage(
    200,
    `Install ${app.name}`,
    `<p>on ${escapeHtml(app.owner.login)}</p><form method="post"><button>Install</button></form>`,
  );

/** A private App can be installed only on the account that owns it. */
function install(site: Site): PageAnswer {
  const { id } = installOn(site, site.app.owner.login);
  const { setupUrl } = site.registration;
  if (setupUrl === null) return htmlPage(200, 'Installed', '');
  return redirect(withQuery(setupUrl, { installation_id: String(id), setup_action: 'install' }));
}

/** The code works once, for an hour. */
export const conversionRoute = (privateKey: string): Route => ({
  operation: 'POST /app-manifests/{code}/conversions',
  handle: ({ site, appHook, params }) => {
    const { codes } = site.registration;
    const code = params['code']!;
    const givenAt = codes.get(code);
    codes.delete(code);
    if (givenAt === undefined) throw notFound();
    if (site.clock.now().getTime() - givenAt.getTime() > codeMs) return refused(404, 'Not Found');
    return created({
      ...appJson(site, site.app),
      client_secret: randomBytes(20).toString('hex'),
      webhook_secret: appHook.secret,
      pem: privateKey,
    });
  },
});

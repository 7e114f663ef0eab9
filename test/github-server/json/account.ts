// People, organizations and Apps, as GitHub writes them.

import type { Account, App, Installation, Site } from '../model.ts';

export const nodeId = (kind: string, id: number | string): string =>
  Buffer.from(`${kind}:${id}`).toString('base64');

export const instant = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');
export const maybeInstant = (date: Date | null): string | null => (date === null ? null : instant(date));

export function userJson(site: Site, { id, login, type }: Account) {
  const url = `${site.apiUrl}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id,
    node_id: nodeId('User', id),
    avatar_url: `${site.url}/avatars/u/${id}`,
    gravatar_id: '',
    url,
    html_url: `${site.url}/${encodeURIComponent(login)}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type,
    site_admin: false,
  };
}

/** As under /user and /users/{username}. */
export const publicUserJson = (site: Site, account: Account) => ({
  ...userJson(site, account),
  name: account.name,
  company: null,
  blog: '',
  location: null,
  email: account.email,
  hireable: null,
  bio: null,
  public_repos: 0,
  public_gists: 0,
  followers: 0,
  following: 0,
  created_at: '2020-01-01T00:00:00Z',
  updated_at: '2020-01-01T00:00:00Z',
});

export const organizationJson = (site: Site, { id, login }: Account) => {
  const url = `${site.apiUrl}/orgs/${login}`;
  return {
    login,
    id,
    node_id: nodeId('Organization', id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${site.url}/avatars/u/${id}`,
    description: null,
  };
};

export const appJson = (site: Site, app: App) => ({
  id: app.id,
  slug: app.slug,
  client_id: app.clientId,
  node_id: nodeId('App', app.id),
  owner: userJson(site, app.owner),
  name: app.name,
  description: null,
  external_url: 'https://signalbox.example/',
  html_url: `${site.url}/${site.edition === 'api.github.com' ? 'apps' : 'github-apps'}/${app.slug}`,
  created_at: instant(app.createdAt),
  updated_at: instant(app.createdAt),
  permissions: app.permissions,
  events: app.events,
});

export const installationJson = (site: Site, { id, app, account, createdAt }: Installation) => ({
  id,
  account: userJson(site, account),
  repository_selection: 'all',
  access_tokens_url: `${site.apiUrl}/app/installations/${id}/access_tokens`,
  repositories_url: `${site.apiUrl}/installation/repositories`,
  html_url: `${site.url}/organizations/${account.login}/settings/installations/${id}`,
  app_id: app.id,
  app_slug: app.slug,
  target_id: account.id,
  target_type: account.type,
  permissions: app.permissions,
  events: app.events,
  created_at: instant(createdAt),
  updated_at: instant(createdAt),
  single_file_name: null,
  suspended_by: null,
  suspended_at: null,
});

/** In the list GitHub's description wants an account to be a person and an enterprise at once. */
export function listedInstallationJson(site: Site, installation: Installation) {
  const json = installationJson(site, installation);
  const { login, name } = installation.account;
  const more = { name, slug: login, created_at: json.created_at, updated_at: json.created_at };
  return { ...json, account: { ...json.account, ...more } };
}

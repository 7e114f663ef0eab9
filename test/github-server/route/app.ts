// The App, its installations and its webhook; the server and whoever asks.

import { created, notFound, ok, refused } from '../answer.ts';
import { accessOfAccount, isInstalledOn, newToken } from '../auth.ts';
import {
  appJson,
  instant,
  installationJson,
  listedInstallationJson,
  publicUserJson,
} from '../json/account.ts';
import { appHookConfigJson, deliveryJson, wholeDeliveryJson } from '../json/hook.ts';
import { permissionsJson, repositoryJson } from '../json/repository.ts';
import { type Permissions, type Repository, type Site } from '../model.ts';
import { appRoute, type Call, fieldsOf, listed, numberOf, pageOf, type Route, userRoute } from '../route.ts';
import { redeliver } from '../webhook.ts';

const tokenMs = 3_600_000;

const repositoriesOf = ({ repositories }: Site, owner: number): readonly Repository[] =>
  [...repositories.values()].filter((repository) => repository.owner.id === owner);

const createAccessToken = appRoute('POST /app/installations/{installation_id}/access_tokens', (call) => {
  const { site } = call;
  const installation = site.installations.find(({ id }) => id === numberOf(call, 'installation_id'));
  if (installation === undefined) throw notFound();
  const wish = fieldsOf(call) as {
    readonly repositories?: readonly string[];
    readonly repository_ids?: readonly number[];
    readonly permissions?: Permissions;
  };
  const own = repositoriesOf(site, installation.account.id);
  const isNamed = wish.repositories !== undefined || wish.repository_ids !== undefined;
  const chosen = own.filter(
    ({ id, name }) =>
      wish.repositories?.includes(name) === true || wish.repository_ids?.includes(id) === true,
  );
  const asked = (wish.repositories?.length ?? 0) + (wish.repository_ids?.length ?? 0);
  if (isNamed && chosen.length !== asked)
    return refused(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    );
  const permissions = wish.permissions ?? installation.app.permissions;
  if (Object.keys(permissions).some((name) => installation.app.permissions[name] === undefined))
    return refused(422, 'The permissions requested are not granted to this installation.');
  const expiresAt = new Date(site.clock.now().getTime() + tokenMs);
  const repositoryIds = isNamed ? chosen.map(({ id }) => id) : null;
  const principal = { kind: 'installation', installation, permissions, repositoryIds } as const;
  return created({
    token: newToken(site, principal, 'ghs', expiresAt),
    expires_at: instant(expiresAt),
    permissions,
    repository_selection: isNamed ? 'selected' : 'all',
    ...(isNamed ? { repositories: chosen.map((repository) => repositoryJson(site, repository)) } : {}),
  });
});

const installationRoutes: readonly Route[] = [
  appRoute('GET /app', ({ site, app }) =>
    ok({ ...appJson(site, app), installations_count: site.installations.length }),
  ),
  appRoute('GET /app/installations', (call) =>
    listed(call, call.site.installations, (one) => listedInstallationJson(call.site, one)),
  ),
  createAccessToken,
  appRoute('GET /app/installations/{installation_id}', (call) => {
    const found = call.site.installations.find(({ id }) => id === numberOf(call, 'installation_id'));
    if (found === undefined) throw notFound();
    return ok(installationJson(call.site, found));
  }),
  appRoute('GET /repos/{owner}/{repo}/installation', ({ site, params: { owner, repo } }) => {
    const repository = site.repositories.get(`${owner}/${repo}`.toLowerCase());
    const found = site.installations.find(({ account }) => account === repository?.owner);
    if (found === undefined) throw notFound();
    return ok(installationJson(site, found));
  }),
  {
    operation: 'GET /installation/repositories',
    handle: (call) => {
      const { site, principal } = call;
      if (principal.kind !== 'installation') return refused(403, 'Resource not accessible by integration');
      const all = [...site.repositories.values()].filter((one) => isInstalledOn(principal, one));
      const { items, headers } = pageOf(call, all);
      const repositories = items.map((repository) => ({
        ...repositoryJson(site, repository),
        permissions: permissionsJson('none'),
      }));
      return { ...ok({ total_count: all.length, repositories }), headers };
    },
  },
];

/** Deliveries of the App are paged by a cursor, the newest first. */
function deliveriesOf(call: Call) {
  const { site, query, address } = call;
  const failed = query.get('status') === 'failure';
  const size = Math.min(100, Number(query.get('per_page') ?? 30));
  const cursor = Number(query.get('cursor') ?? Number.MAX_SAFE_INTEGER);
  const all = site.deliveries
    .filter(({ hookId, id }) => hookId === null && id < cursor)
    .filter(({ statusCode }) => !failed || statusCode < 200 || statusCode >= 400)
    .toReversed();
  const items = all.slice(0, size);
  const next =
    all.length > size ? { link: `<${address}?per_page=${size}&cursor=${items.at(-1)!.id}>; rel="next"` } : {};
  return { ...ok(items.map(deliveryJson)), headers: next };
}

const findDelivery = (call: Call) => {
  const found = call.site.deliveries.find(({ id }) => id === numberOf(call, 'delivery_id'));
  if (found === undefined) throw notFound();
  return found;
};

const hookRoutes: readonly Route[] = [
  appRoute('GET /app/hook/config', ({ appHook }) =>
    appHook.url === null ? refused(404, 'Not Found') : ok(appHookConfigJson(appHook.url)),
  ),
  // GitHub REST docs, "Update a webhook configuration for an app": what is not named stays as it is.
  appRoute('PATCH /app/hook/config', (call) => {
    const { appHook } = call;
    if (appHook.url === null) return refused(404, 'Not Found');
    const { url = appHook.url, secret = appHook.secret } = fieldsOf(call) as {
      readonly url?: string;
      readonly secret?: string;
    };
    Object.assign(appHook, { url, secret });
    return ok(appHookConfigJson(url));
  }),
  appRoute('POST /app/hook/deliveries/{delivery_id}/attempts', (call) => {
    redeliver(call.site, findDelivery(call));
    return { status: 202, body: {} };
  }),
  appRoute('GET /app/hook/deliveries/{delivery_id}', (call) => ok(wholeDeliveryJson(findDelivery(call)))),
  appRoute('GET /app/hook/deliveries', deliveriesOf),
];

const serverRoutes: readonly Route[] = [
  {
    operation: 'GET /meta',
    handle: ({ site }) =>
      ok({
        verifiable_password_authentication: false,
        ...(site.edition === 'api.github.com' ? {} : { installed_version: enterpriseVersion }),
      }),
  },
  { operation: 'GET /versions', handle: () => ok(['2022-11-28', '2026-03-10']) },
  {
    operation: 'GET /rate_limit',
    isFree: true,
    handle: ({ limiter, principal }) => {
      const rate = limiter.usage(principal);
      return ok({ resources: { core: rate, search: rate }, rate });
    },
  },
  userRoute('GET /user/repos', (call) => {
    const { site, account } = call;
    const own = [...site.repositories.values()].filter(
      (repository) => accessOfAccount(repository, account) !== 'none',
    );
    return listed(call, own, (repository) => ({
      ...repositoryJson(site, repository),
      permissions: permissionsJson(accessOfAccount(repository, account)),
    }));
  }),
  userRoute('GET /user', ({ site, account }) => ok(publicUserJson(site, account))),
  {
    operation: 'GET /users/{username}',
    handle: ({ site, params }) => {
      const account = site.accounts.get(params['username']!.toLowerCase());
      if (account === undefined) throw notFound();
      return ok(publicUserJson(site, account));
    },
  },
];

/** What an Enterprise Server says of itself. */
export const enterpriseVersion = '3.19.2';

export const appRoutes: readonly Route[] = [...installationRoutes, ...hookRoutes, ...serverRoutes];

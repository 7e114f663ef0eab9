// What an App with its installations, or the token of an account, is good for.

import type { RegisteredApp } from '../../app-registration.ts';
import { type HostAccess, listReached } from '../../host-access.ts';
import { HostError } from '../../host.ts';
import { listMissing } from './app-permission.ts';
import { installUrlOf } from './app-registration.ts';
import type { GithubClient } from '../client/client.ts';
import {
  InstalledRepositories,
  type Installation,
  Installations,
  ListedRepositories,
  RegisteredApp as RegisteredAppAnswer,
} from '../schema.ts';
import { readVersion } from './inspect.ts';

export async function readAccess(clients: readonly GithubClient[]): Promise<HostAccess> {
  const [first] = clients;
  if (first!.auth.appId === null)
    return {
      version: await readVersion(first!),
      account: await first!.login(),
      missing: [],
      repositories: listReached(await readReached(first!)),
      app: null,
    };
  const { slug, used, app } = await readApp(clients);
  const isInstalled = first!.auth.installationId !== null;
  // An installation that does not exist fails here: it gets no token.
  const found = isInstalled ? await Promise.all(clients.map(readReached)) : [];
  const lacks = new Set(used.flatMap(({ permissions }) => listMissing(permissions)));
  return {
    version: isInstalled ? await readVersion(first!) : 'GitHub',
    account: slug,
    missing: isInstalled ? [...lacks] : ['The App is not installed on any account yet. Install it.'],
    repositories: listReached(found.flat()),
    app,
  };
}

/** GitHub REST docs, "Get the authenticated app" and "List installations for the authenticated app". */
async function readApp(clients: readonly GithubClient[]): Promise<{
  readonly slug: string;
  readonly used: readonly Installation[];
  readonly app: RegisteredApp;
}> {
  const [first] = clients;
  const { appId } = first!.auth;
  const own = await first!.read('/app', {}, RegisteredAppAnswer, { as: 'app' });
  if (own === null) throw new HostError('forbidden', `GitHub has no App with the number ${appId}.`);
  const { url } = first!.connection;
  if (new URL(own.html_url).origin !== new URL(url).origin)
    throw new HostError('unavailable', `The page of the App is at ${own.html_url}, and not at ${url}.`);
  const ids = new Set(clients.map(({ auth }) => auth.installationId));
  const all = [];
  for await (const page of first!.readPages('/app/installations', {}, Installations, { as: 'app' }))
    all.push(...page);
  const installations = all.map(({ id, account }) => ({
    id,
    account: account?.login ?? '',
    isOwn: account?.id === own.owner.id,
    isUsed: ids.has(id),
  }));
  return {
    slug: own.slug,
    used: all.filter(({ id }) => ids.has(id)),
    app: { installUrl: installUrlOf(own.html_url), installations },
  };
}

/** GitHub REST docs, "List repositories accessible to the app installation" and "List repositories for the authenticated user". */
async function readReached({ auth, readPages }: GithubClient) {
  const found = [];
  if (auth.appId === null) {
    for await (const page of readPages('/user/repos', {}, ListedRepositories))
      found.push(...page.filter(({ permissions }) => permissions?.push === true));
  } else {
    for await (const { repositories } of readPages('/installation/repositories', {}, InstalledRepositories))
      found.push(...repositories);
  }
  return found.filter(({ archived }) => archived !== true);
}

// What an App with its installations, or the token of an account, is good for.

import { type HostAccess, listReached } from '../../host-access.ts';
import type { GithubClient } from '../client/client.ts';
import { InstalledRepositories, Installation, ListedRepositories } from '../schema.ts';
import { readVersion } from './inspect.ts';

/** The permissions without which a queue cannot work, as GitHub shows them (GitHub docs, "Permissions required for GitHub Apps"). */
const needed = [
  ['checks', 'Checks', 'write'],
  ['contents', 'Contents', 'write'],
  ['issues', 'Issues', 'write'],
  ['pull_requests', 'Pull requests', 'write'],
  ['statuses', 'Commit statuses', 'read'],
] as const;

const asShown = { read: 'read-only', write: 'read and write' } as const;

export async function readAccess(clients: readonly GithubClient[]): Promise<HostAccess> {
  const [first] = clients;
  // An installation that does not exist fails here: it gets no token.
  const found = await Promise.all(clients.map(readReached));
  const installations = (await Promise.all(clients.map(readOwnInstallation))).filter((one) => one !== null);
  const lacks = new Set(installations.flatMap(({ permissions }) => listMissing(permissions)));
  return {
    version: await readVersion(first!),
    account: installations[0]?.app_slug ?? (await first!.login()),
    missing: [...lacks],
    repositories: listReached(found.flat()),
  };
}

/** Null: this is an account, not an App. */
const readOwnInstallation = ({ auth, read }: GithubClient): Promise<Installation | null> =>
  auth.installationId === null
    ? Promise.resolve(null)
    : read('/app/installations/{installation_id}', { installation_id: auth.installationId }, Installation, {
        as: 'app',
      });

const listMissing = (permissions: Installation['permissions']): readonly string[] =>
  needed
    .filter(([name, , access]) => permissions[name] !== 'write' && permissions[name] !== access)
    .map(
      ([, title, access]) =>
        `The App lacks the permission “${title}: ${asShown[access]}”. Add it under Permissions in the settings of the App, then accept it where the App is installed.`,
    );

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

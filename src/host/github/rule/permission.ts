// The permissions of people, and of Signalbox, in a repository.

import type { HostRepository, Permission } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { CollaboratorPermission, type Installation, GithubRepository } from '../schema.ts';

const permissions: ReadonlyMap<string, Permission> = new Map([
  ['admin', 'admin'],
  ['write', 'write'],
  ['read', 'read'],
]);

/** GitHub's roles between these count as the lower one. */
export async function readPermission(
  { read }: GithubClient,
  { owner, name: repo }: HostRepository,
  username: string,
): Promise<Permission> {
  const path = '/repos/{owner}/{repo}/collaborators/{username}/permission';
  const found = await read(path, { owner, repo, username }, CollaboratorPermission);
  return permissions.get(found?.permission ?? '') ?? 'none';
}

/** The permissions of an App, as a permission for people. */
export function permissionOfApp(permissions: Installation['permissions']): Permission {
  const { contents, pull_requests, administration } = permissions;
  if (contents === 'write' && pull_requests === 'write')
    return administration === 'write' ? 'admin' : 'write';
  return contents === undefined ? 'none' : 'read';
}

export const permissionOfAccount = ({ permissions }: Pick<GithubRepository, 'permissions'>): Permission =>
  permissions?.admin === true
    ? 'admin'
    : permissions?.push === true
      ? 'write'
      : permissions?.pull === true
        ? 'read'
        : 'none';

/** The permission of an account; an App has no role that classic protection exempts. */
export async function readOwnPermission(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
): Promise<Permission | null> {
  if (client.auth.appId !== null) return null;
  const found = await client.read('/repos/{owner}/{repo}', { owner, repo }, GithubRepository);
  return found && permissionOfAccount(found);
}

// What people may do in a repository, and we.

import type { HostRepository, Permission } from '../host.ts';
import type { Client } from './client.ts';
import { CollaboratorPermission, type Installation, type Repository } from './schema.ts';

const permissions: ReadonlyMap<string, Permission> = new Map([
  ['admin', 'admin'],
  ['write', 'write'],
  ['read', 'read'],
]);

/** GitHub's roles between these count as the lower one. */
export async function permissionOf(
  { read }: Client,
  { owner, name: repo }: HostRepository,
  username: string,
): Promise<Permission> {
  const path = '/repos/{owner}/{repo}/collaborators/{username}/permission';
  const found = await read(path, { owner, repo, username }, CollaboratorPermission);
  return permissions.get(found?.permission ?? '') ?? 'none';
}

/** What an App may do, in the words for people. */
export function permissionOfApp(permissions: Installation['permissions']): Permission {
  const { contents, pull_requests, administration } = permissions;
  if (contents === 'write' && pull_requests === 'write')
    return administration === 'write' ? 'admin' : 'write';
  return contents === undefined ? 'none' : 'read';
}

export const permissionOfAccount = ({ permissions }: Pick<Repository, 'permissions'>): Permission =>
  permissions?.admin === true
    ? 'admin'
    : permissions?.push === true
      ? 'write'
      : permissions?.pull === true
        ? 'read'
        : 'none';

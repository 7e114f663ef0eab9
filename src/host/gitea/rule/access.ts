// What the token of an account is good for.
//
// Gitea has no call that names the scopes of the token that asks. It checks them before it looks for the repository (Gitea
// routers/api/v1/api.go, tokenRequiresScopes): a write to one that cannot exist is answered with 403 if the scope is missing, and
// with 404 otherwise.

import type { OrganizationId } from '#base/id.ts';
import type { Host } from '../../host.ts';
import { listReached } from '../../host-access.ts';
import type { Client } from '../client/client.ts';
import type { VersionOf } from '../client/version.ts';
import { ListedRepository } from '../schema.ts';

/** No account can have this name (Gitea models/user/user.go, IsUsableUsername). */
const nowhere = '/repos/-/-';

const writes = [
  ['write:repository', `${nowhere}/statuses/0`],
  ['write:issue', `${nowhere}/issues`],
] as const;

export const createAccessReader =
  (client: Client, versionOf: VersionOf): Host['readAccess'] =>
  async (organizationId) => {
    // First: another program at this URL fails here, with a message that says so.
    const { name, number } = await versionOf(organizationId);
    const account = await client.ownLogin(organizationId);
    const lacks = await Promise.all(
      writes.map(async ([scope, path]) => ((await isRefused(client, organizationId, path)) ? [scope] : [])),
    );
    const scopes = [...(account === null ? ['read:user'] : []), ...lacks.flat()];
    const path = '/user/repos';
    const found = await client.list(organizationId, ListedRepository, { path, expect: [403] });
    return {
      version: `${name} ${number}`,
      account,
      missing: scopes.map(
        (scope) =>
          `The token lacks the scope ${scope}. Create another under Settings → Applications of the account, with read:user, write:repository and write:issue.`,
      ),
      repositories: listReached(
        found.filter(({ archived, permissions }) => !archived && permissions?.push === true),
      ),
      app: null,
    };
  };

async function isRefused(client: Client, organizationId: OrganizationId, path: string): Promise<boolean> {
  const { status } = await client.call(organizationId, {
    method: 'POST',
    path,
    body: {},
    expect: [403, 422],
  });
  return status === 403;
}

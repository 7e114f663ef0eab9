// How GitHub names an account in commits.

import { hourMs } from '#base/duration.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { CommitPerson, Host, HostRepository } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { readInstallation } from '../rule/inspect.ts';
import { NamedAccount } from '../schema.ts';

/** Accounts hardly ever change their names. */
const keptMs = hourMs;
const personsMax = 10_000;

export function createPersonReader(
  clientOf: (repository: HostRepository) => Promise<GithubClient>,
  now: () => number,
): Host['readPerson'] {
  const persons = createTtlCache<CommitPerson | null>({ ttlMs: keptMs, max: personsMax, now });
  return async (repository, login) => {
    const client = await clientOf(repository);
    const key = login === null ? '' : login.toLowerCase();
    return persons.load(`${client.connection.id} ${key}`, () => readPerson(client, repository, login));
  };
}

/**
 * The noreply address `<id>+<login>@users.noreply.github.com`, by which GitHub attributes a commit without
 * revealing an email address (GitHub docs, "Email addresses reference"). An App has one too, as the account
 * `<slug>[bot]` (GitHub REST docs, "Users", "Get a user"). On an Enterprise Server the domain is
 * `users.noreply.` and the name of the server.
 */
async function readPerson(
  client: GithubClient,
  repository: HostRepository,
  login: string | null,
): Promise<CommitPerson | null> {
  const username = login ?? (await ownLogin(client, repository));
  if (username === null || username === '') return null;
  const found = await client.read('/users/{username}', { username }, NamedAccount);
  if (found === null) return null;
  const domain = `users.noreply.${new URL(client.connection.url).hostname}`;
  return { name: found.name ?? found.login, email: `${found.id}+${found.login}@${domain}` };
}

async function ownLogin(client: GithubClient, repository: HostRepository): Promise<string | null> {
  if (client.auth.appId === null) return client.login();
  const installation = await readInstallation(client, repository);
  return installation === null ? null : `${installation.app_slug}[bot]`;
}

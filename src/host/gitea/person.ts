// How Gitea names an account in commits.

import type { Clock } from '#base/clock.ts';
import { createShelf } from '#base/shelf.ts';
import type { CommitPerson, Host } from '../host.ts';
import type { Client } from './client.ts';
import { NamedAccount } from './schema.ts';

/** Accounts hardly ever change their names. */
const keptMs = 60 * 60_000;
const personsMax = 10_000;

/**
 * The full name, or else the login, and the address that Gitea shows: the noreply one where the account keeps its own to
 * itself (Gitea services/convert/user.go). Commits that Gitea makes for an account carry the same two.
 */
export function createPersonReader(client: Client, clock: Clock): Host['readPerson'] {
  const persons = createShelf<CommitPerson | null>(() => clock.now().getTime(), keptMs, personsMax);
  return ({ organizationId }, login) =>
    persons.recall(`${organizationId} ${login?.toLowerCase() ?? ''}`, async () => {
      const path = login === null ? '/user' : `/users/${encodeURIComponent(login)}`;
      const answer = await client.call(organizationId, { path, expect: [403] });
      if (answer.status !== 200) return null;
      const { login: name, full_name: fullName, email } = client.parse(NamedAccount, answer.body);
      return email === '' ? null : { name: fullName || name, email };
    });
}

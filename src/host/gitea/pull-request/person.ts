// How Gitea names an account in commits.

import type { Clock } from '#base/clock.ts';
import { hourMs } from '#base/duration.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { CommitPerson, Host } from '../../host.ts';
import type { Client } from '../client/client.ts';
import { NamedAccount } from '../schema.ts';

/** Accounts hardly ever change their names. */
const keptMs = hourMs;
const personsMax = 10_000;

/**
 * The full name, or else the login, and the email address that Gitea shows: the noreply address if the
 * account hides its own (Gitea services/convert/user.go). Commits that Gitea creates for an account have the
 * same two.
 */
export function createPersonReader(client: Client, clock: Clock): Host['readPerson'] {
  const persons = createTtlCache<CommitPerson | null>({
    ttlMs: keptMs,
    max: personsMax,
    now: () => clock.now().getTime(),
  });
  return ({ organizationId }, login) =>
    persons.load(`${organizationId} ${login?.toLowerCase() ?? ''}`, async () => {
      const path = login === null ? '/user' : `/users/${encodeURIComponent(login)}`;
      const answer = await client.call(organizationId, { path, expect: [403] });
      if (answer.status !== 200) return null;
      const { login: name, full_name: fullName, email } = client.parse(NamedAccount, answer.body);
      return email === '' ? null : { name: fullName || name, email };
    });
}

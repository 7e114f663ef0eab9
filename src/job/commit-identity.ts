// Who is named in the commits that Signalbox makes. The committer is our own account at the Git host, by the name that the
// host has for it, or what SIGNALBOX_COMMITTER says; the author of a squash is the account that opened the pull request.
// Both are pinned with the first commits of an attempt, so that the same members give the same commits in every run, and
// what lands is what was tested.

import { type CommitIdentity, pinIdentities } from '#db/commit-identity-store.ts';
import type { QueueAtHost } from '#db/host-view.ts';
import type { MemberRecord } from '#db/run-store.ts';
import { withQueueLock } from '#db/transaction.ts';
import { ownIdentity } from '#git/candidate.ts';
import { HostError } from '#host/host.ts';
import type { Place } from './at-host.ts';
import type { TaskDeps } from './deps.ts';

type Identified = Pick<MemberRecord, 'number' | 'author' | 'identity'>;

/** The members, each with its identity; null stays where neither the host nor a setting names anybody. */
export async function identified<Member extends Identified>(
  { cell, committer: set }: Pick<TaskDeps, 'cell' | 'committer'>,
  { queue, repository }: Pick<QueueAtHost, 'queue' | 'repository'>,
  { host }: Pick<Place, 'host'>,
  members: readonly Member[],
): Promise<readonly Member[]> {
  const unknown = new Map(
    members.filter(({ identity }) => identity === null).map((one) => [one.number, one]),
  );
  if (unknown.size === 0) return members;
  const read = (login: string | null) =>
    host.readPerson(repository, login).catch((error: unknown) => {
      // An account that we may not read is one that we cannot name.
      if (error instanceof HostError && error.trouble === 'forbidden') return null;
      throw error;
    });
  const own = set ?? (await read(null));
  const wishes: { readonly number: number; readonly identity: CommitIdentity }[] = [];
  for (const { number, author: login } of unknown.values()) {
    const author = await read(login);
    if (own !== null || author !== null)
      wishes.push({ number, identity: { committer: own ?? ownIdentity, author } });
  }
  if (wishes.length === 0) return members;
  const pinned = await withQueueLock(cell, queue.id, (tx, lock) => pinIdentities(tx, lock, wishes));
  return members.map((member) => ({
    ...member,
    identity: member.identity ?? pinned.get(member.number) ?? null,
  }));
}

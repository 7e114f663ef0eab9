// The author and committer of commits that Signalbox creates. The committer is Signalbox's own account, as
// the Git host names it, or SIGNALBOX_COMMITTER; the author of a squash is the account that opened the pull
// request. Both are fixed with the first commits of an attempt, so that the same members give the same
// commits in every run, and the tested commits are those that land.

import { type CommitIdentity, pinIdentities } from '#db/run/commit-identity-store.ts';
import type { QueueAtHost } from '#db/host/host-view.ts';
import type { MemberRecord } from '#db/run/run-store.ts';
import { withQueueLock } from '#db/transaction.ts';
import { ownIdentity } from '#git/candidate/candidate.ts';
import { HostError } from '#host/host.ts';
import type { HostSession } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

type MemberWithIdentity = Pick<MemberRecord, 'number' | 'author' | 'identity'>;

/** The members, each with its identity; null if neither the host nor a setting gives a name. */
export async function identified<Member extends MemberWithIdentity>(
  { cell, committer: set }: Pick<TaskDeps, 'cell' | 'committer'>,
  { queue, repository }: Pick<QueueAtHost, 'queue' | 'repository'>,
  { host }: Pick<HostSession, 'host'>,
  members: readonly Member[],
): Promise<readonly Member[]> {
  const unknown = new Map(
    members.filter(({ identity }) => identity === null).map((one) => [one.number, one]),
  );
  if (unknown.size === 0) return members;
  const read = (login: string | null) =>
    host.readPerson(repository, login).catch((error: unknown) => {
      // An account that Signalbox may not read stays unnamed.
      if (error instanceof HostError && error.trouble === 'forbidden') return null;
      throw error;
    });
  const own = set ?? (await read(null));
  const identities: { readonly number: number; readonly identity: CommitIdentity }[] = [];
  for (const { number, author: login } of unknown.values()) {
    const author = await read(login);
    if (own !== null || author !== null)
      identities.push({ number, identity: { committer: own ?? ownIdentity, author } });
  }
  if (identities.length === 0) return members;
  const pinned = await withQueueLock(cell, queue.id, (tx, lock) => pinIdentities(tx, lock, identities));
  return members.map((member) => ({
    ...member,
    identity: member.identity ?? pinned.get(member.number) ?? null,
  }));
}

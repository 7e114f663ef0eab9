// Writes entry.commit_identity: who is named in the commits of an entry, for as long as its attempt lasts.

import type { QueueId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';

type Person = { readonly name: string; readonly email: string };

export type CommitIdentity = {
  readonly committer: Person;
  /** The account that opened the pull request, as its Git host names it in commits; null: the host does not. */
  readonly author: Person | null;
};

/** What was pinned in the attempt that the entry `e` is in now, or null. */
export const identityColumn = `case when (e.commit_identity ->> 'trip')::int = e.trip then e.commit_identity end`;

type PinnedRow = { pr_number: number; identity: CommitIdentity };

const updateIdentities = statement<[queueId: QueueId, wishes: string], PinnedRow>(`
  update entry e set commit_identity =
    coalesce(${identityColumn}, r.identity || jsonb_build_object('trip', e.trip))
  from jsonb_to_recordset($2) as r (number bigint, identity jsonb)
  where e.queue_id = $1 and e.pr_number = r.number
  returning e.pr_number, e.commit_identity as identity`);

/** Pins identities; answers with what is pinned, which another worker may have done before. */
export async function pinIdentities(
  tx: Tx,
  { queueId }: QueueLock,
  wishes: readonly { readonly number: number; readonly identity: CommitIdentity }[],
): Promise<ReadonlyMap<number, CommitIdentity>> {
  const rows = await updateIdentities(tx, queueId, JSON.stringify(wishes));
  return new Map(rows.map((row) => [row.pr_number, row.identity]));
}

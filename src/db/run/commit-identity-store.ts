// Writes queue_entry.commit_identity: the people named in the commits of an entry, for the time of its attempt.

import type { QueueId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { QueueLock } from '../transaction.ts';

type CommitUser = { readonly name: string; readonly email: string };

export type CommitIdentity = {
  readonly committer: CommitUser;
  /** The account that opened the pull request, as its Git host names it in commits; null: unknown. */
  readonly author: CommitUser | null;
};

/** The identity pinned in the current attempt of the entry `e`, or null. */
export const identityColumn = `case when (e.commit_identity ->> 'attempt')::int = e.attempt then e.commit_identity end`;

type PinnedRow = { pr_number: number; identity: CommitIdentity };

const updateIdentities = statement<[queueId: QueueId, identities: string], PinnedRow>(`
  update queue_entry e set commit_identity =
    coalesce(${identityColumn}, r.identity || jsonb_build_object('attempt', e.attempt))
  from jsonb_to_recordset($2) as r (number bigint, identity jsonb)
  where e.queue_id = $1 and e.pr_number = r.number
  returning e.pr_number, e.commit_identity as identity`);

/** Pins identities; returns the pinned ones, which another worker may have pinned before. */
export async function pinIdentities(
  tx: Tx,
  { queueId }: QueueLock,
  proposedIdentities: readonly { readonly number: number; readonly identity: CommitIdentity }[],
): Promise<ReadonlyMap<number, CommitIdentity>> {
  const rows = await updateIdentities(tx, queueId, JSON.stringify(proposedIdentities));
  return new Map(rows.map((row) => [row.pr_number, row.identity]));
}

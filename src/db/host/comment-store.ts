// Which comments were processed, and up to when comments and labels were synced.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

const insertProcessedComment = statement<[repositoryId: string, commentId: string], { comment_id: string }>(`
  insert into processed_comment (repository_id, comment_id) values ($1, $2) on conflict do nothing returning comment_id`);

/** False if the comment was processed before. */
export async function markCommentProcessed(
  tx: Tx,
  repositoryId: RepositoryId,
  commentId: string,
): Promise<boolean> {
  return (await insertProcessedComment(tx, repositoryId, commentId)).length > 0;
}

const deleteOld = statement<[before: Date]>('delete from processed_comment where processed_at < $1');

/** Comments this old are never read from the host again. */
export async function deleteOldProcessedComments(tx: Tx, before: Date): Promise<void> {
  await deleteOld(tx, before);
}

const selectReadAt = statement<[repositoryId: string], { comments_read_at: Date }>(
  'select comments_read_at from repository where id = $1',
);
const updateReadAt = statement<[repositoryId: string, at: Date]>(
  'update repository set comments_read_at = greatest(comments_read_at, $2) where id = $1',
);

/** Null: the repository does not exist any more. */
export async function findCommentsSyncedAt(db: Tx, repositoryId: RepositoryId): Promise<Date | null> {
  return (await selectReadAt(db, repositoryId))[0]?.comments_read_at ?? null;
}

export async function recordCommentsSynced(tx: Tx, repositoryId: RepositoryId, at: Date): Promise<void> {
  await updateReadAt(tx, repositoryId, at);
}

const insertNoAccessReply = statement<[repositoryId: string, pr: number], { pr_number: number }>(`
  insert into no_access_reply (repository_id, pr_number) values ($1, $2) on conflict do nothing returning pr_number`);
const deleteNoAccessReply = statement<[repositoryId: string, pr: number]>(
  'delete from no_access_reply where repository_id = $1 and pr_number = $2',
);
const deleteOldReplies = statement<[before: Date]>('delete from no_access_reply where replied_at < $1');

/** Whether to answer a person without write access on this pull request; true once per pull request. */
export async function claimNoAccessReply(tx: Tx, repositoryId: RepositoryId, pr: number): Promise<boolean> {
  return (await insertNoAccessReply(tx, repositoryId, pr)).length > 0;
}

/** The answer could not be posted: the next one may be. */
export async function releaseNoAccessReply(tx: Tx, repositoryId: RepositoryId, pr: number): Promise<void> {
  await deleteNoAccessReply(tx, repositoryId, pr);
}

export async function deleteOldNoAccessReplies(tx: Tx, before: Date): Promise<void> {
  await deleteOldReplies(tx, before);
}

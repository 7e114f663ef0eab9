// Which comments were heard, and up to when people's words were asked for.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

const insertHeard = statement<[repositoryId: string, commentId: string], { comment_id: string }>(`
  insert into heard_comment (repository_id, comment_id) values ($1, $2) on conflict do nothing returning comment_id`);

/** False if it was heard before. */
export async function hearComment(tx: Tx, repositoryId: RepositoryId, commentId: string): Promise<boolean> {
  return (await insertHeard(tx, repositoryId, commentId)).length > 0;
}

const deleteOld = statement<[before: Date]>('delete from heard_comment where heard_at < $1');

/** Far older ones are never told again. */
export async function forgetHeard(tx: Tx, before: Date): Promise<void> {
  await deleteOld(tx, before);
}

const selectReadAt = statement<[repositoryId: string], { words_read_at: Date }>(
  'select words_read_at from repository where id = $1',
);
const updateReadAt = statement<[repositoryId: string, at: Date]>(
  'update repository set words_read_at = greatest(words_read_at, $2) where id = $1',
);

export async function wordsReadAt(db: Tx, repositoryId: RepositoryId): Promise<Date> {
  return (await selectReadAt(db, repositoryId))[0]?.words_read_at ?? new Date();
}

export async function recordWordsRead(tx: Tx, repositoryId: RepositoryId, at: Date): Promise<void> {
  await updateReadAt(tx, repositoryId, at);
}

const insertStranger = statement<[repositoryId: string, pr: number], { pr_number: number }>(`
  insert into stranger_answer (repository_id, pr_number) values ($1, $2) on conflict do nothing returning pr_number`);
const deleteStranger = statement<[repositoryId: string, pr: number]>(
  'delete from stranger_answer where repository_id = $1 and pr_number = $2',
);
const deleteOldStrangers = statement<[before: Date]>('delete from stranger_answer where answered_at < $1');

/** Whether a person without write access may be answered on this pull request; that is so once. */
export async function claimStrangerAnswer(tx: Tx, repositoryId: RepositoryId, pr: number): Promise<boolean> {
  return (await insertStranger(tx, repositoryId, pr)).length > 0;
}

/** The answer could not be written: the next may be. */
export async function releaseStrangerAnswer(tx: Tx, repositoryId: RepositoryId, pr: number): Promise<void> {
  await deleteStranger(tx, repositoryId, pr);
}

export async function forgetStrangerAnswers(tx: Tx, before: Date): Promise<void> {
  await deleteOldStrangers(tx, before);
}

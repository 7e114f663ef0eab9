// Writes sandbox_comment.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

type Comment = {
  readonly id: string;
  readonly number: number;
  readonly author: string;
  readonly text: string;
};

type Row = { id: number; pr_number: number; author: string; body: string };

const columns = 'id, pr_number, author, body';

const commentOf = ({ id, pr_number, author, body }: Row): Comment => ({
  id: String(id),
  number: pr_number,
  author,
  text: body,
});

const insert = statement<[repositoryId: string, number: number, author: string, body: string], Row>(`
  insert into sandbox_comment (repository_id, pr_number, author, body) values ($1, $2, $3, $4) returning ${columns}`);

export async function insertSandboxComment(
  db: Tx,
  repositoryId: RepositoryId,
  { number, author, text }: Omit<Comment, 'id'>,
): Promise<Comment> {
  return commentOf((await insert(db, repositoryId, number, author, text))[0]!);
}

// Whatever a caller takes for an id is compared as text.
const update = statement<[repositoryId: string, number: number, id: string, body: string], Row>(`
  update sandbox_comment set body = $4, updated_at = now()
  where repository_id = $1 and pr_number = $2 and id::text = $3 returning ${columns}`);

/** False if there is none. */
export async function editSandboxComment(
  db: Tx,
  repositoryId: RepositoryId,
  { id, number, text }: Omit<Comment, 'author'>,
): Promise<boolean> {
  return (await update(db, repositoryId, number, id, text)).length > 0;
}

const remove = statement<[repositoryId: string, number: number, id: string]>(
  'delete from sandbox_comment where repository_id = $1 and pr_number = $2 and id::text = $3',
);

export const deleteSandboxComment = (
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  id: string,
): Promise<unknown> => remove(db, repositoryId, number, id);

const selectMarked = statement<[repositoryId: string, number: number, author: string, mark: string], Row>(`
  select ${columns} from sandbox_comment
  where repository_id = $1 and pr_number = $2 and author = $3 and position($4 in body) > 0 order by id limit 1`);

/** The first comment of the author that has the mark in it. */
export async function findMarkedSandboxComment(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  author: string,
  mark: string,
): Promise<string | null> {
  const [row] = await selectMarked(db, repositoryId, number, author, mark);
  return row === undefined ? null : String(row.id);
}

/** At most this many are shown at once. */
const pageMax = 500;

const selectOf = statement<[repositoryId: string, number: number, limit: number], Row>(`
  select ${columns} from sandbox_comment where repository_id = $1 and pr_number = $2 order by id limit $3`);

export async function listSandboxComments(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<readonly Comment[]> {
  return (await selectOf(db, repositoryId, number, pageMax)).map(commentOf);
}

const selectSince = statement<[repositoryId: string, since: Date, limit: number], Row>(`
  select ${columns} from sandbox_comment where repository_id = $1 and updated_at >= $2 order by updated_at, id limit $3`);

/** Those written or edited since, oldest first. */
export async function listSandboxCommentsSince(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
): Promise<readonly Comment[]> {
  return (await selectSince(db, repositoryId, since, pageMax)).map(commentOf);
}

// Writes sandbox_comment.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type SandboxComment = {
  readonly id: string;
  readonly number: number;
  readonly author: string;
  /** At most 64 KiB. */
  readonly text: string;
  readonly createdAt: Date;
  /** Later than `createdAt` where it was edited. */
  readonly updatedAt: Date;
};

type NewSandboxComment = Pick<SandboxComment, 'number' | 'author' | 'text'> & { readonly at: Date };

type SandboxCommentRow = {
  id: number;
  pr_number: number;
  author: string;
  body: string;
  created_at: Date;
  updated_at: Date;
};

const columns = 'id, pr_number, author, body, created_at, updated_at';

const toSandboxComment = (row: SandboxCommentRow): SandboxComment => ({
  id: String(row.id),
  number: row.pr_number,
  author: row.author,
  text: row.body,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const insert = statement<
  [repositoryId: string, number: number, author: string, body: string, at: Date],
  SandboxCommentRow
>(`
  insert into sandbox_comment (repository_id, pr_number, author, body, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $5) returning ${columns}`);

export async function insertSandboxComment(
  db: Tx,
  repositoryId: RepositoryId,
  { number, author, text, at }: NewSandboxComment,
): Promise<SandboxComment> {
  return toSandboxComment((await insert(db, repositoryId, number, author, text, at))[0]!);
}

// The id is compared as text, because a caller may send any text.
const update = statement<
  [repositoryId: string, number: number, id: string, body: string, at: Date],
  SandboxCommentRow
>(`
  update sandbox_comment set body = $4, updated_at = greatest($5, created_at + interval '1 millisecond')
  where repository_id = $1 and pr_number = $2 and id::text = $3 returning ${columns}`);

/** False if there is none. */
export async function editSandboxComment(
  db: Tx,
  repositoryId: RepositoryId,
  { id, number, text, at }: Omit<NewSandboxComment, 'author'> & { readonly id: string },
): Promise<boolean> {
  return (await update(db, repositoryId, number, id, text, at)).length > 0;
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

const selectMarked = statement<
  [repositoryId: string, number: number, author: string, mark: string],
  SandboxCommentRow
>(`
  select ${columns} from sandbox_comment
  where repository_id = $1 and pr_number = $2 and author = $3 and position($4 in body) > 0 order by id limit 1`);

/** The author's first comment that contains the mark. */
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

const selectOf = statement<[repositoryId: string, number: number, limit: number], SandboxCommentRow>(`
  select ${columns} from sandbox_comment where repository_id = $1 and pr_number = $2 order by id limit $3`);

export async function listSandboxComments(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<readonly SandboxComment[]> {
  return (await selectOf(db, repositoryId, number, pageMax)).map(toSandboxComment);
}

const selectSince = statement<[repositoryId: string, since: Date, limit: number], SandboxCommentRow>(`
  select ${columns} from sandbox_comment where repository_id = $1 and updated_at >= $2 order by updated_at, id limit $3`);

/** Comments written or edited since then, oldest first. */
export async function listSandboxCommentsSince(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
): Promise<readonly SandboxComment[]> {
  return (await selectSince(db, repositoryId, since, pageMax)).map(toSandboxComment);
}

// Writes sandbox_issue.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

type SandboxIssueText = {
  readonly title: string;
  readonly body: string;
  readonly isOpen: boolean;
  readonly at: Date;
};

// Two that are opened at once wait for each other at the repository's row.
const insertIssue = statement<
  [repositoryId: string, author: string, title: string, body: string, isOpen: boolean, at: Date],
  { number: number }
>(`
  with held as (select id from repository where id = $1 for update)
  insert into sandbox_issue (repository_id, number, author, title, body, is_open, created_at, updated_at)
  select held.id, coalesce((select max(i.number) from sandbox_issue i where i.repository_id = held.id), 0) + 1,
    $2, $3, $4, $5, $6, $6 from held returning number`);

export async function insertSandboxIssue(
  db: Tx,
  repositoryId: RepositoryId,
  { author, title, body, isOpen, at }: SandboxIssueText & { readonly author: string },
): Promise<number> {
  return (await insertIssue(db, repositoryId, author, title, body, isOpen, at))[0]!.number;
}

const updateIssue = statement<
  [repositoryId: string, number: number, title: string, body: string, isOpen: boolean, at: Date],
  { number: number }
>(`
  update sandbox_issue set title = $3, body = $4, is_open = $5, updated_at = $6
  where repository_id = $1 and number = $2 returning number`);

/** False: there is no such issue. */
export async function editSandboxIssue(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  { title, body, isOpen, at }: SandboxIssueText,
): Promise<boolean> {
  return (await updateIssue(db, repositoryId, number, title, body, isOpen, at)).length > 0;
}

const selectMarked = statement<[repositoryId: string, author: string, mark: string], { number: number }>(`
  select number from sandbox_issue where repository_id = $1 and author = $2 and strpos(body, $3) > 0
  order by number limit 1`);

/** The number of the issue with this text in it; null: there is none. */
export async function findMarkedSandboxIssue(
  db: Tx,
  repositoryId: RepositoryId,
  author: string,
  mark: string,
): Promise<number | null> {
  return (await selectMarked(db, repositoryId, author, mark))[0]?.number ?? null;
}

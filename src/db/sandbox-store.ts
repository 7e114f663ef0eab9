// Writes sandbox_pull_request.

import type { RepositoryId } from '#base/id.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

type Kept = Omit<PullRequest, 'url' | 'state'> & { readonly state: PullRequest['state'] | 'missing' };

type Row = {
  number: number;
  title: string;
  head_sha: string;
  base_branch: string;
  author: string;
  mergeability: string;
  draft: boolean;
  state: string;
};

const columns = 'number, title, head_sha, base_branch, author, mergeability, draft, state';

const keptOf = ({ head_sha: headSha, base_branch: baseBranch, ...row }: Row): Kept => ({
  ...row,
  headSha,
  baseBranch,
  mergeability: row.mergeability as Kept['mergeability'],
  state: row.state as Kept['state'],
});

export const sandboxSelectStatement = `select ${columns} from sandbox_pull_request where repository_id = $1 and number = $2`;

const select = statement<[repositoryId: string, number: number], Row>(sandboxSelectStatement);

export async function findSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<Kept | null> {
  const [row] = await select(db, repositoryId, number);
  return row === undefined ? null : keptOf(row);
}

type Values = [string, number, string, string, string, string, string, boolean, string];

const insert = statement<Values, Row>(`
  insert into sandbox_pull_request (repository_id, ${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (repository_id, number) do nothing returning ${columns}`);

const upsert = statement<Values, Row>(`
  insert into sandbox_pull_request (repository_id, ${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (repository_id, number) do update set title = excluded.title, head_sha = excluded.head_sha,
    base_branch = excluded.base_branch, author = excluded.author, mergeability = excluded.mergeability,
    draft = excluded.draft, state = excluded.state, updated_at = now()
  returning ${columns}`);

const valuesOf = (repositoryId: RepositoryId, kept: Kept): Values => [
  repositoryId,
  kept.number,
  kept.title,
  kept.headSha,
  kept.baseBranch,
  kept.author,
  kept.mergeability,
  kept.draft,
  kept.state,
];

/** Keeps it unless one of that number is kept already; returns the kept one. */
export async function insertSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  kept: Kept,
): Promise<Kept> {
  const [row] = await insert(db, ...valuesOf(repositoryId, kept));
  if (row !== undefined) return keptOf(row);
  return (await findSandboxPullRequest(db, repositoryId, kept.number))!;
}

export async function saveSandboxPullRequest(tx: Tx, repositoryId: RepositoryId, kept: Kept): Promise<Kept> {
  const [row] = await upsert(tx, ...valuesOf(repositoryId, kept));
  return keptOf(row!);
}

// Writes the rows of sandbox_pull_request that show branches of Signalbox.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

type NewSandboxTestPullRequest = {
  readonly branch: string;
  readonly headSha: string;
  readonly baseBranch: string;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly draft: boolean;
};

// In the sandbox, every number that a client names is an existing pull request. A test pull request therefore
// needs a number that no client names: a client that tries #1 and #2 never reaches a million. The number is
// the next above the largest stored one. Numbers above four billion come from clients that test the limits,
// and are ignored.
const numberMin = 1_000_000;
const numberMax = 4_000_000_000;

const selectOpen = statement<[repositoryId: string, branch: string], { number: number }>(`
  select number from sandbox_pull_request
  where repository_id = $1 and number between ${numberMin} and ${numberMax} and branch = $2 and state = 'open'`);

// A concurrent insert either reads the same rows, computes the same number and hits the conflict, or sees
// this row. disk_sha is the head already: the branch holds the commit, and no client fetches it by the
// number.
const insertOpen = statement<
  [
    repositoryId: string,
    branch: string,
    headSha: string,
    baseBranch: string,
    title: string,
    body: string,
    author: string,
    draft: boolean,
  ],
  { number: number }
>(`
  insert into sandbox_pull_request
    (repository_id, number, branch, head_sha, disk_sha, base_branch, title, body, author, draft, state)
  select $1, greatest(${numberMin}, (select max(number) + 1 from sandbox_pull_request
      where repository_id = $1 and number < ${numberMax})), $2, $3, $3, $4, $5, $6, $7, $8, 'open'
  where not exists (select from sandbox_pull_request
    where repository_id = $1 and number between ${numberMin} and ${numberMax} and branch = $2 and state = 'open')
  on conflict (repository_id, number) do nothing returning number`);

/** Null if the branch has an open one, or a concurrent insert was first. */
export async function insertSandboxTestPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  { branch, headSha, baseBranch, title, body, author, draft }: NewSandboxTestPullRequest,
): Promise<number | null> {
  const rows = await insertOpen(db, repositoryId, branch, headSha, baseBranch, title, body, author, draft);
  return rows[0]?.number ?? null;
}

export async function findSandboxTestPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  branch: string,
): Promise<number | null> {
  return (await selectOpen(db, repositoryId, branch))[0]?.number ?? null;
}

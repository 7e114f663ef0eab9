// Writes those rows of sandbox_pull_request that show test branches.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

type TestPullRequest = {
  readonly branch: string;
  readonly headSha: string;
  readonly baseBranch: string;
  readonly title: string;
  readonly body: string;
  readonly author: string;
};

// Any number that a client names is a pull request that is there, so that of a test pull request must be one that nobody
// names: those who try #1 and #2 never come to a million. It is the next above the largest kept; what lies above four
// billion was named by somebody who tries the limits, and is passed over.
const numberMin = 1_000_000;
const numberMax = 4_000_000_000;

const selectOpen = statement<[repositoryId: string, branch: string], { number: number }>(`
  select number from sandbox_pull_request
  where repository_id = $1 and number between ${numberMin} and ${numberMax} and branch = $2 and state = 'open'`);

// Whoever does this at the same time sees the same rows, so takes the same number, and one of them finds it taken; or it
// sees the row of the other. Its head is on disk: the branch has it, and nobody fetches it by the number.
const insertOpen = statement<
  [
    repositoryId: string,
    branch: string,
    headSha: string,
    baseBranch: string,
    title: string,
    body: string,
    author: string,
  ],
  { number: number }
>(`
  insert into sandbox_pull_request
    (repository_id, number, branch, head_sha, disk_sha, base_branch, title, body, author, draft, state)
  select $1, greatest(${numberMin}, (select max(number) + 1 from sandbox_pull_request
      where repository_id = $1 and number < ${numberMax})), $2, $3, $3, $4, $5, $6, $7, true, 'open'
  where not exists (select from sandbox_pull_request
    where repository_id = $1 and number between ${numberMin} and ${numberMax} and branch = $2 and state = 'open')
  on conflict (repository_id, number) do nothing returning number`);

/** Keeps a draft pull request for a branch that has none open; null if it has, or another was quicker. */
export async function insertSandboxTestPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  { branch, headSha, baseBranch, title, body, author }: TestPullRequest,
): Promise<number | null> {
  const rows = await insertOpen(db, repositoryId, branch, headSha, baseBranch, title, body, author);
  return rows[0]?.number ?? null;
}

export async function findSandboxTestPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  branch: string,
): Promise<number | null> {
  return (await selectOpen(db, repositoryId, branch))[0]?.number ?? null;
}

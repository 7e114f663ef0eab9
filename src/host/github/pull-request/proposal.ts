// A pull request of changed files, by the contents API: one commit for each file.
//
// The blob that is replaced is named: GitHub answers 409 if the file is another by now. Files in .github/workflows need the scope
// `workflow` of a token (GitHub REST docs, "Create or update file contents"), or the permission `workflows: write` of an App (GitHub
// docs, "Permissions required for GitHub Apps": an additional permission "if the request will affect workflow files"). Without it
// GitHub answers 403 or 404. A ruleset may refuse the branch or the commit with 409 or 422.

import type { HostRepository } from '../../host.ts';
import type { FileProposal, ProposalAnswer } from '../../proposal.ts';
import type { GithubClient } from '../client/client.ts';
import { Anything, GitRef, ListedPullRequests } from '../schema.ts';
import { openPullRequest } from './pull-request.ts';

const refusals = [403, 404, 409, 422];

export async function proposeFiles(
  client: GithubClient,
  repository: HostRepository,
  proposal: FileProposal,
): Promise<ProposalAnswer> {
  const { owner, name: repo } = repository;
  const { branch, baseBranch: base, title, body, files } = proposal;
  const list = { owner, repo, head: `${owner}:${branch}`, base, state: 'open' };
  const listed = await client.read('/repos/{owner}/{repo}/pulls', list, ListedPullRequests);
  const known = listed?.find(({ head }) => head.ref === branch);
  if (known !== undefined) return open(client, repository, known.number, false);
  const begun = await beginBranch(client, repository, proposal);
  if (begun !== null) return begun;
  for (const { path, text, sha } of files) {
    const content = Buffer.from(text).toString('base64');
    const parameters = { owner, repo, path, message: title, content, sha, branch };
    const route = 'PUT /repos/{owner}/{repo}/contents/{path}';
    const written = await client.attempt(route, parameters, Anything, refusals);
    if (written.kind === 'done') continue;
    const where = { owner, repo, ref: `heads/${branch}` };
    await client.attempt('DELETE /repos/{owner}/{repo}/git/refs/{ref}', where, Anything, refusals);
    return refused(written);
  }
  const opened = await openPullRequest(client, repository, { branch, baseBranch: base, title, body });
  return typeof opened === 'number'
    ? open(client, repository, opened, true)
    : { kind: 'refused', reason: `GitHub does not open a pull request for ${branch}: ${opened.refusal}` };
}

const refused = (answer: { readonly status: number; readonly message: string }): ProposalAnswer => ({
  kind: 'refused',
  reason: `GitHub answered with ${answer.status}: ${answer.message}`,
});

const open = (
  { connection }: GithubClient,
  { owner, name }: HostRepository,
  number: number,
  isNew: boolean,
): ProposalAnswer => ({
  kind: 'open',
  pullRequest: { number, url: `${connection.url}/${owner}/${name}/pull/${number}`, isNew },
});

/**
 * Sets the branch to the tip of its base; null: done. A branch of a pull request that was closed may still be there. Its commits
 * stay in refs/pull.
 */
async function beginBranch(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  { branch, baseBranch }: FileProposal,
): Promise<ProposalAnswer | null> {
  const tip = await client.read(
    '/repos/{owner}/{repo}/git/ref/{ref}',
    { owner, repo, ref: `heads/${baseBranch}` },
    GitRef,
  );
  if (tip === null) return { kind: 'refused', reason: `There is no branch ${baseBranch}.` };
  const { sha } = tip.object;
  const fresh = { owner, repo, ref: `refs/heads/${branch}`, sha };
  const created = await client.attempt('POST /repos/{owner}/{repo}/git/refs', fresh, Anything, refusals);
  if (created.kind === 'done') return null;
  // GitHub answers 422 for a branch that is there, as for one that a ruleset does not allow.
  const moved = { owner, repo, ref: `heads/${branch}`, sha, force: true };
  const route = 'PATCH /repos/{owner}/{repo}/git/refs/{ref}';
  const set = await client.attempt(route, moved, Anything, refusals, { isRepeatable: true });
  return set.kind === 'done' ? null : refused(created);
}

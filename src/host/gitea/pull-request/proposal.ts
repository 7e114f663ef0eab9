// A pull request of changed files, in one commit (Gitea routers/api/v1/repo/file.go, `ChangeFiles`): the call makes the branch, and
// refuses a file whose blob is another by now, and a branch that is there. That of a pull request that was closed is deleted
// before; its commits stay in refs/pull.

import { type Host, type HostRepository, HostError } from '../../host.ts';
import type { FileProposal, ProposalAnswer } from '../../proposal.ts';
import { type ApiAnswer, branchPath, type Client, repositoryPath } from '../client/client.ts';
import { findOpen, openPullRequest } from './pull-request.ts';

/** An archived repository answers with 423, a rule of the branch with 403. */
const refusals = [403, 409, 422, 423];

export const createProposals = (client: Client): Pick<Host, 'proposeFiles' | 'editorUrl'> => ({
  proposeFiles: async (repository, proposal) => {
    const { branch, baseBranch } = proposal;
    const page = await pageOf(client, repository);
    const open = (number: number, isNew: boolean): ProposalAnswer => ({
      kind: 'open',
      pullRequest: { number, url: `${page}/pulls/${number}`, isNew },
    });
    const known = await findOpen(client, repository, proposal);
    if (known !== null) return open(known, false);
    const { status, message } = await writeBranch(client, repository, proposal);
    if (status >= 300)
      return { kind: 'refused', reason: `${repository.host} answered with ${status}: ${message}` };
    const number = await openPullRequest(client, repository, proposal);
    if (number !== null) return open(number, true);
    throw new HostError('unavailable', `${repository.host} has no branch ${branch} or ${baseBranch}.`);
  },
  // Gitea routers/web/web.go, `/_edit/*`.
  editorUrl: async (repository, branch, path) =>
    `${await pageOf(client, repository)}/_edit/${branchPath(branch)}/${branchPath(path)}`,
});

async function pageOf(client: Client, { organizationId, owner, name }: HostRepository): Promise<string> {
  const { url } = await client.enter(organizationId);
  return `${url}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
}

async function writeBranch(
  client: Client,
  repository: HostRepository,
  { branch, baseBranch, title, files }: FileProposal,
): Promise<ApiAnswer> {
  const { organizationId } = repository;
  const path = repositoryPath(repository);
  const branchAt = `${path}/branches/${branchPath(branch)}`;
  await client.call(organizationId, { method: 'DELETE', path: branchAt, expect: refusals });
  const changes = files.map(({ path: file, text, sha }) => ({
    operation: 'update',
    path: file,
    content: Buffer.from(text).toString('base64'),
    sha,
  }));
  return client.call(organizationId, {
    method: 'POST',
    path: `${path}/contents`,
    body: { branch: baseBranch, new_branch: branch, message: title, files: changes },
    expect: refusals,
  });
}

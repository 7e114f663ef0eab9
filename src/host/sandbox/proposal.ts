// A pull request of changed files, and the workflow files that the doctor reads. The sandbox's own CI does not read them.

import type { Clock } from '#base/clock.ts';
import { findSandboxTestPullRequest } from '#db/sandbox/sandbox-test-store.ts';
import { branchRef } from '#git/ref.ts';
import { runGit } from '#git/run.ts';
import type { HostRepository } from '../host.ts';
import type { FileProposal, ProposalAnswer } from '../proposal.ts';
import type { WorkflowFile } from '../workflow.ts';
import { commitFiles } from './commit.ts';
import { changeRefs, findCommit } from './git.ts';
import { sandboxPerson } from './made-up.ts';
import { openOwnPullRequest, type OwnPullRequestOptions } from './own-pull-request.ts';
import { pullRequestUrl } from './pull-request.ts';
import type { NoticePush } from './push.ts';
import type { SandboxSettings } from './setting.ts';

type ProposalOptions = OwnPullRequestOptions & { readonly clock: Clock; readonly noticePush: NoticePush };

export async function proposeFiles(
  options: ProposalOptions,
  repository: HostRepository,
  settings: SandboxSettings,
  proposal: FileProposal,
): Promise<ProposalAnswer> {
  const { branch } = proposal;
  const open = (number: number, isNew: boolean): ProposalAnswer => ({
    kind: 'open',
    pullRequest: { number, url: pullRequestUrl(repository, number), isNew },
  });
  const known = await findSandboxTestPullRequest(options.cell.reader, repository.id, branch);
  if (known !== null) return open(known, false);
  const refusal = await pushProposal(options, repository, proposal);
  if (refusal !== null) return { kind: 'refused', reason: refusal };
  return open(await openOwnPullRequest(options, repository, settings, { ...proposal, draft: false }), true);
}

/** Null: the branch is there. */
async function pushProposal(
  { disk, clock, noticePush }: ProposalOptions,
  repository: HostRepository,
  { branch, baseBranch, title, files }: FileProposal,
): Promise<string | null> {
  const directory = await disk.ensure(repository);
  const parent = await findCommit(directory, branchRef(baseBranch));
  if (parent === null) return `There is no branch ${baseBranch}.`;
  for (const { path, sha } of files)
    if ((await listFiles(directory, parent, path))[0]?.sha !== sha) return `${path} is another by now.`;
  const to = await commitFiles(directory, {
    parent,
    files: Object.fromEntries(files.map(({ path, text }) => [path, text])),
    author: sandboxPerson,
    message: title,
    at: clock.now(),
  });
  const ref = branchRef(branch);
  const from = await findCommit(directory, ref);
  await changeRefs(directory, [{ ref, to }]);
  await noticePush(repository, [{ ref, from, to }]);
  return null;
}

async function listFiles(directory: string, commit: string, path: string) {
  const { stdout } = await runGit({ directory }, { args: ['ls-tree', '-z', commit, '--', path] });
  return stdout
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const [, sha = '', file = ''] = /^\d+ blob (\w+)\t(.*)$/s.exec(line) ?? [];
      return file === '' ? [] : [{ sha, file }];
    });
}

export async function readWorkflows(directory: string, commit: string): Promise<readonly WorkflowFile[]> {
  const listed = await listFiles(directory, commit, '.github/workflows/');
  return Promise.all(
    listed
      .filter(({ file }) => /\.ya?ml$/.test(file))
      .map(async ({ sha, file }) => {
        const { stdout } = await runGit({ directory }, { args: ['cat-file', 'blob', sha] });
        return { path: file, text: stdout.toString('utf8'), sha };
      }),
  );
}

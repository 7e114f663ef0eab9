// The pull requests that Signalbox opens: the draft for a test branch, and the one that proposes files. Each follows its branch
// and is closed with it (push.ts). CI does not start again for it: the push of the branch has started it.

import type { Cell } from '#db/cell.ts';
import { findSandboxTestPullRequest, insertSandboxTestPullRequest } from '#db/sandbox/sandbox-test-store.ts';
import { branchRef } from '#git/ref.ts';
import { HostError, type HostRepository, type TestPullRequest } from '../host.ts';
import type { Announce } from './announce.ts';
import type { Disk } from './disk.ts';
import { findCommit } from './git.ts';
import { pullRequestEvent } from './push.ts';
import type { SandboxSettings } from './setting.ts';
import { ownLogin } from './comment.ts';

export type OwnPullRequestOptions = { readonly cell: Cell; readonly disk: Disk; readonly announce: Announce };

/** How often another process may be faster. */
const attemptsMax = 10;

/** Opens a pull request from a branch that Signalbox made, or returns the open one. */
export async function openOwnPullRequest(
  { cell, disk, announce }: OwnPullRequestOptions,
  repository: HostRepository,
  { faults }: SandboxSettings,
  { branch, baseBranch, title, body, draft }: TestPullRequest & { readonly draft: boolean },
): Promise<number> {
  const headSha = await findCommit(await disk.ensure(repository), branchRef(branch));
  if (headSha === null) throw new HostError('forbidden', `The sandbox has no branch ${branch}.`);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const testPullRequest = { branch, headSha, baseBranch, title, body, author: ownLogin, draft };
    const opened = await insertSandboxTestPullRequest(cell.db, repository.id, testPullRequest);
    if (opened !== null) {
      await announce(repository, faults, [pullRequestEvent(repository, opened)]);
      return opened;
    }
    const known = await findSandboxTestPullRequest(cell.reader, repository.id, branch);
    if (known !== null) return known;
  }
  throw new HostError('unavailable', `The sandbox could not number a pull request for ${branch}.`);
}

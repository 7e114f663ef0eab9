// The draft pull request that shows a test branch. It follows its branch and is closed with it (push.ts). CI does not begin
// again for it: the push of the branch has started it.

import { branchRef } from '#git/ref.ts';
import { HostError, type HostRepository, type TestPullRequest } from '../host.ts';
import type { Announce } from './announce.ts';
import type { Disk } from './disk.ts';
import { findCommit } from './git.ts';
import { pullRequestEvent } from './push.ts';
import type { SandboxSettings } from './setting.ts';
import type { SandboxStore } from './store.ts';
import { ownLogin } from './word.ts';

type TestOptions = { readonly store: SandboxStore; readonly disk: Disk; readonly announce: Announce };

/** Times that another may be quicker. */
const attemptsMax = 10;

export async function openTestPullRequest(
  { store, disk, announce }: TestOptions,
  repository: HostRepository,
  { faults }: SandboxSettings,
  { branch, baseBranch, title, body }: TestPullRequest,
): Promise<number> {
  const headSha = await findCommit(await disk.ensure(repository), branchRef(branch));
  if (headSha === null) throw new HostError('forbidden', `The sandbox has no branch ${branch}.`);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const words = { branch, headSha, baseBranch, title, body, author: ownLogin };
    const opened = await store.insertTest(repository, words);
    if (opened !== null) {
      await announce(repository, faults, [pullRequestEvent(repository, opened)]);
      return opened;
    }
    const known = await store.findTest(repository, branch);
    if (known !== null) return known;
  }
  throw new HostError('unavailable', `The sandbox could not number a pull request for ${branch}.`);
}

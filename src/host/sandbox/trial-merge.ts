// The sandbox's own trial merge of a pull request, under refs/pull/<number>/merge: a commit of the branch's
// tip and the head, as GitHub keeps one (GitHub REST docs, "Get a pull request": getting one creates it). It
// is updated when Signalbox reads the pull request to land it.

import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import { branchRef, trialMergeRef } from '#git/ref.ts';
import { mergeHead } from './commit.ts';
import { changeRefs, findCommit } from './git.ts';
import { sandboxPerson } from './made-up.ts';

export async function updateTrialMerge(
  directory: string,
  { number, state, headSha, baseBranch }: SandboxPullRequest,
  at: Date,
): Promise<void> {
  if (state !== 'open') return;
  const tip = await findCommit(directory, branchRef(baseBranch));
  const head = await findCommit(directory, headSha);
  if (tip === null || head === null) return;
  const message = `Merge ${head} into ${tip}`;
  const merge = { method: 'merge_commit', tip, head, message, author: sandboxPerson, at } as const;
  const made = await mergeHead(directory, merge);
  // A pull request with conflicts keeps its last trial merge, which is on another tip.
  if (made !== null) await changeRefs(directory, [{ ref: trialMergeRef(number), to: made }]);
}

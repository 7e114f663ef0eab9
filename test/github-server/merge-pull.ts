// GitHub's own merge of a pull request: on the base as it is, with everything that the branch asks for.

import { changeRefs } from '#host/sandbox/git.ts';
import { findCommit } from './known.ts';
import { type Answer, ok, refused } from './answer.ts';
import { accountOf } from './auth.ts';
import { makeMerge } from './merge.ts';
import { mergedContentObjection, mergeObjection, methodObjection } from './mergeable.ts';
import {
  isPullOpen,
  type MergeMethod,
  type Principal,
  type PullRequest,
  type Repository,
  type Site,
} from './model.ts';
import { noticePush } from './push.ts';
import { mergedPull } from './pull.ts';

export type MergeWish = {
  readonly method: MergeMethod;
  /** The head must be this commit. */
  readonly sha: string | null;
  readonly title: string | null;
  readonly message: string | null;
};

const notAllowed: Readonly<Record<MergeMethod, string>> = {
  merge: 'Merge commits are not allowed on this repository.',
  squash: 'Squash merges are not allowed on this repository.',
  rebase: 'Rebase merges are not allowed on this repository.',
};

function messageOf(pull: PullRequest, wish: MergeWish): string {
  const { method, title, message } = wish;
  const from = `${pull.headRepository.owner.login}/${pull.headRef}`;
  const head =
    title ??
    (method === 'merge'
      ? `Merge pull request #${pull.number} from ${from}`
      : `${pull.title} (#${pull.number})`);
  const rest = message ?? (method === 'merge' ? pull.title : (pull.body ?? ''));
  return rest === '' ? head : `${head}\n\n${rest}`;
}

/** To be called in the repository's turn. */
export async function mergePull(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  wish: MergeWish,
  principal: Principal,
): Promise<Answer> {
  const { directory } = repository;
  const base = await findCommit(directory, `refs/heads/${pull.baseRef}`);
  if (!isPullOpen(pull) || base === null) return refused(405, 'Pull Request is not mergeable');
  if (pull.draft) return refused(405, 'Pull Request is still a draft');
  if (wish.sha !== null && wish.sha !== pull.headSha)
    return refused(409, 'Head branch was modified. Review and try the merge again.');
  if (!repository.mergeMethods.includes(wish.method)) return refused(405, notAllowed[wish.method]);
  const objection = await mergeObjection(repository, pull, base, principal);
  if (objection !== null) return refused(405, objection.message);
  const words = methodObjection(repository, pull, wish.method, principal);
  if (words !== null) return refused(405, words);
  const by = accountOf(principal);
  const sha = await makeMerge(directory, {
    method: wish.method,
    base,
    head: pull.headSha,
    author: wish.method === 'squash' ? pull.author : by,
    message: messageOf(pull, wish),
    at: site.clock.now(),
  });
  if (sha === null) return refused(405, 'Pull Request is not mergeable');
  // GitHub signs what it merges and squashes itself, and cannot sign what it rebases ("About merge methods on GitHub").
  const signed = wish.method === 'rebase' ? {} : { signedByGithub: sha };
  const content = await mergedContentObjection(
    repository,
    pull,
    { from: base, to: sha, ...signed },
    principal,
  );
  if (content !== null) return refused(405, content);
  const ref = `refs/heads/${pull.baseRef}`;
  if (!(await changeRefs(directory, [{ ref, from: base, to: sha }])))
    return refused(405, 'Base branch was modified. Review and try the merge again.');
  await mergedPull(site, repository, pull, principal, sha);
  await noticePush(site, repository, [{ ref, from: base, to: sha }], principal);
  if (repository.deleteBranchOnMerge) await deleteHead(site, pull, principal);
  return ok({ sha, merged: true, message: 'Pull Request successfully merged' });
}

async function deleteHead(site: Site, pull: PullRequest, principal: Principal): Promise<void> {
  const { headRepository, headRef, headSha } = pull;
  const ref = `refs/heads/${headRef}`;
  if (await changeRefs(headRepository.directory, [{ ref, from: headSha, to: null }]))
    await noticePush(site, headRepository, [{ ref, from: headSha, to: null }], principal);
}

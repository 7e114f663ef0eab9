// GitHub's own merge call. It names the head but not the branch: a pull request that was retargeted would be
// merged into its new base, so it is read before, by the caller or here. After a refusal it is read again:
// GitHub answers the same for a pull request that is already merged, for one that its branch refuses, and for
// one that it is not ready for yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { HostError, type HostRepository, type MergeAnswer, type MergeRequest } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import type { LastRead } from './last-read.ts';
import { findPullRequest } from './pull-request.ts';
import { Anything, Merged, type GithubPullRequest } from '../schema.ts';

const methods = { merge_commit: 'merge', squash: 'squash', rebase: 'rebase' } as const;

/** GitHub has not processed the move of the branch yet, or is still merging another pull request. */
const passing = /base branch was modified|merge already in progress/i;
const attemptsMax = 3;
const pauseMs = 700;

export async function merge(
  client: GithubClient,
  lastRead: LastRead,
  request: MergeRequest,
): Promise<MergeAnswer> {
  const { repository, number, asOf } = request;
  for (let attempt = 1; ; attempt += 1) {
    const known = attempt === 1 ? lastRead.since(repository, number, asOf) : null;
    const settled = settledAnswer(known ?? (await findPullRequest(client, repository, number)), request);
    if (settled !== null) return settled;
    const written = await callMerge(client, request);
    if (written.kind === 'done') return { kind: 'merged', sha: written.value.sha };
    const now = await findPullRequest(client, repository, number);
    const answer = settledAnswer(now, request) ?? classifyRefusal(written, now);
    if (answer !== null) return answer;
    if (attempt === attemptsMax)
      throw new HostError('unavailable', `GitHub cannot merge #${number} yet: ${written.message}`, {
        retryAfterMs: 2_000,
      });
    await sleep(attempt * pauseMs);
  }
}

function callMerge(client: GithubClient, request: MergeRequest) {
  const { repository, number, method, headSha, title, message } = request;
  const { owner, name: repo } = repository;
  // A rebase keeps the messages of its commits.
  const commitText = method === 'rebase' ? {} : { commit_title: title, commit_message: message };
  return client.attempt(
    'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
    { owner, repo, pull_number: number, sha: headSha, merge_method: methods[method], ...commitText },
    Merged,
    [404, 405, 409, 422],
    { isRepeatable: true, isUrgent: true },
  );
}

/** The answer that follows from the current pull request; null: the merge can be tried. */
export function settledAnswer(
  now: Pick<GithubPullRequest, 'state' | 'draft' | 'merged' | 'merge_commit_sha' | 'head' | 'base'> | null,
  { number, headSha, targetBranch }: Pick<MergeRequest, 'number' | 'headSha' | 'targetBranch'>,
): MergeAnswer | null {
  const refused = (message: string): MergeAnswer => ({ kind: 'refused', message });
  if (now === null) return refused(`There is no pull request #${number}.`);
  if (now.base.ref !== targetBranch) return refused(`The base branch of #${number} is ${now.base.ref}.`);
  if (now.merged && now.merge_commit_sha) return { kind: 'merged', sha: now.merge_commit_sha };
  if (now.head.sha !== headSha) return { kind: 'head-moved' };
  if (now.state !== 'open') return refused(`#${number} is closed.`);
  return now.draft === true ? refused(`#${number} is a draft.`) : null;
}

/** Null: a retry may succeed a moment later. */
export function classifyRefusal(
  { status, message }: { readonly status: number; readonly message: string },
  now: Pick<GithubPullRequest, 'mergeable'> | null,
): MergeAnswer | null {
  if (status === 409) return { kind: 'head-moved' };
  // GitHub is still computing the mergeability, as it does for a moment after every landing.
  return passing.test(message) || now?.mergeable === null ? null : { kind: 'refused', message };
}

/**
 * GitHub shows a pull request as merged only if its head is on the branch (GitHub docs, "About pull request
 * merges", "Indirect merges"). One that was squashed or rebased elsewhere can only be closed.
 */
export async function closePullRequest(
  client: GithubClient,
  repository: HostRepository,
  number: number,
): Promise<void> {
  const found = await findPullRequest(client, repository, number);
  if (found === null || found.state !== 'open') return;
  const { owner, name: repo } = repository;
  const route = 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}';
  const parameters = { owner, repo, pull_number: number, state: 'closed' };
  await client.attempt(route, parameters, Anything, [404, 422], { isRepeatable: true, isUrgent: true });
}

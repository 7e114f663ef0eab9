// GitHub's own merge call. It knows the head that we mean and not the branch: a pull request that was retargeted would be
// merged wherever it goes now, so it is read before, by the caller or here. What the call refuses is read once more: GitHub
// says the same of one that is merged already, of one that its branch does not let in, and of one that it is not ready for yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { HostError, type HostRepository, type MergeAnswer, type MergeRequest } from '../host.ts';
import type { Client } from './client.ts';
import type { LastRead } from './last-read.ts';
import { findPullRequest } from './pull-request.ts';
import { Anything, Merged, type PullRequest } from './schema.ts';

const methods = { merge_commit: 'merge', squash: 'squash', rebase: 'rebase' } as const;

/** GitHub has not taken in yet that the branch moved, or is still merging another. */
const passing = /base branch was modified|merge already in progress/i;
const attemptsMax = 3;
const pauseMs = 700;

export async function merge(client: Client, lastRead: LastRead, request: MergeRequest): Promise<MergeAnswer> {
  const { repository, number, asOf } = request;
  for (let attempt = 1; ; attempt += 1) {
    const known = attempt === 1 ? lastRead.since(repository, number, asOf) : null;
    const settled = settledAnswer(known ?? (await findPullRequest(client, repository, number)), request);
    if (settled !== null) return settled;
    const written = await callMerge(client, request);
    if (written.kind === 'done') return { kind: 'merged', sha: written.value.sha };
    const now = await findPullRequest(client, repository, number);
    const answer = settledAnswer(now, request) ?? refusalOf(written, now);
    if (answer !== null) return answer;
    if (attempt === attemptsMax)
      throw new HostError('unavailable', `GitHub cannot merge #${number} yet: ${written.message}`, {
        retryAfterMs: 2_000,
      });
    await sleep(attempt * pauseMs);
  }
}

function callMerge(client: Client, request: MergeRequest) {
  const { repository, number, method, headSha, title, message } = request;
  const { owner, name: repo } = repository;
  // A rebase keeps the messages of its commits.
  const words = method === 'rebase' ? {} : { commit_title: title, commit_message: message };
  return client.attempt(
    'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
    { owner, repo, pull_number: number, sha: headSha, merge_method: methods[method], ...words },
    Merged,
    [404, 405, 409, 422],
    { isRepeatable: true, isUrgent: true },
  );
}

/** What follows from the pull request as it is; null: it can be tried. */
export function settledAnswer(
  now: Pick<PullRequest, 'state' | 'draft' | 'merged' | 'merge_commit_sha' | 'head' | 'base'> | null,
  { number, headSha, targetBranch }: Pick<MergeRequest, 'number' | 'headSha' | 'targetBranch'>,
): MergeAnswer | null {
  const refused = (message: string): MergeAnswer => ({ kind: 'refused', message });
  if (now === null) return refused(`There is no pull request #${number}.`);
  if (now.base.ref !== targetBranch) return refused(`#${number} is onto ${now.base.ref}.`);
  if (now.merged && now.merge_commit_sha !== null) return { kind: 'merged', sha: now.merge_commit_sha };
  if (now.head.sha !== headSha) return { kind: 'head-moved' };
  if (now.state !== 'open') return refused(`#${number} is closed.`);
  return now.draft === true ? refused(`#${number} is a draft.`) : null;
}

/** Null: it may well be merged a moment later. */
export function refusalOf(
  { status, message }: { readonly status: number; readonly message: string },
  now: Pick<PullRequest, 'mergeable'> | null,
): MergeAnswer | null {
  if (status === 409) return { kind: 'head-moved' };
  // What goes together is being worked out: after every landing, for a moment.
  return passing.test(message) || now?.mergeable === null ? null : { kind: 'refused', message };
}

/**
 * GitHub shows a pull request as merged only if its head is on the branch (GitHub docs, "About pull request merges",
 * "Indirect merges"). What was squashed or rebased elsewhere can only be closed.
 */
export async function closePullRequest(
  client: Client,
  repository: HostRepository,
  number: number,
): Promise<void> {
  const found = await findPullRequest(client, repository, number);
  if (found === null || found.state !== 'open') return;
  const { owner, name: repo } = repository;
  const route = 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}';
  const wish = { owner, repo, pull_number: number, state: 'closed' };
  await client.attempt(route, wish, Anything, [404, 422], { isRepeatable: true, isUrgent: true });
}

// Reviews of a pull request, as GitHub lists them: in the order in which they were submitted, each with the commit that it
// is about (GitHub REST docs, "List reviews for a pull request"). A review that was dismissed has the state DISMISSED in
// its own place; COMMENTED and PENDING decide nothing.

import { type Approval, type Review, currentApprovals } from '#core/queue/rule/approval.ts';
import type { HostRepository } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { PullRequestReviews } from '../schema.ts';

const decisions: ReadonlyMap<string, Review['decision']> = new Map([
  ['APPROVED', 'approved'],
  ['CHANGES_REQUESTED', 'changes_requested'],
  ['DISMISSED', 'dismissed'],
]);

export async function readApprovals(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  pull_number: number,
): Promise<readonly Approval[]> {
  const path = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const reviews: Review[] = [];
  for await (const page of client.readPages(path, { owner, repo, pull_number }, PullRequestReviews))
    for (const { user, commit_id: commit, state } of page) {
      const decision = decisions.get(state);
      // A deleted account has no login, and a review may be of a commit that is gone.
      if (decision !== undefined && user && commit) reviews.push({ reviewer: user.login, commit, decision });
    }
  return currentApprovals(reviews);
}

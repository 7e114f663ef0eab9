// Reviews of a pull request, as Gitea lists them: oldest first (models/issues/review_list.go, FindReviews),
// each with the commit that it is about and whether it was dismissed (services/convert/pull_review.go). When
// a person reviews again, Gitea dismisses their earlier reviews (models/issues/review.go, CreateReview).
// `official` and `stale` are ignored: the repository decides who may approve, and only an approval of exactly
// the head counts.

import { type Review, currentApprovals } from '#core/queue/rule/approval.ts';
import type { Host } from '../../host.ts';
import { type Client, repositoryPath } from '../client/client.ts';
import { ReviewOfCommit } from '../schema.ts';

const decisions: ReadonlyMap<string, Review['decision']> = new Map([
  ['APPROVED', 'approved'],
  ['REQUEST_CHANGES', 'changes_requested'],
]);

export const createApprovalReader =
  (client: Client): Host['readApprovals'] =>
  async (repository, number) => {
    const path = `${repositoryPath(repository)}/pulls/${number}/reviews`;
    const listed = await client.list(repository.organizationId, ReviewOfCommit, { path });
    const reviews = listed.flatMap(({ user: reviewer, commit_id: commit, state, dismissed }): Review[] => {
      const decision = decisions.get(state);
      if (decision === undefined || reviewer === '' || commit === '') return [];
      return [{ reviewer, commit, decision: dismissed ? 'dismissed' : decision }];
    });
    return currentApprovals(reviews);
  };

// Pull requests of all queues: those that a search finds, and those that need a person.

import { hourMs } from '#base/duration.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { type FoundPullRequest, findByNumber, findBySearchTerms } from '#db/queue/search-view.ts';
import { type ListedToFix, listToFix } from '#db/queue/to-fix-view.ts';
import { type Handlers, knownRepository } from '../endpoint/context.ts';
import { presentEntry } from '../endpoint/present.ts';

/** Further terms are ignored. */
const searchTermsMax = 8;

export const searchHandlers: Handlers<'searchPullRequests' | 'listPullRequestsToFix'> = {
  searchPullRequests: async (context, { query, repo, take }) => {
    const { cell, scope } = context;
    const repository = repo === undefined ? null : knownRepository(context, repo);
    // A repository without a row has no pull request yet.
    if (repo !== undefined && repository === null) return { pullRequests: [] };
    const place = {
      organizationId: scope.principal.organizationId,
      repositoryId: repository?.id ?? null,
    };
    const digits = /^#?(\d{1,10})$/.exec(query.trim())?.[1];
    const searchTerms = query.split(/\s+/).filter(Boolean).slice(0, searchTermsMax);
    const found =
      digits === undefined
        ? await findBySearchTerms(cell.reader, place, searchTerms, take)
        : await findByNumber(cell.reader, place, Number(digits), take);
    return { pullRequests: found.map(present) };
  },

  listPullRequestsToFix: async ({ cell, scope, now }, { author = null, failedWithinHours, take }) => {
    const { organizationId } = scope.principal;
    const failedSince = new Date(now.getTime() - failedWithinHours * hourMs);
    const listed = await listToFix(cell.db, { organizationId, author, failedSince }, take);
    return { pullRequests: listed.map((each) => presentToFix(each, now)) };
  },
};

function presentToFix(
  { repository, queue, status }: ListedToFix,
  now: Date,
): ResponseOf<'listPullRequestsToFix'>['pullRequests'][number] {
  const { prNumber, prTitle, prAuthor, state, stateChangedAt, conclusionReason, waitingFor, failedTests } =
    presentEntry(queue, status, now, null);
  return {
    repo: repository,
    targetBranch: queue.targetBranch,
    prNumber,
    prTitle,
    prAuthor,
    state: state === 'failed' ? state : 'not_ready',
    stateChangedAt,
    conclusionReason,
    waitingFor,
    failedTests,
  };
}

const present = ({ repository, branch, number, title, author, state, changedAt }: FoundPullRequest) => ({
  repo: repository,
  targetBranch: branch,
  prNumber: number,
  prTitle: title,
  prAuthor: author,
  state,
  stateChangedAt: changedAt.toISOString(),
});

// Searches for pull requests.

import { type FoundPullRequest, findByNumber, findBySearchTerms } from '#db/queue/search-view.ts';
import { type Handlers, knownRepository } from '../endpoint/context.ts';

/** Further terms are ignored. */
const searchTermsMax = 8;

export const searchHandlers: Handlers<'searchPullRequests'> = {
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
};

const present = ({ repository, branch, number, title, author, state, changedAt }: FoundPullRequest) => ({
  repo: repository,
  targetBranch: branch,
  prNumber: number,
  prTitle: title,
  prAuthor: author,
  state,
  stateChangedAt: changedAt.toISOString(),
});

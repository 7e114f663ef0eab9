// Finding a pull request.

import { type FoundPullRequest, findByNumber, findByWords } from '#db/search-view.ts';
import { type Handlers, knownRepository } from '../context.ts';

/** Beyond these nobody means it. */
const wordsMax = 8;

export const searchHandlers: Handlers<'searchPullRequests'> = {
  searchPullRequests: async (context, { query, repo, take }) => {
    const { cell, scope } = context;
    const repository = repo === undefined ? null : knownRepository(context, repo);
    // One that exists without a row has no pull request yet.
    if (repo !== undefined && repository === null) return { pullRequests: [] };
    const place = {
      organizationId: scope.principal.organizationId,
      repositoryId: repository?.id ?? null,
    };
    const digits = /^#?(\d{1,10})$/.exec(query.trim())?.[1];
    const words = query.split(/\s+/).filter(Boolean).slice(0, wordsMax);
    const found =
      digits === undefined
        ? await findByWords(cell.reader, place, words, take)
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

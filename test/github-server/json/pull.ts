// Pull requests: as in a list, on their own, and in webhooks. The last two also say whether they can be merged.

import { commitsBetween, diffSize } from '../bare.ts';
import { type Verdict, verdictOn } from '../mergeable.ts';
import {
  isPullOpen,
  type PullRequest,
  type Repository,
  type Review,
  type Site,
  type Thread,
} from '../model.ts';
import { instant, maybeInstant, nodeId, userJson } from './account.ts';
import { associationOf } from './issue.ts';
import { labelJson } from './label.ts';
import { repositoryJson, repositoryPage, repositoryUrl } from './repository.ts';

const endJson = (site: Site, repository: Repository, ref: string, sha: string) => ({
  label: `${repository.owner.login}:${ref}`,
  ref,
  sha,
  user: userJson(site, repository.owner),
  // Null where the repository was deleted (github/rest-api-description, issue 1811).
  repo: isThere(site, repository) ? repositoryJson(site, repository) : null,
});

const isThere = (site: Site, repository: Repository): boolean =>
  [...site.repositories.values()].includes(repository);

function simplePullJson(site: Site, repository: Repository, pull: PullRequest) {
  const url = `${repositoryUrl(site, repository)}/pulls/${pull.number}`;
  const issue = `${repositoryUrl(site, repository)}/issues/${pull.number}`;
  const page = `${repositoryPage(site, repository)}/pull/${pull.number}`;
  const statuses = `${repositoryUrl(site, repository)}/statuses/${pull.headSha}`;
  const links = {
    self: url,
    html: page,
    issue,
    comments: `${issue}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${repositoryUrl(site, repository)}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses,
  };
  const test = pull.mergeability?.result?.testMerge ?? null;
  return {
    url,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    issue_url: issue,
    number: pull.number,
    state: pull.state,
    locked: false,
    title: pull.title,
    user: userJson(site, pull.author),
    body: pull.body,
    created_at: instant(pull.createdAt),
    updated_at: instant(pull.updatedAt),
    closed_at: maybeInstant(pull.closedAt),
    merged_at: maybeInstant(pull.merged?.at ?? null),
    // Until it is merged, the commit that shows whether it can be.
    merge_commit_sha: pull.merged?.sha ?? test,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    labels: pull.labels.map((label) => labelJson(site, repository, label)),
    milestone: null,
    draft: pull.draft,
    commits_url: links.commits,
    review_comments_url: links.review_comments,
    review_comment_url: links.review_comment,
    comments_url: links.comments,
    statuses_url: statuses,
    head: endJson(site, pull.headRepository, pull.headRef, pull.headSha),
    base: endJson(site, repository, pull.baseRef, pull.baseSha),
    _links: Object.fromEntries(Object.entries(links).map(([name, href]) => [name, { href }])),
    author_association: associationOf(repository, pull.author),
    auto_merge: null,
    active_lock_reason: null,
  };
}

/** As in a list, where labels are never without words by GitHub's description. */
export function listedPullJson(site: Site, repository: Repository, pull: PullRequest) {
  const json = simplePullJson(site, repository, pull);
  return {
    ...json,
    labels: json.labels.map((label) => ({ ...label, description: label.description ?? '' })),
  };
}

async function withMore(site: Site, repository: Repository, pull: PullRequest, verdict: Verdict) {
  const { directory } = repository;
  const size = await diffSize(directory, pull.baseSha, pull.headSha);
  const commits = await commitsBetween(directory, pull.baseSha, pull.headSha);
  return {
    ...simplePullJson(site, repository, pull),
    merged: pull.merged !== null,
    mergeable: verdict.mergeable,
    rebaseable: verdict.mergeable,
    mergeable_state: verdict.state,
    merged_by: pull.merged === null ? null : userJson(site, pull.merged.by),
    comments: [...repository.comments.values()].filter(({ number }) => number === pull.number).length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: commits.length,
    additions: size.additions,
    deletions: size.deletions,
    changed_files: size.files,
  };
}

/** To be asked for begins the work on whether it can be merged. */
export const pullJson = async (site: Site, repository: Repository, pull: PullRequest) =>
  withMore(site, repository, pull, await verdictOn(site, repository, pull));

/** In webhooks that is not known. */
export const pullPayload = (site: Site, repository: Repository, pull: PullRequest) =>
  withMore(site, repository, pull, { mergeable: null, state: 'unknown', testMerge: null });

/** As in a list; webhooks write the state in small letters, and no text as null. */
export function reviewJson(site: Site, repository: Repository, pull: PullRequest, review: Review) {
  const { id, by, state: word, body, sha, at } = review;
  const url = `${repositoryUrl(site, repository)}/pulls/${pull.number}`;
  const page = `${repositoryPage(site, repository)}/pull/${pull.number}#pullrequestreview-${id}`;
  return {
    id,
    node_id: nodeId('PullRequestReview', id),
    user: userJson(site, by),
    body,
    commit_id: sha,
    submitted_at: instant(at),
    state: word.toUpperCase(),
    html_url: page,
    pull_request_url: url,
    author_association: associationOf(repository, by),
    _links: { html: { href: page }, pull_request: { href: url } },
  };
}

/** What is told of a review: it has a smaller pull request with it. */
export function reviewPayload(site: Site, repository: Repository, pull: PullRequest, review: Review) {
  const json = reviewJson(site, repository, pull, review);
  return {
    review: { ...json, body: review.body === '' ? null : review.body, state: review.state },
    pull_request: simplePullJson(site, repository, pull),
  };
}

export const threadPayload = (site: Site, repository: Repository, pull: PullRequest, { id }: Thread) => ({
  thread: { node_id: nodeId('PullRequestReviewThread', id), comments: [] },
  pull_request: simplePullJson(site, repository, pull),
});

/** As with check runs: open pull requests of a commit that come from the same repository. */
export const pullsOfCommit = (site: Site, repository: Repository, sha: string) =>
  [...repository.pulls.values()]
    .filter((pull) => isPullOpen(pull) && pull.headSha === sha && pull.headRepository === repository)
    .map((pull) => {
      const url = repositoryUrl(site, repository);
      const repo = { id: repository.id, url, name: repository.name };
      return {
        url: `${url}/pulls/${pull.number}`,
        id: pull.id,
        number: pull.number,
        head: { ref: pull.headRef, sha: pull.headSha, repo },
        base: { ref: pull.baseRef, sha: pull.baseSha, repo },
      };
    });

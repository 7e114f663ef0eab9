// Pull requests as Gitea shows them.
//
// Gitea computes in the background whether a pull request can be merged. Its API reports `mergeable: false`
// for "not known yet", for "has conflicts" and for drafts alike, and where the base moves often it may keep
// reporting that for a pull request without conflicts. So only `true` is trusted; otherwise the answer is
// `in_progress`, and Signalbox tries the merge in its own mirror.
//
// A pull request that lacks required reviews is `not_mergeable`.

import { unknownFork, type PullRequest } from '#core/queue/model.ts';
import { HostError, type Host, type HostRepository, type TestPullRequest } from '../../host.ts';
import { type Client, repositoryPath } from '../client/client.ts';
import { areReviewsEnough, type DemandsOf } from '../rule/protection.ts';
import { GiteaPullRequest, GiteaReview } from '../schema.ts';
import { boundedText } from './text.ts';

/** Null: there is no such pull request. */
export const findPullRequest = (
  client: Client,
  repository: HostRepository,
  number: number,
): Promise<GiteaPullRequest | null> =>
  client.read(repository.organizationId, GiteaPullRequest, {
    path: `${repositoryPath(repository)}/pulls/${number}`,
  });

type ReaderOptions = { readonly client: Client; readonly demandsOf: DemandsOf };

export function createPullRequestReader({ client, demandsOf }: ReaderOptions): Host['readPullRequest'] {
  /** Whether it has all reviews that its base requires. */
  const hasReviews = async (repository: HostRepository, { number, base }: GiteaPullRequest) => {
    const { reviews: demands } = await demandsOf(repository, base.ref);
    if (demands === null) return true;
    const path = `${repositoryPath(repository)}/pulls/${number}/reviews`;
    return areReviewsEnough(demands, await client.list(repository.organizationId, GiteaReview, { path }));
  };

  const readMergeability = async (
    repository: HostRepository,
    found: GiteaPullRequest,
  ): Promise<PullRequest['mergeability']> => {
    // Gitea refuses to merge either.
    if (found.state !== 'open' || isDraft(found)) return 'not_mergeable';
    if (!(await hasReviews(repository, found))) return 'not_mergeable';
    return found.mergeable ? 'mergeable' : 'in_progress';
  };

  return async ({ repository, number }) => {
    const found = await findPullRequest(client, repository, number);
    return found === null ? null : shown(found, await readMergeability(repository, found));
  };
}

/** Older versions do not report drafts. */
const isDraft = ({ draft, title }: GiteaPullRequest): boolean => draft ?? /^(WIP:|\[WIP\])/i.test(title);

/**
 * A head that was pushed to `refs/for/<branch>` is shown with the base repository as its own, but read access is enough to
 * push it (Gitea docs, "AGit workflow"; services/agit/agit.go): it counts as a fork. Only such a head has no label.
 */
const forkName = ({ head, base }: GiteaPullRequest): string | null => {
  if (head.label === '') return unknownFork;
  return head.repo_id === base.repo_id ? null : (head.repo?.full_name ?? unknownFork);
};

export const shown = (found: GiteaPullRequest, mergeability: PullRequest['mergeability']): PullRequest => ({
  number: found.number,
  title: found.title,
  body: boundedText(found.body),
  headSha: found.head.sha,
  baseBranch: found.base.ref,
  author: found.user,
  fork: forkName(found),
  url: found.html_url,
  mergeability,
  draft: isDraft(found),
  state: found.merged ? 'merged' : found.state === 'open' ? 'open' : 'closed',
});

/** The title prefix of drafts in Gitea and Forgejo, unless their operator changes it. */
const draftPrefix = 'WIP: ';

export const createTestPullRequests =
  (client: Client): Host['openTestPullRequest'] =>
  async (repository, { branch, baseBranch, title, body }) => {
    const drafted = { branch, baseBranch, title: `${draftPrefix}${title}`, body };
    const number = await openPullRequest(client, repository, drafted);
    if (number !== null) return number;
    throw new HostError('forbidden', `${repository.host} has no branch ${branch} or ${baseBranch}.`);
  };

/** Opens a pull request, or returns the open one; null: one of the branches is missing. */
export async function openPullRequest(
  client: Client,
  repository: HostRepository,
  { branch, baseBranch, title, body }: TestPullRequest,
): Promise<number | null> {
  const answer = await client.call(repository.organizationId, {
    method: 'POST',
    path: `${repositoryPath(repository)}/pulls`,
    body: { head: branch, base: baseBranch, title, body },
    expect: [409],
  });
  if (answer.status === 404) return null;
  if (answer.status !== 409) return client.parse(GiteaPullRequest, answer.body).number;
  // There is an open one: the message names its number as `issue_id`.
  const number = Number(/\bissue_id: (\d+)/.exec(answer.message)?.[1] ?? 0);
  if (number > 0) return number;
  const known = await findOpen(client, repository, { branch, baseBranch });
  if (known !== null) return known;
  throw new HostError(
    'unavailable',
    `${repository.host} has a pull request for ${branch} and does not show it.`,
  );
}

/** The open pull request from a branch of the repository itself. */
export async function findOpen(
  client: Client,
  repository: HostRepository,
  { branch, baseBranch }: Pick<TestPullRequest, 'branch' | 'baseBranch'>,
): Promise<number | null> {
  const open = await client.list(repository.organizationId, GiteaPullRequest, {
    path: `${repositoryPath(repository)}/pulls`,
    query: { state: 'open', sort: 'recentupdate' },
  });
  const isFrom = (found: GiteaPullRequest) =>
    found.head.ref === branch && found.base.ref === baseBranch && forkName(found) === null;
  return open.find(isFrom)?.number ?? null;
}

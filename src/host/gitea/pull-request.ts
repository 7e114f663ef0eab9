// Pull requests as Gitea shows them.
//
// Whether one can be merged Gitea works out in the background: when it is opened, pushed to, or its base moves, and when
// somebody looks at one that is still open to question. Its API says `mergeable: false` for "not known yet", for "has
// conflicts" and for drafts alike. So `false` is believed when it is said again, some time later, of the same head on the
// same base; until then the answer is `in_progress`. One that was just opened or pushed to is asked for once or twice more at
// once, since Gitea mostly knows within a second.
//
//   just opened: false ─► 0.3 s ─► false ─► 1 s ─► false: in_progress ─► … 5 s later, same head and base: not_mergeable
//                  └──► true: mergeable ◄─────────────┘
//
// One that goes together with its base and lacks the reviews that the base asks for is `not_mergeable` as well.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { PullRequest } from '#core/queue/model.ts';
import { HostError, type Host, type HostRepository } from '../host.ts';
import { type Client, repositoryPath } from './client.ts';
import { areReviewsEnough, type DemandsOf } from './protection.ts';
import { PullRequest as GiteaPullRequest, Review } from './schema.ts';
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

/** What was said of a head on a base, and since when. */
type Doubt = {
  readonly headSha: string;
  readonly baseSha: string;
  /** Milliseconds. */
  readonly headSince: number;
  readonly pairSince: number;
};

/** Gitea looks at one pull request after the other: a second mostly, more while many wait. */
const settledMs = 5_000;
/** Where the base moves all the time it is the head that counts. */
const headSettledMs = 120_000;
const askAgainMs = [300, 1_000];
/** Comments count as well, but neither what is edited nor a base that moved. */
const recentMs = 30_000;
const doubtsMax = 10_000;

type ReaderOptions = { readonly client: Client; readonly clock: Clock; readonly demandsOf: DemandsOf };

export function createPullRequestReader({
  client,
  clock,
  demandsOf,
}: ReaderOptions): Host['readPullRequest'] {
  const doubts = new Map<string, Doubt>();

  const mergeabilityOf = (key: string, found: GiteaPullRequest): PullRequest['mergeability'] => {
    // Gitea merges neither, and says so when it is asked to.
    if (found.state !== 'open' || isDraft(found)) return 'not_mergeable';
    if (found.mergeable) {
      doubts.delete(key);
      return 'mergeable';
    }
    const now = clock.now().getTime();
    const doubt = doubtOf(doubts.get(key), found, now);
    if (doubts.size >= doubtsMax) doubts.clear();
    doubts.set(key, doubt);
    const isSettled = now - doubt.pairSince >= settledMs || now - doubt.headSince >= headSettledMs;
    return isSettled ? 'not_mergeable' : 'in_progress';
  };

  /** All that its base asks for. */
  const hasReviews = async (repository: HostRepository, { number, base }: GiteaPullRequest) => {
    const { reviews: demands } = await demandsOf(repository, base.ref);
    if (demands === null) return true;
    const path = `${repositoryPath(repository)}/pulls/${number}/reviews`;
    return areReviewsEnough(demands, await client.list(repository.organizationId, Review, { path }));
  };

  const isRecent = ({ updated_at: at }: GiteaPullRequest): boolean =>
    Math.abs(clock.now().getTime() - at) < recentMs;

  return async ({ repository, number }) => {
    const key = `${repository.id} ${number}`;
    let found = await findPullRequest(client, repository, number);
    for (const pauseMs of askAgainMs) {
      if (found === null || !isDoubtful(found) || !isRecent(found) || doubts.has(key)) break;
      await sleep(pauseMs);
      found = await findPullRequest(client, repository, number);
    }
    if (found === null) return null;
    const mergeability = mergeabilityOf(key, found);
    const isMergeable = mergeability === 'mergeable' && (await hasReviews(repository, found));
    return shown(found, mergeability === 'mergeable' && !isMergeable ? 'not_mergeable' : mergeability);
  };
}

const isDoubtful = (found: GiteaPullRequest): boolean =>
  found.state === 'open' && !found.mergeable && !isDraft(found);

function doubtOf(
  before: Doubt | undefined,
  { head: { sha: headSha }, base: { sha: baseSha } }: Pick<GiteaPullRequest, 'head' | 'base'>,
  now: number,
): Doubt {
  if (before?.headSha !== headSha) return { headSha, baseSha, headSince: now, pairSince: now };
  return before.baseSha === baseSha ? before : { ...before, baseSha, pairSince: now };
}

/** Older versions do not say it. */
const isDraft = ({ draft, title }: GiteaPullRequest): boolean => draft ?? /^(WIP:|\[WIP\])/i.test(title);

export const shown = (found: GiteaPullRequest, mergeability: PullRequest['mergeability']): PullRequest => ({
  number: found.number,
  title: found.title,
  body: boundedText(found.body),
  headSha: found.head.sha,
  baseBranch: found.base.ref,
  author: found.user,
  url: found.html_url,
  mergeability,
  draft: isDraft(found),
  state: found.merged ? 'merged' : found.state === 'open' ? 'open' : 'closed',
});

/** What Gitea and Forgejo take for a draft, unless their operator names another prefix. */
const draftPrefix = 'WIP: ';

export const createTestPullRequests =
  (client: Client): Host['openTestPullRequest'] =>
  async (repository, { branch, baseBranch, title, body }) => {
    const answer = await client.call(repository.organizationId, {
      method: 'POST',
      path: `${repositoryPath(repository)}/pulls`,
      body: { head: branch, base: baseBranch, title: `${draftPrefix}${title}`, body },
      expect: [409],
    });
    if (answer.status === 404)
      throw new HostError('forbidden', `${repository.host} has no branch ${branch} or ${baseBranch}.`);
    if (answer.status !== 409) return client.parse(GiteaPullRequest, answer.body).number;
    // There is one that is open: its number is called the id of its issue.
    const number = Number(/\bissue_id: (\d+)/.exec(answer.words)?.[1] ?? 0);
    if (number > 0) return number;
    const open = await client.list(repository.organizationId, GiteaPullRequest, {
      path: `${repositoryPath(repository)}/pulls`,
      query: { state: 'open', sort: 'recentupdate' },
    });
    const known = open.find(({ head, base }) => head.ref === branch && base.ref === baseBranch);
    if (known !== undefined) return known.number;
    throw new HostError(
      'unavailable',
      `${repository.host} has a pull request for ${branch} and does not show it.`,
    );
  };

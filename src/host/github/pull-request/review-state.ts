// The state of the reviews and conversations of a pull request, where its branch may require them. Where
// Signalbox may bypass the rules, GitHub does not refuse a push, so both are read and enforced here.
//
// - `reviewDecision` (GitHub GraphQL docs, `PullRequest.reviewDecision`) is GitHub's own decision on required approvals, code
//   owners and requested changes. Conversations have no part in it.
// - A conversation must be resolved where a ruleset says so (GitHub REST docs, "Rules", `pull_request` with
//   `required_review_thread_resolution`) or classic protection does (GraphQL docs, `Ref.refUpdateRule`: protection rules
//   that people who do not administer the repository may see too).
//
// Answers are cached for some minutes, because every poll reads every pull request of the queue; never for a
// pull request that is about to land, and never where conversations count: resolving one does not change the
// pull request's `updated_at`.

import type { Clock } from '#base/clock.ts';
import type { TtlCache } from '#base/ttl-cache.ts';
import type { HostRepository } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { type GithubPullRequest, ReviewAnswer, type ReviewDecision } from '../schema.ts';

/** What a branch may require of reviews. */
export type ReviewRule = {
  readonly mayNeedReview: boolean;
  /** A ruleset requires resolved conversations. */
  readonly needsResolved: boolean;
};

export type ReadReviewRule = (
  client: GithubClient,
  repository: HostRepository,
  branch: string,
  asOf: number | undefined,
) => Promise<ReviewRule>;

export type ReviewState = {
  readonly decision: ReviewDecision | null;
  /** A conversation that must be resolved is not. */
  readonly hasOpenConversation: boolean;
};

/** Answers of GitHub, each as it was at an instant. */
export type Reviews = {
  readonly kept: TtlCache<{ readonly state: ReviewState; readonly until: number }>;
  readonly clock: Clock;
};

const reviewKeptMs = 5 * 60_000;
/**
 * GitHub's timestamps have a resolution of seconds: a pull request that just changed may change again
 * unnoticed.
 */
const settledMs = 15_000;
/** Of 100 conversations each. */
const pagesMax = 20;

const nothing: ReviewState = { decision: null, hasOpenConversation: false };

const reviewQuery = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewDecision
      reviewThreads(first: 100, after: $after) { nodes { isResolved } pageInfo { hasNextPage endCursor } }
      baseRef { refUpdateRule { requiresConversationResolution } }
    }
  }
}`;

type ReviewStateQuery = {
  readonly client: GithubClient;
  readonly repository: HostRepository;
  readonly ruleOf: ReadReviewRule;
  readonly reviews: Reviews;
  /** What was read before this instant does not count; undefined: it does. */
  readonly asOf: number | undefined;
};

/** `first`: the first page of its conversations, if it was read with the pull request. */
export async function readReviewState(
  { client, repository, ruleOf, reviews, asOf }: ReviewStateQuery,
  { number, state, draft, mergeable, mergeable_state, updated_at, head, base }: GithubPullRequest,
  first: ReviewPage | null = null,
): Promise<ReviewState> {
  // Then it is not merged anyway.
  if (state !== 'open' || draft === true || mergeable === false) return nothing;
  const rule = await ruleOf(client, repository, base.ref, asOf);
  if (mergeable_state !== 'blocked' && !rule.mayNeedReview) return nothing;
  // A review changes the pull request.
  const key = `${repository.id} ${number} ${head.sha} ${base.ref} ${updated_at}`;
  const now = reviews.clock.now().getTime();
  const known = asOf !== undefined || first !== null ? undefined : reviews.kept.get(key);
  if (known !== undefined && now < known.until) return known.state;
  const page = first ?? (await readPage(client, repository, number, null));
  const { needsResolved, ...found } = await readRest(client, repository, number, page, rule.needsResolved);
  if (!needsResolved && now - Date.parse(updated_at) > settledMs)
    reviews.kept.set(key, { state: found, until: now + reviewKeptMs });
  return found;
}

async function readRest(
  client: GithubClient,
  repository: HostRepository,
  number: number,
  first: ReviewPage,
  isAskedByRuleset: boolean,
): Promise<ReviewState & { readonly needsResolved: boolean }> {
  const { decision } = first;
  const needsResolved = isAskedByRuleset || first.needsResolved;
  if (!needsResolved) return { decision, hasOpenConversation: false, needsResolved };
  let page = first;
  for (let count = 1; !page.isOpen && page.next !== null && count < pagesMax; count += 1)
    page = await readPage(client, repository, number, page.next);
  return { decision, hasOpenConversation: page.isOpen, needsResolved };
}

/** A page of the conversations of a pull request, with what its reviews say. */
export type ReviewPage = {
  readonly decision: ReviewDecision | null;
  /** Classic protection requires resolved conversations. */
  readonly needsResolved: boolean;
  /** One of these conversations is not resolved. */
  readonly isOpen: boolean;
  /** Where the next page begins; null: this is the last. */
  readonly next: string | null;
};

async function readPage(
  client: GithubClient,
  { owner, name }: HostRepository,
  number: number,
  after: string | null,
): Promise<ReviewPage> {
  const answer = await client.query(reviewQuery, { owner, name, number, after }, ReviewAnswer);
  const found = answer?.repository?.pullRequest;
  const threads = found?.reviewThreads;
  return {
    decision: found?.reviewDecision ?? null,
    needsResolved: found?.baseRef?.refUpdateRule?.requiresConversationResolution ?? false,
    isOpen: threads?.nodes?.some((thread) => thread?.isResolved === false) ?? false,
    next: threads?.pageInfo.hasNextPage === true ? threads.pageInfo.endCursor : null,
  };
}

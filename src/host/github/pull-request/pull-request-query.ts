// Reads many pull requests in one GraphQL query, with the reviews of each, and with a fingerprint that shows
// whether the rules of a branch have changed. A query of fifty pull requests costs one of the 5,000 points of
// an hour (GitHub GraphQL docs, "Rate limits and query limits"): read one by one they cost fifty requests.
//
// Reading `mergeable` makes GitHub compute it, as the REST call does (GraphQL docs, `MergeableState`: UNKNOWN
// is "still being calculated"). If it is still unknown after a moment, the caller reads the pull request by
// REST, for which this is documented.

import { z } from 'zod';
import { HostError, type HostRepository } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { restLogin } from '../client/login.ts';
import type { ReviewPage } from './review-state.ts';
import { type GithubPullRequest, reviewFields } from '../schema.ts';

const pullFields = `
fragment Pull on PullRequest {
  id number title body state isDraft url updatedAt mergeable mergeStateStatus
  mergeCommit { oid }
  headRefOid headRefName headRepository { databaseId nameWithOwner }
  baseRefName baseRepository { id databaseId }
  author { __typename login }
  reviewDecision
  reviewThreads(first: 100) { nodes { isResolved } pageInfo { hasNextPage endCursor } }
  baseRef { refUpdateRule { requiresConversationResolution } }
}`;

/**
 * Everything of the rulesets of a branch that decides about a landing. Classic protection cannot be compared in this way:
 * what GraphQL shows of it to an App has no app ids of required checks.
 */
const ruleFields = `ref(qualifiedName: $branch) {
    refUpdateRule { pattern }
    rules(first: 100) {
      nodes {
        id type repositoryRuleset { id updatedAt }
        parameters {
          ... on RequiredStatusChecksParameters {
            strictRequiredStatusChecksPolicy requiredStatusChecks { context integrationId }
          }
          ... on PullRequestParameters {
            allowedMergeMethods requireCodeOwnerReview requireLastPushApproval requiredApprovingReviewCount
            requiredReviewThreadResolution
          }
        }
      }
      pageInfo { hasNextPage }
    }
  }`;

const Pull = z.object({
  id: z.string(),
  number: z.int().positive(),
  title: z.string(),
  body: z.string(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  url: z.string(),
  updatedAt: z.string(),
  mergeable: z.enum(['MERGEABLE', 'CONFLICTING', 'UNKNOWN']),
  mergeStateStatus: z.string(),
  mergeCommit: z.object({ oid: z.string() }).nullable(),
  headRefOid: z.string(),
  headRefName: z.string(),
  headRepository: z.object({ databaseId: z.int(), nameWithOwner: z.string() }).nullable(),
  baseRefName: z.string(),
  baseRepository: z.object({ id: z.string(), databaseId: z.int() }).nullable(),
  author: z.object({ __typename: z.string(), login: z.string() }).nullable(),
  ...reviewFields,
});
type Pull = z.infer<typeof Pull>;

const RuleNode = z.looseObject({
  repositoryRuleset: z.object({ id: z.string(), updatedAt: z.string() }).nullable(),
});

const Ref = z.object({
  refUpdateRule: z.object({ pattern: z.string() }).nullable(),
  rules: z
    .object({
      nodes: z.array(RuleNode.nullable()).nullable(),
      pageInfo: z.object({ hasNextPage: z.boolean() }),
    })
    .nullable(),
});

const Answer = z.object({
  repository: z.looseObject({ ref: Ref.nullish() }).nullable(),
});

/** A pull request in the form of the REST call, with what was read of its reviews. */
type QueriedPull = { readonly pull: GithubPullRequest; readonly review: ReviewPage };

export type Queried = {
  /** By number; one that GitHub does not have is absent. */
  readonly pulls: ReadonlyMap<number, QueriedPull>;
  /** A fingerprint of the rulesets of the branch; null: they cannot be compared, or were not requested. */
  readonly rulesPrint: string | null;
};

/** GitHub answers with at most 500,000 nodes; fifty pull requests with a hundred conversations each are 5,000. */
export const pullsAtOnce = 50;

/** Null: this server does not know the question (an Enterprise Server from before rulesets). */
export async function queryPulls(
  client: GithubClient,
  { owner, name }: HostRepository,
  numbers: readonly number[],
  branch: string | null,
): Promise<Queried | null> {
  const asked = numbers.map((number) => `p${number}: pullRequest(number: ${number}) { ...Pull }`);
  const query = `query ($owner: String!, $name: String!${branch === null ? '' : ', $branch: String!'}) {
  repository(owner: $owner, name: $name) {
  ${branch === null ? '' : ruleFields}
  ${asked.join('\n  ')}
  }
}${pullFields}`;
  const variables = { owner, name, ...(branch === null ? {} : { branch: `refs/heads/${branch}` }) };
  const answer = await client
    .query(query, variables, Answer, { dispensable: 'ref' })
    .catch((error: unknown) => {
      if (error instanceof HostError && /doesn't exist on type|isn't a defined/.test(error.message))
        return undefined;
      throw error;
    });
  if (answer === undefined) return null;
  const found = answer?.repository;
  if (found === null || found === undefined)
    throw new HostError('forbidden', `GitHub does not let Signalbox see ${owner}/${name}.`);
  const pulls = new Map<number, QueriedPull>();
  for (const number of numbers) {
    const node = Pull.nullable().parse(found[`p${number}`] ?? null);
    if (node !== null) pulls.set(number, { pull: pullFromNode(node), review: reviewPageFromNode(node) });
  }
  return { pulls, rulesPrint: fingerprintRules(found.ref) };
}

const mergeable = { MERGEABLE: true, CONFLICTING: false, UNKNOWN: null } as const;

const pullFromNode = (node: Pull): GithubPullRequest => ({
  number: node.number,
  node_id: node.id,
  title: node.title,
  body: node.body,
  state: node.state === 'OPEN' ? 'open' : 'closed',
  draft: node.isDraft,
  merged: node.state === 'MERGED',
  merge_commit_sha: node.mergeCommit?.oid ?? null,
  mergeable: mergeable[node.mergeable],
  mergeable_state: node.mergeStateStatus.toLowerCase(),
  head: {
    sha: node.headRefOid,
    ref: node.headRefName,
    repo: node.headRepository && {
      id: node.headRepository.databaseId,
      full_name: node.headRepository.nameWithOwner,
    },
  },
  base: {
    ref: node.baseRefName,
    ...(node.baseRepository === null
      ? {}
      : { repo: { id: node.baseRepository.databaseId, node_id: node.baseRepository.id } }),
  },
  user: node.author && { login: restLogin(node.author) },
  html_url: node.url,
  updated_at: node.updatedAt,
});

const reviewPageFromNode = ({ reviewDecision, reviewThreads, baseRef }: Pull): ReviewPage => ({
  decision: reviewDecision,
  needsResolved: baseRef?.refUpdateRule?.requiresConversationResolution ?? false,
  isOpen: reviewThreads.nodes?.some((thread) => thread?.isResolved === false) ?? false,
  next: reviewThreads.pageInfo.hasNextPage ? reviewThreads.pageInfo.endCursor : null,
});

/** GitHub counts in seconds: a ruleset that changed just now may change again with the same timestamp. */
const settledMs = 15_000;

function fingerprintRules(ref: z.infer<typeof Ref> | null | undefined): string | null {
  const { refUpdateRule, rules } = ref ?? { refUpdateRule: null, rules: null };
  if (refUpdateRule !== null || rules?.nodes === null || rules?.nodes === undefined) return null;
  // A rule of a type that GraphQL has no name for is null there, and cannot be compared.
  if (rules.nodes.includes(null)) return null;
  const nodes = rules.nodes.filter((node) => node !== null);
  const isComparable = ({ repositoryRuleset: ruleset }: z.infer<typeof RuleNode>) =>
    ruleset !== null && Date.now() - Date.parse(ruleset.updatedAt) > settledMs;
  if (rules.pageInfo.hasNextPage || !nodes.every(isComparable)) return null;
  return JSON.stringify(nodes);
}

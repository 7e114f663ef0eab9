// Reads pull requests and the rules of branches, with a cache between reads.

import type { Clock } from '#base/clock.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { Host, HostRepository } from '../../host.ts';
import { createActiveRuleReader } from '../rule/active-rule.ts';
import type { GithubClient } from '../client/client.ts';
import { createKeptDemands } from '../rule/kept-demands.ts';
import { createLastRead, type LastRead } from './last-read.ts';
import { readDemands } from '../rule/protection.ts';
import { type Reader, readPullRequest, readPullRequests } from './pull-request.ts';
import type { ReadReviewRule, ReviewRule, Reviews } from './review-state.ts';
import type { GithubPullRequest } from '../schema.ts';

/** Whether a branch asks for reviews is asked for with pull requests, far more often than with runs. */
const reviewRuleKeptMs = 5 * 60_000;
const reviewsMax = 5_000;
const demandsMax = 1_000;
const lastReadMax = 5_000;

type GithubReadMethods = Pick<
  Host,
  'readPullRequest' | 'readPullRequests' | 'readRequiredChecks' | 'readRules'
>;

/** `onRead` receives every pull request that was read. */
export function createReading(
  of: (repository: HostRepository) => Promise<GithubClient>,
  clock: Clock,
  onRead: (repository: HostRepository, pull: GithubPullRequest) => void,
): GithubReadMethods & { readonly lastRead: LastRead } {
  const now = () => clock.now().getTime();
  const reviews: Reviews = { kept: createTtlCache({ max: reviewsMax }), clock };
  const kept = createKeptDemands(now, demandsMax);
  const lastRead = createLastRead(lastReadMax, onRead);
  const rules = createActiveRuleReader();
  const reviewRules = createTtlCache<ReviewRule>({ ttlMs: reviewRuleKeptMs, max: demandsMax, now });
  const branchKey = (client: GithubClient, repository: HostRepository, branch: string) =>
    `${client.connection.id} ${repository.id} ${branch}`;
  const readCachedDemands = (
    client: GithubClient,
    repository: HostRepository,
    branch: string,
    asOf?: number,
  ) =>
    kept.recall(branchKey(client, repository, branch), asOf, () => readDemands(client, repository, branch));
  const ruleOf: ReadReviewRule = (client, repository, branch, asOf) =>
    asOf === undefined
      ? reviewRules.load(branchKey(client, repository, branch), () =>
          readCachedDemands(client, repository, branch),
        )
      : readCachedDemands(client, repository, branch, asOf);
  const createReader = async (repository: HostRepository): Promise<Reader> => {
    const client = await of(repository);
    const confirm: Reader['confirm'] = (where, branch, print, askedAt) =>
      kept.confirm(branchKey(client, where, branch), print, askedAt);
    return { client, ruleOf, reviews, lastRead, confirm };
  };
  return {
    lastRead,
    readPullRequest: async (query) => readPullRequest(await createReader(query.repository), query),
    readPullRequests: async (query) => readPullRequests(await createReader(query.repository), query),
    readRequiredChecks: async (repository, branch, { asOf } = {}) =>
      (await readCachedDemands(await of(repository), repository, branch, asOf)).requiredChecks,
    readRules: async (repository, branch, landing) => {
      const client = await of(repository);
      const demands = await readCachedDemands(client, repository, branch, landing.asOf ?? performance.now());
      return rules(client, repository, branch, demands, landing);
    },
  };
}

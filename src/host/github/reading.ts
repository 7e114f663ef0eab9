// What reads pull requests and the rules of branches, with what is kept between one reading and the next.

import type { Clock } from '#base/clock.ts';
import { createShelf } from '#base/shelf.ts';
import type { Host, HostRepository } from '../host.ts';
import { createActiveRuleReader } from './active-rule.ts';
import type { Client } from './client.ts';
import { createKeptDemands } from './kept-demands.ts';
import { createLastRead, type LastRead } from './last-read.ts';
import { createMemory } from './memory.ts';
import { readDemands } from './protection.ts';
import { type Reader, readPullRequest, readPullRequests } from './pull-request.ts';
import type { ReadReviewRule, ReviewRule, Reviews } from './review-state.ts';
import type { PullRequest } from './schema.ts';

/** Whether a branch asks for reviews is asked for with pull requests, far more often than with runs. */
const reviewRuleKeptMs = 5 * 60_000;
const reviewsMax = 5_000;
const demandsMax = 1_000;
const lastReadMax = 5_000;

type Reading = Pick<Host, 'readPullRequest' | 'readPullRequests' | 'readRequiredChecks' | 'readRules'>;

/** `onRead` is given every pull request that was read. */
export function createReading(
  of: (repository: HostRepository) => Promise<Client>,
  clock: Clock,
  onRead: (repository: HostRepository, pull: PullRequest) => void,
): Reading & { readonly lastRead: LastRead } {
  const now = () => clock.now().getTime();
  const reviews: Reviews = { kept: createMemory(reviewsMax), clock };
  const kept = createKeptDemands(now, demandsMax);
  const lastRead = createLastRead(lastReadMax, onRead);
  const rules = createActiveRuleReader();
  const reviewShelf = createShelf<ReviewRule>(now, reviewRuleKeptMs, demandsMax).recall;
  const keyOf = (client: Client, repository: HostRepository, branch: string) =>
    `${client.connection.id} ${repository.id} ${branch}`;
  const demandsOf = (client: Client, repository: HostRepository, branch: string, asOf?: number) =>
    kept.recall(keyOf(client, repository, branch), asOf, () => readDemands(client, repository, branch));
  const ruleOf: ReadReviewRule = (client, repository, branch, asOf) =>
    asOf === undefined
      ? reviewShelf(keyOf(client, repository, branch), () => demandsOf(client, repository, branch))
      : demandsOf(client, repository, branch, asOf);
  const readerOf = async (repository: HostRepository): Promise<Reader> => {
    const client = await of(repository);
    const confirm: Reader['confirm'] = (where, branch, print, askedAt) =>
      kept.confirm(keyOf(client, where, branch), print, askedAt);
    return { client, ruleOf, reviews, lastRead, confirm };
  };
  return {
    lastRead,
    readPullRequest: async (query) => readPullRequest(await readerOf(query.repository), query),
    readPullRequests: async (query) => readPullRequests(await readerOf(query.repository), query),
    readRequiredChecks: async (repository, branch, { asOf } = {}) =>
      (await demandsOf(await of(repository), repository, branch, asOf)).requiredChecks,
    readRules: async (repository, branch, landing) => {
      const client = await of(repository);
      const demands = await demandsOf(client, repository, branch, landing.asOf ?? performance.now());
      return rules(client, repository, branch, demands, landing);
    },
  };
}

// Pull requests: as they are, and the drafts that show test branches.
//
// What "mergeable" means to a queue. GitHub's `mergeable` says whether the two go together; `mergeable_state` adds what
// the branch asks for. The queue itself does some of that: it tests on the tip, with all required checks, so a head that
// is behind, or whose checks are missing or red, or lacks our own check, is no reason to stay away. What the queue cannot
// give is a review. GitHub does not say why one is `blocked`, and to those who may pass by its rules it does not even
// say that; so where reviews may be asked for, it is asked for its decision on them (review-state.ts).
//
//   mergeable  state                                       reviews                      for us
//   false      dirty                                       –                            not_mergeable
//   else       any                                         required, or against it      not_mergeable
//   else       any                                         open conversation that must  not_mergeable
//                                                          be resolved
//   null       unknown                                     none needed, or approved     in_progress
//   true       clean, unstable, behind, blocked, draft …   none needed, or approved     mergeable
//
// A draft is told apart by its own field.

import { withoutTrailing } from '#base/text.ts';
import { unknownFork, type PullRequest as Seen } from '#core/queue/model.ts';
import {
  HostError,
  type HostRepository,
  type PullRequestQuery,
  type PullRequestsQuery,
  type TestPullRequest,
} from '../host.ts';
import type { Client } from './client.ts';
import type { LastRead } from './last-read.ts';
import { pullsAtOnce, queryPulls } from './pull-request-query.ts';
import { type ReadReviewRule, readReviewState, type ReviewPage, type Reviews } from './review-state.ts';
import { ListedPullRequests, Numbered, PullRequest, Repository, type ReviewDecision } from './schema.ts';

/** Texts are kept up to this size. */
const textBytesMax = 65_536;

/** The beginning of a text, without half a letter at its end. */
export function cut(text: string, bytesMax: number = textBytesMax): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  return withoutTrailing(bytes.subarray(0, bytesMax).toString('utf8'), '\uFFFD');
}

export function mergeabilityOf(
  {
    state,
    merged,
    mergeable,
    mergeable_state,
  }: Pick<PullRequest, 'state' | 'merged' | 'mergeable' | 'mergeable_state'>,
  review: ReviewDecision | null,
  hasOpenConversation = false,
): Seen['mergeability'] {
  if (state !== 'open') return merged ? 'unspecified' : 'not_mergeable';
  if (mergeable === false || mergeable_state === 'dirty') return 'not_mergeable';
  if (review === 'REVIEW_REQUIRED' || review === 'CHANGES_REQUESTED' || hasOpenConversation)
    return 'not_mergeable';
  return mergeable === null ? 'in_progress' : 'mergeable';
}

export type Reader = {
  readonly client: Client;
  readonly ruleOf: ReadReviewRule;
  readonly reviews: Reviews;
  readonly lastRead: LastRead;
  /** Takes in how the rulesets of a branch were seen, and when they were asked for. */
  readonly confirm: (
    repository: HostRepository,
    branch: string,
    print: string | null,
    askedAt: number,
  ) => void;
};

/**
 * One pull request. One that is about to land is read in GraphQL, with its reviews and with the rulesets of the branch;
 * any other by REST, where "not modified" costs nothing.
 */
export async function readPullRequest(reader: Reader, query: PullRequestQuery): Promise<Seen | null> {
  const { repository, number, targetBranch, asOf } = query;
  const { client, lastRead } = reader;
  const askedAt = performance.now();
  // GraphQL was asked a moment ago and did not know whether it can be merged: only of REST is it documented that reading
  // makes GitHub work it out.
  const isUnknown = lastRead.since(repository, number, asOf)?.mergeable === null;
  if (asOf !== undefined && !isUnknown) {
    const queried = await queryPulls(client, repository, [number], targetBranch);
    if (queried !== null) {
      reader.confirm(repository, targetBranch, queried.rulesPrint, askedAt);
      const one = queried.pulls.get(number);
      if (one === undefined) return null;
      lastRead.keep(repository, one.pull, askedAt);
      return seenPull(reader, repository, asOf, one);
    }
  }
  return readByRest(reader, repository, number, asOf);
}

async function readByRest(
  reader: Reader,
  repository: HostRepository,
  number: number,
  asOf: number | undefined,
): Promise<Seen | null> {
  const askedAt = performance.now();
  const pull = await findPullRequest(reader.client, repository, number);
  if (pull === null) return null;
  reader.lastRead.keep(repository, pull, askedAt);
  return seenPull(reader, repository, asOf, { pull, review: null });
}

/** Many pull requests, in as few queries as GitHub allows; a server that does not know the query is asked for each. */
export async function readPullRequests(
  reader: Reader,
  { repository, numbers, targetBranch, asOf }: PullRequestsQuery,
): Promise<ReadonlyMap<number, Seen>> {
  const seen = new Map<number, Seen>();
  for (let at = 0; at < numbers.length; at += pullsAtOnce) {
    const askedAt = performance.now();
    const branch = asOf === undefined ? null : targetBranch;
    const some = numbers.slice(at, at + pullsAtOnce);
    const queried = await queryPulls(reader.client, repository, some, branch);
    if (queried === null)
      for (const number of some) {
        const one = await readByRest(reader, repository, number, asOf);
        if (one !== null) seen.set(number, one);
      }
    if (queried !== null && branch !== null) reader.confirm(repository, branch, queried.rulesPrint, askedAt);
    for (const [number, one] of queried?.pulls ?? []) {
      reader.lastRead.keep(repository, one.pull, askedAt);
      seen.set(number, await seenPull(reader, repository, asOf, one));
    }
  }
  return seen;
}

async function seenPull(
  { client, ruleOf, reviews }: Reader,
  repository: HostRepository,
  asOf: number | undefined,
  { pull: found, review: first }: { readonly pull: PullRequest; readonly review: ReviewPage | null },
): Promise<Seen> {
  const review = await readReviewState({ client, repository, ruleOf, reviews, asOf }, found, first);
  return {
    number: found.number,
    title: found.title,
    body: cut(found.body ?? ''),
    headSha: found.head.sha,
    baseBranch: found.base.ref,
    author: found.user?.login ?? 'ghost',
    fork: forkOf(found),
    url: found.html_url,
    mergeability: mergeabilityOf(found, review.decision, review.hasOpenConversation),
    draft: found.draft ?? false,
    state: found.merged ? 'merged' : found.state,
  };
}

/** Repositories are compared by their ids, because names change and are given again. */
export function forkOf({ head, base }: Pick<PullRequest, 'head' | 'base'>): string | null {
  if (!head.repo) return unknownFork;
  return head.repo.id === base.repo?.id ? null : head.repo.full_name;
}

/**
 * An installation's token lets us push where the App is installed: a fork is another repository, also where its owner lets
 * maintainers edit (GitHub docs, "Allowing changes to a pull request branch created from a fork": for people).
 */
export async function headBranchOf(
  client: Client,
  repository: HostRepository,
  number: number,
): Promise<string | null> {
  const found = await findPullRequest(client, repository, number);
  return found === null || forkOf(found) !== null ? null : (found.head.ref ?? null);
}

/** Null: there is none. A repository that we are no longer let into says nothing of its pull requests. */
export async function findPullRequest(
  client: Client,
  { owner, name: repo }: HostRepository,
  pull_number: number,
): Promise<PullRequest | null> {
  const where = { owner, repo };
  const path = '/repos/{owner}/{repo}/pulls/{pull_number}';
  const found = await client.read(path, { ...where, pull_number }, PullRequest);
  if (found === null && (await client.read('/repos/{owner}/{repo}', where, Repository)) === null)
    throw new HostError('forbidden', `GitHub does not let us see ${owner}/${repo}.`);
  return found;
}

const createRoute = 'POST /repos/{owner}/{repo}/pulls';

export async function openTestPullRequest(
  client: Client,
  { owner, name: repo }: HostRepository,
  { branch: head, baseBranch: base, title, body }: TestPullRequest,
): Promise<number> {
  const wish = { owner, repo, head, base, title, body };
  // Made twice, the second time finds the first.
  const options = { isRepeatable: true };
  const drafted = await client.attempt(createRoute, { ...wish, draft: true }, Numbered, [422], options);
  if (drafted.kind === 'done') return drafted.value.number;
  // Some plans have no drafts for private repositories.
  const hasNoDrafts = /draft/i.test(drafted.message);
  const opened = hasNoDrafts ? await client.attempt(createRoute, wish, Numbered, [422], options) : drafted;
  if (opened.kind === 'done') return opened.value.number;
  const list = { owner, repo, head: `${owner}:${head}`, base, state: 'open' };
  const open = await client.read('/repos/{owner}/{repo}/pulls', list, ListedPullRequests);
  const known = open?.find((pull) => pull.head.ref === head);
  if (known !== undefined) return known.number;
  throw new HostError('forbidden', `GitHub opens no pull request for ${head}: ${opened.message}`);
}

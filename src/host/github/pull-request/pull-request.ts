// Pull requests, and the drafts for test branches.
//
// What "mergeable" means to a queue. GitHub's `mergeable` says whether there are conflicts; `mergeable_state`
// adds the requirements of the branch. The queue meets some of these itself: it tests on the tip, with all
// required checks. So a head that is behind, has missing or failed checks, or lacks Signalbox's own check may
// be queued. The queue cannot provide a review. GitHub does not say why a pull request is `blocked`, and does
// not report it at all to actors who may bypass its rules; so where reviews may be required, its review
// decision is read (review-state.ts).
//
//   mergeable  state                                       reviews                      for us
//   false      dirty                                       –                            not_mergeable
//   else       any                                         required, or against it      not_mergeable
//   else       any                                         open conversation that must  not_mergeable
//                                                          be resolved
//   null       unknown                                     none needed, or approved     in_progress
//   true       clean, unstable, behind, blocked, draft …   none needed, or approved     mergeable
//
// Drafts are recognized by their own field.

import { setTimeout as sleep } from 'node:timers/promises';
import { withoutTrailing } from '#base/text.ts';
import { unknownFork, type PullRequest as Seen } from '#core/queue/model.ts';
import {
  HostError,
  type HostRepository,
  type PullRequestQuery,
  type PullRequestsQuery,
  type TestPullRequest,
} from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import type { LastRead } from './last-read.ts';
import { pullsAtOnce, queryPulls } from './pull-request-query.ts';
import { type ReadReviewRule, readReviewState, type ReviewPage, type Reviews } from './review-state.ts';
import {
  ListedPullRequests,
  Numbered,
  GithubPullRequest,
  GithubRepository,
  type ReviewDecision,
} from '../schema.ts';

/** Texts are kept up to this size. */
const textBytesMax = 65_536;

/** The beginning of a text, without half a letter at its end. */
export function cut(text: string, bytesMax: number = textBytesMax): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  return withoutTrailing(bytes.subarray(0, bytesMax).toString('utf8'), '\uFFFD');
}

export function decideMergeability(
  {
    state,
    merged,
    mergeable,
    mergeable_state,
  }: Pick<GithubPullRequest, 'state' | 'merged' | 'mergeable' | 'mergeable_state'>,
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
  readonly client: GithubClient;
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
 * Reads one pull request. One that is about to land is read by GraphQL, with its reviews and the rulesets of
 * the branch; any other by REST, where "not modified" costs nothing.
 */
export async function readPullRequest(reader: Reader, query: PullRequestQuery): Promise<Seen | null> {
  const { repository, number, landing } = query;
  const { client, lastRead } = reader;
  const askedAt = performance.now();
  // GraphQL has just answered that the mergeability is unknown: only for REST it is documented that reading
  // makes GitHub compute it.
  const isUnknown = lastRead.since(repository, number, landing?.asOf)?.mergeable === null;
  if (landing !== undefined && !isUnknown) {
    const queried = await queryPulls(client, repository, [number], landing.branch);
    if (queried !== null) {
      reader.confirm(repository, landing.branch, queried.rulesPrint, askedAt);
      const one = queried.pulls.get(number);
      if (one === undefined) return null;
      lastRead.keep(repository, one.pull, askedAt);
      return seenPull(reader, repository, landing.asOf, one);
    }
  }
  return readByRest(reader, repository, number, landing?.asOf);
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

/**
 * Reads many pull requests in as few queries as GitHub allows; a server without the query gets one request
 * for each.
 */
export async function readPullRequests(
  reader: Reader,
  { repository, numbers, landing }: PullRequestsQuery,
): Promise<ReadonlyMap<number, Seen>> {
  const seen = new Map<number, Seen>();
  for (let at = 0; at < numbers.length; at += pullsAtOnce) {
    const askedAt = performance.now();
    const branch = landing?.branch ?? null;
    const some = numbers.slice(at, at + pullsAtOnce);
    const queried = await queryPulls(reader.client, repository, some, branch);
    if (queried === null)
      for (const number of some) {
        const one = await readByRest(reader, repository, number, landing?.asOf);
        if (one !== null) seen.set(number, one);
      }
    if (queried !== null && branch !== null) reader.confirm(repository, branch, queried.rulesPrint, askedAt);
    for (const [number, one] of queried?.pulls ?? []) {
      reader.lastRead.keep(repository, one.pull, askedAt);
      seen.set(number, await seenPull(reader, repository, landing?.asOf, one));
    }
  }
  return seen;
}

async function seenPull(
  { client, ruleOf, reviews }: Reader,
  repository: HostRepository,
  asOf: number | undefined,
  { pull: found, review: first }: { readonly pull: GithubPullRequest; readonly review: ReviewPage | null },
): Promise<Seen> {
  const review = await readReviewState({ client, repository, ruleOf, reviews, asOf }, found, first);
  return {
    number: found.number,
    title: found.title,
    body: cut(found.body ?? ''),
    headSha: found.head.sha,
    baseBranch: found.base.ref,
    author: found.user?.login ?? 'ghost',
    fork: forkName(found),
    url: found.html_url,
    mergeability: decideMergeability(found, review.decision, review.hasOpenConversation),
    draft: found.draft ?? false,
    state: found.merged ? 'merged' : found.state,
  };
}

/** Repositories are compared by id, because names change and are reused. */
export function forkName({ head, base }: Pick<GithubPullRequest, 'head' | 'base'>): string | null {
  if (!head.repo) return unknownFork;
  return head.repo.id === base.repo?.id ? null : head.repo.full_name;
}

/**
 * The token of an installation can push only where the App is installed. A fork is another repository, even
 * if its owner lets maintainers edit (GitHub docs, "Allowing changes to a pull request branch created from a
 * fork": for people).
 */
export async function readHeadBranch(
  client: GithubClient,
  repository: HostRepository,
  number: number,
): Promise<string | null> {
  const found = await findPullRequest(client, repository, number);
  return found === null || forkName(found) !== null ? null : (found.head.ref ?? null);
}

/** Null: there is none. A repository that we are no longer let into says nothing of its pull requests. */
export async function findPullRequest(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  pull_number: number,
): Promise<GithubPullRequest | null> {
  const where = { owner, repo };
  const path = '/repos/{owner}/{repo}/pulls/{pull_number}';
  const found = await client.read(path, { ...where, pull_number }, GithubPullRequest);
  if (found === null && (await client.read('/repos/{owner}/{repo}', where, GithubRepository)) === null)
    throw new HostError('forbidden', `GitHub does not let Signalbox see ${owner}/${repo}.`);
  return found;
}

const createRoute = 'POST /repos/{owner}/{repo}/pulls';

/**
 * Right after a push GitHub may not know the new branch yet, and refuses with 422: the field `head` is `invalid`, or one of
 * the other texts. It is asked again after these times.
 */
const notYetKnown = /head is invalid|not all refs are readable|no commits between/i;
const againMs: readonly number[] = [1_000, 3_000];

export async function openTestPullRequest(
  client: GithubClient,
  repository: HostRepository,
  pullRequest: TestPullRequest,
): Promise<number> {
  const opened = await openPullRequest(client, repository, { ...pullRequest, draft: true });
  if (typeof opened === 'number') return opened;
  throw new HostError(
    'forbidden',
    `GitHub does not open a pull request for ${pullRequest.branch}: ${opened.refusal}`,
  );
}

type NewPullRequest = TestPullRequest & { readonly draft?: true };
type OpenAnswer = number | { readonly refusal: string };

/** Opens a pull request for a branch that was just pushed, or returns the open one. */
export async function openPullRequest(
  client: GithubClient,
  repository: HostRepository,
  pullRequest: NewPullRequest,
): Promise<OpenAnswer> {
  let opened: OpenAnswer = { refusal: '' };
  for (const waitMs of [0, ...againMs]) {
    await sleep(waitMs);
    opened = await tryToOpen(client, repository, pullRequest);
    if (typeof opened === 'number' || !notYetKnown.test(opened.refusal)) break;
  }
  return opened;
}

async function tryToOpen(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  { branch: head, baseBranch: base, title, body, ...draft }: NewPullRequest,
): Promise<OpenAnswer> {
  const parameters = { owner, repo, head, base, title, body };
  // A repeated call finds the first pull request.
  const options = { isRepeatable: true };
  const drafted = await client.attempt(createRoute, { ...parameters, ...draft }, Numbered, [422], options);
  if (drafted.kind === 'done') return drafted.value.number;
  // Some plans have no drafts for private repositories.
  const hasNoDrafts = draft.draft === true && /draft/i.test(drafted.message);
  const opened = hasNoDrafts
    ? await client.attempt(createRoute, parameters, Numbered, [422], options)
    : drafted;
  if (opened.kind === 'done') return opened.value.number;
  const list = { owner, repo, head: `${owner}:${head}`, base, state: 'open' };
  const open = await client.read('/repos/{owner}/{repo}/pulls', list, ListedPullRequests);
  return open?.find((pull) => pull.head.ref === head)?.number ?? { refusal: opened.message };
}

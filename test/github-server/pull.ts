// Pull requests: opened, edited, closed, merged. Every change is noted as an event of its issue and told by webhook.

import { findCommit } from './known.ts';
import { invalid } from './answer.ts';
import { accountOf, viaOf } from './auth.ts';
import { borrow, contains } from './bare.ts';
import { labelJson } from './json/label.ts';
import { pullPayload, reviewPayload, threadPayload } from './json/pull.ts';
import { dropTestMerge, renewTestMerge } from './mergeable.ts';
import {
  type Account,
  type Issue,
  type IssueEvent,
  isPull,
  isPullOpen,
  type Label,
  type Principal,
  type PullRequest,
  type Repository,
  type Review,
  type ReviewState,
  type Site,
} from './model.ts';

type EventMore = Partial<Pick<IssueEvent, 'commitId' | 'label' | 'rename'>>;

export function noteEvent(
  site: Site,
  repository: Repository,
  { number }: Issue,
  event: string,
  principal: Principal,
  more: EventMore = {},
): void {
  repository.events.push({
    id: site.nextId(),
    number,
    event,
    actor: accountOf(principal),
    via: viaOf(principal),
    at: site.clock.now(),
    commitId: null,
    label: null,
    rename: null,
    ...more,
  });
}

export async function announcePull(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  action: string,
  principal: Principal,
  more: object = {},
): Promise<void> {
  const payload = { number: pull.number, pull_request: await pullPayload(site, repository, pull), ...more };
  site.announce(repository, 'pull_request', action, accountOf(principal), payload);
}

export type PullWish = {
  readonly title: string;
  readonly body: string | null;
  readonly headRepository: Repository;
  readonly headRef: string;
  readonly baseRef: string;
  readonly draft: boolean;
};

export async function openPull(
  site: Site,
  repository: Repository,
  wish: PullWish,
  principal: Principal,
): Promise<PullRequest> {
  const { headRepository, headRef, baseRef } = wish;
  const headSha = await findCommit(headRepository.directory, `refs/heads/${headRef}`);
  const baseSha = await findCommit(repository.directory, `refs/heads/${baseRef}`);
  if (headSha === null) throw invalid({ resource: 'PullRequest', field: 'head' });
  if (baseSha === null) throw invalid({ resource: 'PullRequest', field: 'base' });
  const label = `${headRepository.owner.login}:${headRef}`;
  const isSame = (pull: PullRequest) =>
    isPullOpen(pull) &&
    pull.headRepository === headRepository &&
    pull.headRef === headRef &&
    pull.baseRef === baseRef;
  if ([...repository.pulls.values()].some(isSame))
    throw invalid({ resource: 'PullRequest', message: `A pull request already exists for ${label}.` });
  const number = repository.lastNumber + 1;
  await borrow(repository.directory, headRepository.directory, headSha, `refs/pull/${number}/head`);
  if (await contains(repository.directory, headSha, baseSha))
    throw invalid({ resource: 'PullRequest', message: `No commits between ${baseRef} and ${headRef}` });
  repository.lastNumber = number;
  const now = site.clock.now();
  const pull: PullRequest = {
    ...wish,
    id: site.nextId(),
    number,
    author: accountOf(principal),
    via: viaOf(principal),
    createdAt: now,
    updatedAt: now,
    state: 'open',
    closedAt: null,
    merged: null,
    headSha,
    baseSha,
    labels: [],
    reviews: [],
    threads: [],
    lastPush: { by: accountOf(principal), at: now },
    mergeability: null,
  };
  repository.pulls.set(number, pull);
  await renewTestMerge(site, repository, pull);
  await announcePull(site, repository, pull, 'opened', principal);
  return pull;
}

export async function closePull(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  principal: Principal,
): Promise<void> {
  if (!isPullOpen(pull)) return;
  const now = site.clock.now();
  Object.assign(pull, { state: 'closed', closedAt: now, updatedAt: now });
  await dropTestMerge(repository, pull);
  noteEvent(site, repository, pull, 'closed', principal);
  await announcePull(site, repository, pull, 'closed', principal);
}

export async function mergedPull(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  principal: Principal,
  sha: string,
): Promise<void> {
  pull.merged = { at: site.clock.now(), by: accountOf(principal), sha };
  noteEvent(site, repository, pull, 'merged', principal, { commitId: sha });
  await closePull(site, repository, pull, principal);
}

export async function reopenPull(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  principal: Principal,
): Promise<void> {
  if (isPullOpen(pull)) return;
  const head = await findCommit(pull.headRepository.directory, `refs/heads/${pull.headRef}`);
  if (pull.merged !== null || head === null)
    throw invalid({ resource: 'PullRequest', field: 'state', message: 'state cannot be changed.' });
  await borrow(repository.directory, pull.headRepository.directory, head, `refs/pull/${pull.number}/head`);
  if (!(await contains(repository.directory, pull.headSha, head)))
    throw invalid({
      resource: 'PullRequest',
      field: 'state',
      message: `state cannot be changed. The ${pull.headRef} branch was force-pushed or recreated.`,
    });
  Object.assign(pull, { state: 'open', closedAt: null, headSha: head, mergeability: null });
  pull.updatedAt = site.clock.now();
  await renewTestMerge(site, repository, pull);
  noteEvent(site, repository, pull, 'reopened', principal);
  await announcePull(site, repository, pull, 'reopened', principal);
}

export type PullEdit = {
  readonly title?: string | undefined;
  readonly body?: string | null | undefined;
  readonly base?: string | undefined;
};

export async function editPull(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  edit: PullEdit,
  principal: Principal,
): Promise<void> {
  const changes: Record<string, unknown> = {};
  if (edit.title !== undefined && edit.title !== pull.title) {
    changes['title'] = { from: pull.title };
    noteEvent(site, repository, pull, 'renamed', principal, { rename: { from: pull.title, to: edit.title } });
    pull.title = edit.title;
  }
  if (edit.body !== undefined && edit.body !== pull.body) {
    changes['body'] = { from: pull.body ?? '' };
    pull.body = edit.body;
  }
  if (edit.base !== undefined && edit.base !== pull.baseRef) {
    const sha = await findCommit(repository.directory, `refs/heads/${edit.base}`);
    if (sha === null) throw invalid({ resource: 'PullRequest', field: 'base' });
    changes['base'] = { ref: { from: pull.baseRef }, sha: { from: pull.baseSha } };
    noteEvent(site, repository, pull, 'base_ref_changed', principal);
    Object.assign(pull, { baseRef: edit.base, baseSha: sha, mergeability: null });
    await renewTestMerge(site, repository, pull);
  }
  if (Object.keys(changes).length === 0) return;
  pull.updatedAt = site.clock.now();
  await announcePull(site, repository, pull, 'edited', principal, { changes });
}

export async function setDraft(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  draft: boolean,
  principal: Principal,
): Promise<void> {
  if (pull.draft === draft) return;
  Object.assign(pull, { draft, updatedAt: site.clock.now() });
  noteEvent(site, repository, pull, draft ? 'convert_to_draft' : 'ready_for_review', principal);
  await announcePull(site, repository, pull, draft ? 'converted_to_draft' : 'ready_for_review', principal);
}

/** Of an issue that is no pull request nobody is told. */
export async function setLabel(
  site: Site,
  repository: Repository,
  issue: Issue,
  label: Label,
  isOn: boolean,
  principal: Principal,
): Promise<void> {
  if (issue.labels.includes(label) === isOn) return;
  issue.labels = isOn ? [...issue.labels, label] : issue.labels.filter((one) => one !== label);
  issue.updatedAt = site.clock.now();
  const action = isOn ? 'labeled' : 'unlabeled';
  noteEvent(site, repository, issue, action, principal, { label });
  const more = { label: labelJson(site, repository, label) };
  if (isPull(issue)) await announcePull(site, repository, issue, action, principal, more);
}

export function reviewPull(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  state: Exclude<ReviewState, 'dismissed'>,
  principal: Principal,
  body = '',
): void {
  const by = accountOf(principal);
  const at = site.clock.now();
  const review = { id: site.nextId(), by, state, body, sha: pull.headSha, at };
  pull.reviews = [...pull.reviews, review];
  announceReview(site, repository, pull, review, 'submitted', by);
}

/** GitHub REST docs, "Dismiss a review": the review stays, in another state. */
export function dismissReviews(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  by: Account,
  principal: Principal,
): void {
  const isOpinion = ({ by: author, state }: Review) =>
    author === by && (state === 'approved' || state === 'changes_requested');
  const dismissed = pull.reviews.filter(isOpinion).map((one): Review => ({ ...one, state: 'dismissed' }));
  pull.reviews = pull.reviews.map((one) => dismissed.find(({ id }) => id === one.id) ?? one);
  for (const review of dismissed)
    announceReview(site, repository, pull, review, 'dismissed', accountOf(principal));
}

function announceReview(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  review: Review,
  action: string,
  sender: Account,
): void {
  pull.updatedAt = site.clock.now();
  const payload = reviewPayload(site, repository, pull, review);
  site.announce(repository, 'pull_request_review', action, sender, payload);
}

/** Conversations are resolved in the web; those who listen are told (`pull_request_review_thread`). */
export function setThread(
  site: Site,
  repository: Repository,
  pull: PullRequest,
  id: number,
  isResolved: boolean,
  principal: Principal,
): void {
  const thread = pull.threads.find((one) => one.id === id);
  if (thread === undefined) throw new Error(`There is no conversation ${id}.`);
  thread.isResolved = isResolved;
  pull.updatedAt = site.clock.now();
  const payload = threadPayload(site, repository, pull, thread);
  const action = isResolved ? 'resolved' : 'unresolved';
  site.announce(repository, 'pull_request_review_thread', action, accountOf(principal), payload);
}

export function findLabel({ labels }: Repository, name: string): Label | undefined {
  return labels.get(name.toLowerCase());
}

export function newLabel(
  site: Site,
  repository: Repository,
  name: string,
  color = 'ededed',
  description: string | null = null,
): Label {
  const label: Label = { id: site.nextId(), name, color, description };
  repository.labels.set(name.toLowerCase(), label);
  return label;
}

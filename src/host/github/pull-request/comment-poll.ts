// Polls comments and labels in case webhooks were lost.
//
// For labels, only the fact is reported that a pull request has one: label.ts reads who added it. An
// unchanged label is reported again after an hour, because each report costs calls.

import type { Clock } from '#base/clock.ts';
import { hourMs } from '#base/duration.ts';
import type { TtlCache } from '#base/ttl-cache.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import { fullName } from '#core/repository.ts';
import type { HostRepository } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { isOurs } from './comment.ts';
import { cut } from './pull-request.ts';
import { type GithubComment, Comments, type Issue, Issues } from '../schema.ts';

/** Pull requests that were reported to have the label: at which change, and when, in milliseconds. */
export type Labelled = {
  readonly reported: TtlCache<{ readonly updatedAt: string; readonly at: number }>;
  readonly clock: Clock;
};

const reportedAgainMs = hourMs;

export async function readCommentsAndLabels(
  client: GithubClient,
  labelled: Labelled,
  repository: HostRepository,
  sinceAt: Date,
  label: string,
): Promise<readonly HostEvent[]> {
  // GitHub's timestamps have a resolution of seconds.
  const since = floorTo(sinceAt, 1_000);
  const comments = await readComments(client, repository, since);
  return [...comments, ...(await readLabelled(client, labelled, repository, label))];
}

/** Within this time the same request is sent, so that "not modified" costs nothing of the quota. */
const windowMs = 5 * 60_000;

const floorTo = (at: Date, ms: number): Date => new Date(Math.floor(at.getTime() / ms) * ms);

async function readComments(
  client: GithubClient,
  repository: HostRepository,
  since: Date,
): Promise<readonly HostEvent[]> {
  const { host, owner, name } = repository;
  const path = '/repos/{owner}/{repo}/issues/comments';
  const window = floorTo(since, windowMs).toISOString();
  const parameters = { owner, repo: name, sort: 'updated', direction: 'asc', since: window };
  const events: HostEvent[] = [];
  for await (const page of client.readPages(path, parameters, Comments))
    for (const comment of page) {
      const number = parsePullNumber(comment, repository);
      if (number === null || !isNewAndUnedited(comment, since) || (await isOurs(client, comment))) continue;
      events.push({
        kind: 'comment-written',
        repository: { host, owner, name },
        number,
        commentId: String(comment.id),
        author: comment.user?.login ?? 'ghost',
        text: cut(comment.body ?? ''),
        writtenAt: Date.parse(comment.created_at),
      });
    }
  return events;
}

/**
 * The author of an edit is unknown, and may have fewer rights than the author of the comment. Only the
 * webhook contains the original text.
 */
const isNewAndUnedited = ({ created_at, updated_at }: GithubComment, since: Date): boolean =>
  created_at === updated_at && Date.parse(created_at) >= since.getTime();

/** Null: it is on an issue. */
function parsePullNumber({ html_url }: GithubComment, repository: HostRepository): number | null {
  const path = html_url.toLowerCase().split(`/${fullName(repository).toLowerCase()}/pull/`)[1];
  const number = Number.parseInt(path ?? '', 10);
  return Number.isNaN(number) ? null : number;
}

async function readLabelled(
  client: GithubClient,
  { reported, clock }: Labelled,
  repository: HostRepository,
  label: string,
): Promise<readonly HostEvent[]> {
  const { host, owner, name } = repository;
  const path = '/repos/{owner}/{repo}/issues';
  const parameters = { owner, repo: name, state: 'open', labels: label };
  const found: Issue[] = [];
  for await (const page of client.readPages(path, parameters, Issues))
    found.push(...page.filter(({ pull_request }) => pull_request !== undefined));
  const now = clock.now().getTime();
  const labelledIssueKey = ({ number }: Issue) => `${repository.id} ${number} ${label}`;
  const isNews = (issue: Issue) => {
    const known = reported.get(labelledIssueKey(issue));
    return known?.updatedAt !== issue.updated_at || now - known.at >= reportedAgainMs;
  };
  const news = found.filter(isNews);
  for (const issue of news) reported.set(labelledIssueKey(issue), { updatedAt: issue.updated_at, at: now });
  return news.map(({ number }) => ({
    kind: 'label-changed',
    repository: { host, owner, name },
    number,
    label,
    labels: [label],
  }));
}

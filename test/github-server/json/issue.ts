// A pull request as an issue, with its comments and events.

import { accessOfAccount } from '../auth.ts';
import {
  atLeast,
  type Account,
  type Comment,
  isPull,
  type Issue,
  type IssueEvent,
  type Repository,
  type Site,
} from '../model.ts';
import { appJson, instant, maybeInstant, nodeId, userJson } from './account.ts';
import { labelJson } from './label.ts';
import { repositoryPage, repositoryUrl } from './repository.ts';

export const associationOf = (repository: Repository, account: Account): string =>
  account.login === repository.owner.login
    ? 'OWNER'
    : atLeast(accessOfAccount(repository, account), 'triage')
      ? 'COLLABORATOR'
      : account.type === 'Bot'
        ? 'NONE'
        : 'CONTRIBUTOR';

const reactions = (url: string) => ({
  url: `${url}/reactions`,
  total_count: 0,
  '+1': 0,
  '-1': 0,
  laugh: 0,
  hooray: 0,
  confused: 0,
  heart: 0,
  rocket: 0,
  eyes: 0,
});

const pageOf = (site: Site, repository: Repository, number: number): string =>
  `${repositoryPage(site, repository)}/${repository.pulls.has(number) ? 'pull' : 'issues'}/${number}`;

export function issueJson(site: Site, repository: Repository, issue: Issue) {
  const url = `${repositoryUrl(site, repository)}/issues/${issue.number}`;
  const page = pageOf(site, repository, issue.number);
  return {
    url,
    repository_url: repositoryUrl(site, repository),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    id: issue.id,
    node_id: nodeId('Issue', issue.id),
    number: issue.number,
    title: issue.title,
    user: userJson(site, issue.author),
    labels: issue.labels.map((label) => labelJson(site, repository, label)),
    state: issue.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: [...repository.comments.values()].filter(({ number }) => number === issue.number).length,
    created_at: instant(issue.createdAt),
    updated_at: instant(issue.updatedAt),
    closed_at: maybeInstant(issue.closedAt),
    author_association: associationOf(repository, issue.author),
    active_lock_reason: null,
    body: issue.body,
    reactions: reactions(url),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: issue.via === null ? null : appJson(site, issue.via),
    state_reason: null,
    ...(isPull(issue)
      ? {
          draft: issue.draft,
          pull_request: {
            url: `${repositoryUrl(site, repository)}/pulls/${issue.number}`,
            html_url: page,
            diff_url: `${page}.diff`,
            patch_url: `${page}.patch`,
            merged_at: maybeInstant(issue.merged?.at ?? null),
          },
        }
      : {}),
  };
}

export function commentJson(site: Site, repository: Repository, comment: Comment) {
  const url = `${repositoryUrl(site, repository)}/issues/comments/${comment.id}`;
  return {
    url,
    html_url: `${pageOf(site, repository, comment.number)}#issuecomment-${comment.id}`,
    issue_url: `${repositoryUrl(site, repository)}/issues/${comment.number}`,
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    user: userJson(site, comment.author),
    created_at: instant(comment.createdAt),
    updated_at: instant(comment.updatedAt),
    author_association: associationOf(repository, comment.author),
    body: comment.body,
    reactions: reactions(url),
    performed_via_github_app: comment.via === null ? null : appJson(site, comment.via),
  };
}

export const eventJson = (site: Site, repository: Repository, event: IssueEvent) => ({
  id: event.id,
  node_id: nodeId('IssueEvent', event.id),
  url: `${repositoryUrl(site, repository)}/issues/events/${event.id}`,
  actor: userJson(site, event.actor),
  event: event.event,
  commit_id: event.commitId,
  commit_url: event.commitId === null ? null : `${repositoryUrl(site, repository)}/commits/${event.commitId}`,
  created_at: instant(event.at),
  performed_via_github_app: event.via === null ? null : appJson(site, event.via),
  ...(event.label === null ? {} : { label: { name: event.label.name, color: event.label.color } }),
  ...(event.rename === null ? {} : { rename: event.rename }),
});

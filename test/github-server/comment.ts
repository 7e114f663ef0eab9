// Comments on pull requests and issues.

import { accountOf, viaOf } from './auth.ts';
import { commentJson, issueJson } from './json/issue.ts';
import type { Comment, Issue, Principal, Repository, Site } from './model.ts';

export const findIssue = ({ pulls, issues }: Repository, number: number): Issue | undefined =>
  pulls.get(number) ?? issues.get(number);

function tell(
  site: Site,
  repository: Repository,
  comment: Comment,
  action: string,
  principal: Principal,
  more: object = {},
): void {
  const issue = findIssue(repository, comment.number)!;
  const payload = {
    issue: issueJson(site, repository, issue),
    comment: commentJson(site, repository, comment),
    ...more,
  };
  site.announce(repository, 'issue_comment', action, accountOf(principal), payload);
}

export function addComment(
  site: Site,
  repository: Repository,
  issue: Issue,
  body: string,
  principal: Principal,
): Comment {
  const now = site.clock.now();
  const author = accountOf(principal);
  const { number } = issue;
  const via = viaOf(principal);
  const comment = { id: site.nextId(), number, author, via, body, createdAt: now, updatedAt: now };
  repository.comments.set(comment.id, comment);
  issue.updatedAt = now;
  tell(site, repository, comment, 'created', principal);
  return comment;
}

export function editComment(
  site: Site,
  repository: Repository,
  comment: Comment,
  body: string,
  principal: Principal,
): void {
  const changes = { body: { from: comment.body } };
  Object.assign(comment, { body, updatedAt: site.clock.now() });
  tell(site, repository, comment, 'edited', principal, { changes });
}

export function deleteComment(
  site: Site,
  repository: Repository,
  comment: Comment,
  principal: Principal,
): void {
  repository.comments.delete(comment.id);
  tell(site, repository, comment, 'deleted', principal);
}

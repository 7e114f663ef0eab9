// Pull requests as issues: comments, labels, events.

import { created, invalid, noContent, notFound, ok, Refusal, refused } from '../answer.ts';
import { accountOf, viaOf } from '../auth.ts';
import { addComment, deleteComment, editComment, findIssue } from '../comment.ts';
import { commentJson, eventJson, issueJson } from '../json/issue.ts';
import { labelJson } from '../json/label.ts';
import type { Comment, Issue, IssueEvent, Label } from '../model.ts';
import { findLabel, newLabel, setLabel } from '../pull.ts';
import {
  fieldsOf,
  inOrder,
  listed,
  numberOf,
  read,
  type RepositoryCall,
  repositoryRoute,
  type Route,
  write,
} from '../route.ts';

const root = '/repos/{owner}/{repo}';
const readBoth = read('issues', 'pull_requests');
const writeBoth = write('issues', 'pull_requests');
/** Everybody who can read may speak. */
const speak = { ...writeBoth, access: 'read' } as const;
/** Labels are for those who triage. */
const triage = { ...writeBoth, access: 'triage' } as const;

function issueOf(call: RepositoryCall): Issue {
  const issue = findIssue(call.repository, numberOf(call, 'issue_number'));
  if (issue === undefined) throw notFound();
  return issue;
}

/** GitHub compares whole seconds, as it writes them. */
function isSince({ query }: RepositoryCall, at: Date): boolean {
  const since = query.get('since');
  return since === null || Math.floor(at.getTime() / 1_000) >= Math.floor(Date.parse(since) / 1_000);
}

function listIssues(call: RepositoryCall) {
  const { site, repository, query } = call;
  const state = query.get('state') ?? 'open';
  const labels = (query.get('labels') ?? '').split(',').filter(Boolean);
  const isOn = ({ labels: own }: Issue, name: string) =>
    own.some((label) => label.name.toLowerCase() === name.toLowerCase());
  const chosen = [...repository.pulls.values(), ...repository.issues.values()]
    .filter((issue: Issue) => state === 'all' || issue.state === state)
    .filter((issue: Issue) => isSince(call, issue.updatedAt))
    .filter((issue: Issue) => labels.every((name) => isOn(issue, name)));
  const isUpdated = query.get('sort') === 'updated';
  const at = ({ createdAt, updatedAt }: Issue) => (isUpdated ? updatedAt : createdAt);
  const all = inOrder<Issue>(chosen, at, ({ number }) => number, query.get('direction') === 'asc');
  return listed(call, all, (issue: Issue) => issueJson(site, repository, issue));
}

function commentOf(call: RepositoryCall): Comment {
  const comment = call.repository.comments.get(numberOf(call, 'comment_id'));
  if (comment === undefined) throw notFound();
  return comment;
}

const listComments = (call: RepositoryCall, isOne: (comment: Comment) => boolean) => {
  const { site, repository, query } = call;
  const isUpdated = query.get('sort') === 'updated';
  const chosen = [...repository.comments.values()].filter(
    (comment) => isOne(comment) && isSince(call, comment.updatedAt),
  );
  const at = ({ createdAt, updatedAt }: Comment) => (isUpdated ? updatedAt : createdAt);
  const all = inOrder(chosen, at, ({ id }) => id, query.get('direction') !== 'desc');
  return listed(call, all, (comment) => commentJson(site, repository, comment));
};

const commentRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/issues/comments`, readBoth, (call) => listComments(call, () => true)),
  repositoryRoute(`GET ${root}/issues/comments/{comment_id}`, readBoth, (call) =>
    ok(commentJson(call.site, call.repository, commentOf(call))),
  ),
  repositoryRoute(`PATCH ${root}/issues/comments/{comment_id}`, writeBoth, (call) => {
    const comment = commentOf(call);
    editComment(call.site, call.repository, comment, String(fieldsOf(call)['body']), call.principal);
    return ok(commentJson(call.site, call.repository, comment));
  }),
  repositoryRoute(`DELETE ${root}/issues/comments/{comment_id}`, writeBoth, (call) => {
    deleteComment(call.site, call.repository, commentOf(call), call.principal);
    return noContent;
  }),
  repositoryRoute(`GET ${root}/issues/{issue_number}/comments`, readBoth, (call) => {
    const issue = issueOf(call);
    return listComments(call, ({ number }) => number === issue.number);
  }),
  repositoryRoute(`POST ${root}/issues/{issue_number}/comments`, speak, (call) => {
    const body = String(fieldsOf(call)['body']);
    if (body === '') throw invalid({ resource: 'IssueComment', field: 'body' });
    if (body.length > 65_536)
      throw invalid({
        resource: 'IssueComment',
        field: 'body',
        message: 'body is too long (maximum is 65536 characters)',
      });
    const comment = addComment(call.site, call.repository, issueOf(call), body, call.principal);
    return created(commentJson(call.site, call.repository, comment));
  }),
];

const labelsAnswer = (call: RepositoryCall, labels: readonly Label[]) =>
  listed(call, labels, (label) => labelJson(call.site, call.repository, label));

/** `["a"]`, `{ labels: ["a"] }` or `{ labels: [{ name: "a" }] }`. */
function labelNames({ body }: RepositoryCall): readonly string[] {
  const list = Array.isArray(body) ? body : ((body as { readonly labels?: unknown[] }).labels ?? []);
  return list.map((label: unknown) =>
    typeof label === 'string' ? label : String((label as { readonly name: unknown }).name),
  );
}

const labelRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/issues/{issue_number}/labels`, readBoth, (call) =>
    labelsAnswer(call, issueOf(call).labels),
  ),
  repositoryRoute(`POST ${root}/issues/{issue_number}/labels`, triage, async (call) => {
    const issue = issueOf(call);
    for (const name of labelNames(call)) {
      const label = findLabel(call.repository, name) ?? newLabel(call.site, call.repository, name);
      await setLabel(call.site, call.repository, issue, label, true, call.principal);
    }
    return labelsAnswer(call, issue.labels);
  }),
  repositoryRoute(`DELETE ${root}/issues/{issue_number}/labels/{name}`, triage, async (call) => {
    const issue = issueOf(call);
    const name = call.params['name']!.toLowerCase();
    const label = issue.labels.find((one) => one.name.toLowerCase() === name);
    if (label === undefined) throw new Refusal(refused(404, 'Label does not exist'));
    await setLabel(call.site, call.repository, issue, label, false, call.principal);
    return labelsAnswer(call, issue.labels);
  }),
  repositoryRoute(`GET ${root}/labels`, readBoth, (call) =>
    labelsAnswer(call, [...call.repository.labels.values()]),
  ),
  repositoryRoute(`POST ${root}/labels`, writeBoth, (call) => {
    const { name, color, description } = fieldsOf(call) as {
      readonly name: string;
      readonly color?: string;
      readonly description?: string;
    };
    if (findLabel(call.repository, name) !== undefined)
      return refused(422, 'Validation Failed', {
        errors: [{ resource: 'Label', code: 'already_exists', field: 'name' }],
      });
    const label = newLabel(call.site, call.repository, name, color, description);
    return created(labelJson(call.site, call.repository, label));
  }),
  repositoryRoute(`GET ${root}/labels/{name}`, readBoth, (call) => {
    const label = findLabel(call.repository, call.params['name']!);
    if (label === undefined) throw notFound();
    return ok(labelJson(call.site, call.repository, label));
  }),
];

const eventRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/issues/events`, readBoth, (call) =>
    listed(call, call.repository.events.toReversed(), (event: IssueEvent) => ({
      ...eventJson(call.site, call.repository, event),
      issue: issueJson(call.site, call.repository, findIssue(call.repository, event.number)!),
    })),
  ),
  repositoryRoute(`GET ${root}/issues/{issue_number}/events`, readBoth, (call) => {
    const issue = issueOf(call);
    const events = call.repository.events.filter(({ number }) => number === issue.number);
    return listed(call, events, (event) => eventJson(call.site, call.repository, event));
  }),
];

type IssueFields = {
  readonly title?: string | number | null;
  readonly body?: string | null;
  readonly state?: string;
};

const titleMax = 256;
const bodyMax = 65_536;

/** GitHub REST docs, "Create an issue" and "Update an issue"; its limits of lengths as it answers them. */
function checkText({ title, body }: IssueFields): void {
  if (title !== undefined && (String(title).trim() === '' || String(title).length > titleMax))
    throw invalid({ resource: 'Issue', field: 'title' });
  if ((body ?? '').length > bodyMax)
    throw invalid({
      resource: 'Issue',
      field: 'body',
      message: `body is too long (maximum is ${bodyMax} characters)`,
    });
}

function openIssue(call: RepositoryCall) {
  const { site, repository, principal } = call;
  const fields = fieldsOf(call) as IssueFields;
  checkText(fields);
  const now = site.clock.now();
  const issue: Issue = {
    id: site.nextId(),
    number: (repository.lastNumber += 1),
    title: String(fields.title),
    body: fields.body ?? null,
    author: accountOf(principal),
    via: viaOf(principal),
    createdAt: now,
    updatedAt: now,
    state: 'open',
    closedAt: null,
    labels: [],
  };
  repository.issues.set(issue.number, issue);
  return created(issueJson(site, repository, issue));
}

function updateIssue(call: RepositoryCall) {
  const { site, repository } = call;
  const issue = issueOf(call);
  const fields = fieldsOf(call) as IssueFields;
  checkText(fields);
  const now = site.clock.now();
  if (fields.title !== undefined) issue.title = String(fields.title);
  if (fields.body !== undefined) issue.body = fields.body;
  if (fields.state === 'open' || fields.state === 'closed') {
    if (issue.state !== fields.state) issue.closedAt = fields.state === 'closed' ? now : null;
    issue.state = fields.state;
  }
  issue.updatedAt = now;
  return ok(issueJson(site, repository, issue));
}

export const issueRoutes: readonly Route[] = [
  ...commentRoutes,
  ...eventRoutes,
  ...labelRoutes,
  repositoryRoute(`GET ${root}/issues`, readBoth, listIssues),
  repositoryRoute(`POST ${root}/issues`, { ...write('issues'), access: 'read' }, openIssue),
  repositoryRoute(`PATCH ${root}/issues/{issue_number}`, writeBoth, updateIssue),
  repositoryRoute(`GET ${root}/issues/{issue_number}`, readBoth, (call) =>
    ok(issueJson(call.site, call.repository, issueOf(call))),
  ),
];

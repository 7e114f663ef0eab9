// Issues that Signalbox opens, edits, closes and reopens.

import type { HostRepository } from '../../host.ts';
import type { IssueAnswer, OwnIssue } from '../../own-issue.ts';
import type { GithubClient } from '../client/client.ts';
import { type GithubIssue, WrittenIssue, GithubIssues } from '../schema.ts';
import { isOurs, marked } from './comment.ts';

const path = '/repos/{owner}/{repo}/issues';

export async function writeIssue(
  client: GithubClient,
  repository: HostRepository,
  issue: OwnIssue,
): Promise<IssueAnswer> {
  const { owner, name: repo } = repository;
  const text = { title: issue.title, body: marked(issue) };
  const known =
    issue.number ?? (issue.maybeSince === null ? null : await findIssue(client, repository, issue));
  if (known !== null) {
    const state = issue.isOpen ? { state: 'open' } : { state: 'closed', state_reason: 'completed' };
    const parameters = { owner, repo, issue_number: known, ...text, ...state };
    const edited = await client.attempt(
      `PATCH ${path}/{issue_number}`,
      parameters,
      WrittenIssue,
      [404, 410],
      {
        isRepeatable: true,
      },
    );
    if (edited.kind === 'done') return written(edited.value);
  }
  if (!issue.isOpen) return { kind: 'cannot', reason: 'The issue was deleted.' };
  // GitHub REST docs, "Create an issue": 410 if the repository has issues turned off, 404 without access.
  const opened = await client.attempt(`POST ${path}`, { owner, repo, ...text }, WrittenIssue, [404, 410]);
  return opened.kind === 'done' ? written(opened.value) : { kind: 'cannot', reason: opened.message };
}

const written = ({ number, html_url: url }: WrittenIssue): IssueAnswer => ({ kind: 'written', number, url });

/** Clocks differ. */
const skewMs = 600_000;

/** Finds only Signalbox's own issues: anyone can copy a mark. Pull requests are issues too. */
async function findIssue(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  { mark, maybeSince }: OwnIssue,
): Promise<number | null> {
  const since = new Date((maybeSince?.getTime() ?? 0) - skewMs).toISOString();
  const isMarked = ({ body, pull_request }: GithubIssue) =>
    pull_request === undefined && body?.includes(`<!-- ${mark} -->`) === true;
  const parameters = { owner, repo, state: 'all', sort: 'created', direction: 'desc', since };
  for await (const page of client.readPages(path, parameters, GithubIssues))
    for (const found of page.filter(isMarked)) if (await isOurs(client, found)) return found.number;
  return null;
}

// Who added a label to a pull request, and when the pull request got its head: this decides whether a label
// or a comment may submit it. Both come from GitHub's own record and not from the webhook, which can be
// repeated or late.

import { HostError, type HostRepository, type LabelState } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { isOurs } from './comment.ts';
import { findPullRequest } from './pull-request.ts';
import { Activities, type IssueEvent, IssueEvents, Labels, type GithubPullRequest } from '../schema.ts';

/** GitHub REST docs, "Issue event types": `labeled` and `unlabeled` name the label, the actor and the instant. */
export async function readLabel(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  issue_number: number,
  label: string,
  /** The pull request, if it was just read: it lists its labels. */
  pull: GithubPullRequest | null,
): Promise<LabelState> {
  const where = { owner, repo, issue_number };
  const key = label.toLowerCase();
  const path = '/repos/{owner}/{repo}/issues/{issue_number}';
  const labels =
    pull?.labels ?? (await client.read(`${path}/labels`, { ...where, per_page: 100 }, Labels)) ?? [];
  const isOn = labels.some(({ name }) => name.toLowerCase() === key);
  const isIt = ({ event, label: named }: IssueEvent) =>
    (event === 'labeled' || event === 'unlabeled') && named?.name.toLowerCase() === key;
  let last: IssueEvent | null = null;
  for await (const page of client.readPages(`${path}/events`, where, IssueEvents))
    last = page.findLast(isIt) ?? last;
  const actor = last === null ? null : { ...last, user: last.actor };
  if (last === null || actor === null || (await isOurs(client, actor))) return { isOn, lastChange: null };
  const at = new Date(last.created_at);
  return { isOn, lastChange: { isOn: last.event === 'labeled', by: last.actor?.login ?? null, at } };
}

/**
 * Uses the record of pushes to the head branch (GitHub REST docs, "List repository activities"). A fork that
 * Signalbox may not read, and a push older than the record, give null.
 */
export async function headSince(
  client: GithubClient,
  repository: HostRepository,
  number: number,
  headSha: string,
): Promise<Date | null> {
  const found = await findPullRequest(client, repository, number);
  const from = found?.head.repo;
  const branch = found?.head.ref;
  if (found?.head.sha !== headSha || branch === undefined || from === null || from === undefined) return null;
  const [owner = '', repo = ''] = from.full_name.split('/');
  const where = { owner, repo, ref: `refs/heads/${branch}` };
  try {
    const path = '/repos/{owner}/{repo}/activity';
    const pushes = await client.read(path, { ...where, per_page: 100 }, Activities);
    const push = pushes?.find(({ after }) => after === headSha);
    if (push === undefined) return null;
    // A push before the opening is the head from the beginning: every act on the pull request is later.
    const isFirst = Date.parse(push.timestamp) <= Date.parse(found?.created_at ?? '');
    return isFirst ? new Date(0) : new Date(push.timestamp);
  } catch (error) {
    if (error instanceof HostError && error.trouble === 'forbidden') return null;
    throw error;
  }
}

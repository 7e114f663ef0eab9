// What people said and did, asked for, in case that webhooks were lost.
//
// Whoever may triage can label on GitHub without being allowed to write. So it is found out who did it, and only what
// those did who may write is told; once for each pull request, and again when it has changed.

import type { HostEvent } from '#core/queue/host-event.ts';
import { fullName } from '#core/repository.ts';
import type { HostRepository } from '../host.ts';
import type { Client } from './client.ts';
import { isOurs } from './comment.ts';
import type { Memory } from './memory.ts';
import { permissionOf } from './permission.ts';
import { cut } from './pull-request.ts';
import { type Comment, Comments, type Issue, type IssueEvent, IssueEvents, Issues } from './schema.ts';

/** Who put the label on a pull request as it was at an instant, and whether they may write. */
export type Labelled = Memory<{
  readonly updatedAt: string;
  readonly by: string | null;
  readonly mayWrite: boolean;
}>;

export async function readWords(
  client: Client,
  labelled: Labelled,
  repository: HostRepository,
  sinceAt: Date,
  label: string,
): Promise<readonly HostEvent[]> {
  // GitHub counts in seconds.
  const since = floorTo(sinceAt, 1_000);
  const comments = await readComments(client, repository, since);
  return [...comments, ...(await readLabelled(client, labelled, repository, label))];
}

/** Within this time the same question is asked, so that "nothing new" uses nothing of our quota. */
const windowMs = 5 * 60_000;

const floorTo = (at: Date, ms: number): Date => new Date(Math.floor(at.getTime() / ms) * ms);

async function readComments(
  client: Client,
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
      const number = pullNumberOf(comment, repository);
      if (number === null || !isHeard(comment, since) || (await isOurs(client, comment))) continue;
      events.push({
        kind: 'comment-written',
        repository: { host, owner, name },
        number,
        commentId: String(comment.id),
        author: comment.user?.login ?? 'ghost',
        text: cut(comment.body ?? ''),
      });
    }
  return events;
}

/**
 * Of a comment that was edited nobody knows who wrote what it says now: it may be somebody with less rights than its
 * author. What it said at first is in the webhook alone.
 */
const isHeard = ({ created_at, updated_at }: Comment, since: Date): boolean =>
  created_at === updated_at && Date.parse(created_at) >= since.getTime();

/** Null: it is on an issue. */
function pullNumberOf({ html_url }: Comment, repository: HostRepository): number | null {
  const path = html_url.toLowerCase().split(`/${fullName(repository).toLowerCase()}/pull/`)[1];
  const number = Number.parseInt(path ?? '', 10);
  return Number.isNaN(number) ? null : number;
}

async function readLabelled(
  client: Client,
  labelled: Labelled,
  repository: HostRepository,
  label: string,
): Promise<readonly HostEvent[]> {
  const { host, owner, name } = repository;
  const path = '/repos/{owner}/{repo}/issues';
  const parameters = { owner, repo: name, state: 'open', labels: label };
  const found: Issue[] = [];
  for await (const page of client.readPages(path, parameters, Issues))
    found.push(...page.filter(({ pull_request }) => pull_request !== undefined));
  const keyOf = ({ number }: Issue) => `${repository.id} ${number} ${label}`;
  const changed = found.filter((issue) => labelled.get(keyOf(issue))?.updatedAt !== issue.updated_at);
  const people = await whoLabelled(client, repository, label, changed);
  const writers = new Map<string | null, boolean>();
  const isWriter = async (by: string | null) => {
    const mayWrite = writers.get(by) ?? (await mayWriteTo(client, repository, by));
    writers.set(by, mayWrite);
    return mayWrite;
  };
  for (const issue of changed) {
    const by = people.get(issue.number) ?? null;
    const known = labelled.get(keyOf(issue));
    const mayWrite = by === known?.by ? known.mayWrite : await isWriter(by);
    labelled.set(keyOf(issue), { updatedAt: issue.updated_at, by, mayWrite });
  }
  return found
    .filter((issue) => labelled.get(keyOf(issue))?.mayWrite === true)
    .map(({ number }) => ({
      kind: 'label-changed',
      repository: { host, owner, name },
      number,
      label,
      isOn: true,
      // Of those that are told here it is known that they may.
      by: null,
    }));
}

async function mayWriteTo(client: Client, repository: HostRepository, by: string | null): Promise<boolean> {
  if (by === null) return false;
  return ['write', 'admin'].includes(await permissionOf(client, repository, by));
}

/** Who put it on last; null: GitHub does not say. */
async function whoLabelled(
  { read, readPages }: Client,
  { owner, name: repo }: HostRepository,
  label: string,
  issues: readonly Issue[],
): Promise<ReadonlyMap<number, string | null>> {
  const people = new Map<number, string | null>();
  if (issues.length === 0) return people;
  const isIt = (event: IssueEvent) =>
    event.event === 'labeled' && event.label?.name.toLowerCase() === label.toLowerCase();
  // One question for all of them; the newest come first. Those that are not in it got the label longer ago.
  const parameters = { owner, repo, per_page: 100 };
  const latest = await read('/repos/{owner}/{repo}/issues/events', parameters, IssueEvents);
  for (const event of (latest ?? []).filter(isIt)) {
    const number = event.issue?.number;
    if (number !== undefined && !people.has(number)) people.set(number, event.actor?.login ?? null);
  }
  for (const { number: issue_number } of issues.filter(({ number }) => !people.has(number))) {
    const path = '/repos/{owner}/{repo}/issues/{issue_number}/events';
    for await (const page of readPages(path, { owner, repo, issue_number }, IssueEvents))
      for (const event of page.filter(isIt)) people.set(issue_number, event.actor?.login ?? null);
  }
  return people;
}

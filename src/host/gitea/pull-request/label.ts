// Who added a label to a pull request, and when the pull request got its head: this decides whether a label
// or a comment may submit it. Both are in the timeline of the pull request, which Gitea writes itself.
//
// The person who opens a pull request may add labels while doing so, without any right to the repository
// (Gitea routers/api/v1/repo/pull.go, CreatePullRequest); the timeline then names that person.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Host, HostRepository } from '../../host.ts';
import { type Client, pageSize, repositoryPath } from '../client/client.ts';
import { findPullRequest } from './pull-request.ts';
import { Label, TimelineEntry } from '../schema.ts';

const pagesMax = 100;
/** Gitea writes a push into the timeline in the background, a moment after the branch has moved. */
const lagMs = 1_500;
/** Acts of the opening itself happen in the second of the opening, or the next. */
const openingMs = 1_000;
/** Gitea omits entries that our account may not see, so a page may be empty although others follow. */
const emptyPagesMax = 2;

/** Oldest first. The answer gives no total, so pages are read until they stay empty. */
async function readTimeline(
  client: Client,
  repository: HostRepository,
  number: number,
): Promise<readonly TimelineEntry[]> {
  const path = `${repositoryPath(repository)}/issues/${number}/timeline`;
  const entries: TimelineEntry[] = [];
  let emptyPages = 0;
  for (let page = 1; page <= pagesMax && emptyPages < emptyPagesMax; page += 1) {
    const query = { page, limit: pageSize };
    const found = await client.read(repository.organizationId, TimelineEntry.array().nullable(), {
      path,
      query,
    });
    const isEmpty = found === null || found.length === 0;
    emptyPages = isEmpty ? emptyPages + 1 : 0;
    if (!isEmpty) entries.push(...found);
  }
  return entries;
}

const isPush = ({ type }: TimelineEntry): boolean => type === 'pull_push';
const isForcePush = ({ body }: TimelineEntry): boolean => body.includes('"is_force_push":true');

/**
 * Whether the only push in the timeline is the one of the opening: every act on the pull request is then
 * later than its head. Gitea writes that entry in the transaction that opens the pull request, after it has
 * copied the commits, which takes seconds in a large repository (services/pull/pull.go, NewPullRequest). Only
 * labels and assignees that the author gave with the opening are written before it. A force push may delete
 * the entry of the opening, and leaves one that says so.
 */
export function isOpening(
  timeline: readonly TimelineEntry[],
  pullRequest: { readonly user: string; readonly created_at?: number | undefined } | null,
): boolean {
  const pushes = timeline.filter(isPush);
  const [push] = pushes;
  if (push === undefined || pushes.length > 1 || isForcePush(push)) return false;
  const author = pullRequest?.user;
  const openedUntil = (pullRequest?.created_at ?? 0) + openingMs;
  const before = timeline.slice(0, timeline.indexOf(push));
  return (
    push.created_at <= openedUntil ||
    (push.user === author && before.every(({ user, created_at: at }) => user === author && at <= openedUntil))
  );
}

export function createLabelReader(client: Client): Pick<Host, 'readLabel' | 'headSince'> {
  return {
    readLabel: async (repository, number, label) => {
      const { organizationId } = repository;
      const path = `${repositoryPath(repository)}/issues/${number}/labels`;
      const labels = await client.list(organizationId, Label, { path });
      const isOn = labels.some(({ name }) => name === label);
      const timeline = await readTimeline(client, repository, number);
      const last = timeline.findLast((entry) => entry.type === 'label' && entry.label?.name === label);
      if (last === undefined || last.user === (await client.ownLogin(organizationId)))
        return { isOn, lastChange: null };
      const by = last.user === '' ? null : last.user;
      return { isOn, lastChange: { isOn: last.body === '1', by, at: new Date(last.created_at) } };
    },
    // Each push is an entry `pull_push` (Gitea services/pull/comment.go, CreatePushPullComment).
    headSince: async (repository, number) => {
      const read = async () => {
        const timeline = await readTimeline(client, repository, number);
        return { timeline, last: timeline.findLast(isPush) };
      };
      const first = await read();
      const { timeline, last } = first.last === undefined ? (await sleep(lagMs), await read()) : first;
      const pullRequest = await findPullRequest(client, repository, number);
      const isFromOpening = last === undefined || isOpening(timeline, pullRequest);
      return new Date(isFromOpening ? 0 : last.created_at);
    },
  };
}

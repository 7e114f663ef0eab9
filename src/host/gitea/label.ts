// Who put a label on a pull request, and when a pull request got its head: what decides whether a label or a comment may
// submit it. Both are in the timeline of the pull request, which Gitea writes itself.
//
// The person who opens a pull request may put labels on it while doing so, without any right to the repository (Gitea
// routers/api/v1/repo/pull.go, CreatePullRequest); the timeline then names that person.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Host, HostRepository } from '../host.ts';
import { type Client, pageSize, repositoryPath } from './client.ts';
import { findPullRequest } from './pull-request.ts';
import { Label, TimelineEntry } from './schema.ts';

const pagesMax = 100;
/** Gitea writes a push into the timeline in the background, a moment after the branch has moved. */
const lagMs = 1_500;
/** Gitea counts in seconds, and the opening may fall into two of them. */
const openingMs = 1_000;
/** Gitea leaves out what our account may not see, so a page may be empty although others follow. */
const emptyPagesMax = 2;

/** Oldest first. Its answer counts only its own page, so all are read until nothing comes any more. */
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
      const lastPush = async () =>
        (await readTimeline(client, repository, number)).findLast(({ type }) => type === 'pull_push');
      const push = (await lastPush()) ?? (await sleep(lagMs), await lastPush());
      // The commits of the opening are an entry too: with them the pull request began, and whatever is done on it is later.
      const opened = (await findPullRequest(client, repository, number))?.created_at ?? 0;
      return new Date(push === undefined || push.created_at <= opened + openingMs ? 0 : push.created_at);
    },
  };
}

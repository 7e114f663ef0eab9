// The effects of a push, by any account: CI starts, pull requests opened from a branch take its new head or
// are closed with it, those whose head the branch now contains are merged, and webhooks report all that.
// Handling a push twice changes nothing.

import type { Clock } from '#base/clock.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { Cell } from '#db/cell.ts';
import {
  closeSandboxPullRequestsFrom,
  markContainedPullRequests,
  moveSandboxHeads,
} from '#db/sandbox/sandbox-store.ts';
import { runGit } from '#git/run.ts';
import type { HostRepository, RefUpdate } from '../host.ts';
import type { Announce } from './announce.ts';
import { type Ci, testBranchPrefix } from './ci.ts';
import type { Disk } from './disk.ts';
import { loadSettings, type SandboxSettings } from './setting.ts';

type PushNoticeOptions = {
  readonly cell: Cell;
  readonly disk: Disk;
  readonly ci: Ci;
  readonly announce: Announce;
  readonly clock: Clock;
};

export type NoticePush = (repository: HostRepository, updates: readonly RefUpdate[]) => Promise<void>;

/** For a push, with the new head and its time. */
export const pullRequestEvent = (
  { host, owner, name }: HostRepository,
  number: number,
  head?: { readonly sha: string; readonly at: number },
): HostEvent => ({
  kind: 'pull-request-changed',
  repository: { host, owner, name },
  number,
  ...(head === undefined ? {} : { head }),
});

export function createPushNotice({ cell, disk, ci, announce, clock }: PushNoticeOptions): NoticePush {
  const moveBranch = async (
    repository: HostRepository,
    settings: SandboxSettings,
    branch: string,
    { from, to }: RefUpdate,
  ): Promise<HostEvent[]> => {
    const { host, owner, name } = repository;
    const moved: HostEvent = { kind: 'branch-moved', repository: { host, owner, name }, branch, sha: to };
    const changed = (numbers: readonly number[]) =>
      numbers.map((number) => pullRequestEvent(repository, number));
    const moveHeads = async (sha: string) => {
      const at = clock.now();
      const head = { sha, at: at.getTime() };
      return (await moveSandboxHeads(cell.db, repository.id, branch, sha, at)).map((number) =>
        pullRequestEvent(repository, number, head),
      );
    };
    if (to === null)
      return [moved, ...changed(await closeSandboxPullRequestsFrom(cell.db, repository.id, branch))];
    const isTest = branch.startsWith(testBranchPrefix);
    if (isTest || settings.ciOn === 'all') await ci.start(repository, settings, { branch, sha: to });
    if (isTest)
      // A new branch has no pull requests yet.
      return from === null ? [moved] : [moved, ...(await moveHeads(to))];
    const added = await addedCommits(await disk.ensure(repository), from, to);
    const merged = await markContainedPullRequests(cell.db, repository.id, branch, added, to);
    return [moved, ...changed(merged), ...(await moveHeads(to))];
  };

  return async (repository, updates) => {
    const settings = await loadSettings(cell, repository);
    const events: HostEvent[] = [];
    for (const update of updates)
      if (update.ref.startsWith('refs/heads/'))
        events.push(...(await moveBranch(repository, settings, update.ref.slice(11), update)));
    await announce(repository, settings.faults, events);
  };
}

/** The commits that a branch did not have before, newest first and at most 10,000. */
async function addedCommits(directory: string, from: string | null, to: string): Promise<readonly string[]> {
  const range = from === null ? [] : [`^${from}`];
  const args = ['rev-list', '--max-count=10000', to, ...range];
  const { exitCode, stdout } = await runGit({ directory }, { args, exitCodes: [0, 128] });
  return exitCode === 0 ? stdout.toString('latin1').split('\n').filter(Boolean) : [];
}

// What follows from a push, whoever pushed: CI begins, pull requests opened from a branch take its new head or are closed
// with it, those whose head the branch now contains are merged, and webhooks tell of all that. Doing it twice changes
// nothing.

import type { Clock } from '#base/clock.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import { runGit } from '#git/run.ts';
import type { HostRepository, RefUpdate } from '../host.ts';
import type { Announce } from './announce.ts';
import { type Ci, testBranchPrefix } from './ci.ts';
import type { Disk } from './disk.ts';
import { type SandboxSettings, settingsFrom } from './setting.ts';
import type { SandboxStore } from './store.ts';

type PushOptions = {
  readonly store: SandboxStore;
  readonly disk: Disk;
  readonly ci: Ci;
  readonly announce: Announce;
  readonly clock: Clock;
};

export type NoticePush = (repository: HostRepository, updates: readonly RefUpdate[]) => Promise<void>;

/** Of a push it also says the new head, and when it came. */
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

export function createPushNotice({ store, disk, ci, announce, clock }: PushOptions): NoticePush {
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
      return (await store.moveHeads(repository, branch, sha, at)).map((number) =>
        pullRequestEvent(repository, number, head),
      );
    };
    if (to === null) return [moved, ...changed(await store.closeFrom(repository, branch))];
    const isTest = branch.startsWith(testBranchPrefix);
    if (isTest || settings.ciOn === 'all') await ci.start(repository, settings, { branch, sha: to });
    if (isTest)
      // Nothing was opened yet from a branch that is new.
      return from === null ? [moved] : [moved, ...(await moveHeads(to))];
    const added = await addedCommits(await disk.ensure(repository), from, to);
    const merged = await store.markContained(repository, branch, added, to);
    return [moved, ...changed(merged), ...(await moveHeads(to))];
  };

  return async (repository, updates) => {
    const settings = settingsFrom(await store.findSettings(repository));
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

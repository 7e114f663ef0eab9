// A complete host that needs no account: repositories with real commits, pull requests, CI, branch protection, a merge
// call and webhooks. Pull requests and statuses are in the database, commits on disk. A pull request nobody told it
// about is made up on first sight, always the same for the same repository and number: open and mergeable onto the
// branch of the queue that asks.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { PullRequest } from '#core/queue/model.ts';
import { fullName } from '#core/repository.ts';
import { type Host, HostError, type HostRepository } from '../host.ts';
import { createAnnouncer } from './announce.ts';
import { createCi } from './ci.ts';
import { createControl, type SandboxControl } from './control.ts';
import { createDisk } from './disk.ts';
import { madeUp } from './made-up.ts';
import { createMerger } from './merge.ts';
import { createPushNotice } from './push.ts';
import { type Faults, requiredChecksOf, type SandboxSettings, settingsFrom } from './setting.ts';
import type { SandboxPullRequest, SandboxStore } from './store.ts';
import { parseWebhook } from './webhook.ts';

export type SandboxOptions = {
  readonly store: SandboxStore;
  /** The folder of the repositories. */
  readonly folder: string;
  readonly cellName: string;
  /** Where our API is reached; null: what webhooks would tell is recorded directly. */
  readonly publicUrl: string | null;
  /** Whether the operator lets repositories run scripts as CI. */
  readonly scripts: boolean;
  readonly clock: Clock;
  readonly log: Log;
};

export type SandboxHost = Host & { readonly kind: 'sandbox'; readonly control: SandboxControl };

export const isSandboxHost = (host: Host | null): host is SandboxHost => host?.kind === 'sandbox';

/** How long a host that does not answer keeps its caller waiting. */
const silenceMs = 1_000;

export function createSandboxHost(options: SandboxOptions): SandboxHost {
  const { store, clock } = options;
  const disk = createDisk(options.folder, store);
  const announce = createAnnouncer(options);
  const ci = createCi({ store, disk, announce, scripts: options.scripts });
  const noticePush = createPushNotice({ store, disk, ci, announce });
  const { merge, markMerged } = createMerger({ store, disk, clock, announce, noticePush });

  /** The settings, if the host is to answer at all. */
  const settingsOf = async (repository: HostRepository): Promise<SandboxSettings> => {
    const settings = settingsFrom(await store.findSettings(repository));
    await requireAnswer(settings.faults, clock);
    return settings;
  };

  return {
    kind: 'sandbox',
    repositories: 'implicit',
    readPullRequest: async (query) => {
      const { repository, number } = query;
      const found = await store.find(repository, number);
      if (found !== null) await requireAnswer(settingsFrom({ faults: found.faults ?? {} }).faults, clock);
      else await settingsOf(repository);
      const kept = found?.pullRequest ?? (await store.insert(repository, madeUp(query)));
      return kept.state === 'missing' ? null : shown(repository, kept);
    },
    readChecks: async (repository, sha) => {
      const settings = await settingsOf(repository);
      await ci.repair(repository, settings, sha);
      return store.listChecks(repository, sha);
    },
    readRequiredChecks: async (repository, branch) => requiredChecksOf(await settingsOf(repository), branch),
    remoteOf: async (repository) => {
      await settingsOf(repository);
      return { url: await disk.ensure(repository) };
    },
    afterPush: async (repository, updates) => {
      await settingsOf(repository);
      await noticePush(repository, updates);
    },
    // The sandbox marks what it is told to.
    showsPushedAsMerged: () => true,
    markMerged: async (repository, number, sha) => {
      await settingsOf(repository);
      await markMerged(repository, number, sha);
    },
    merge: async (request) => {
      await settingsOf(request.repository);
      return merge(request);
    },
    parseWebhook,
    control: createControl({ ...options, disk, announce, ci, noticePush, merge }),
  };
}

async function requireAnswer({ answers, answersUntil }: Faults, clock: Clock): Promise<void> {
  if (answers === 'ok' || (answersUntil !== null && new Date(answersUntil) <= clock.now())) return;
  if (answers === 'timeout') await sleep(silenceMs);
  throw new HostError(
    'unavailable',
    answers === 'timeout' ? 'The sandbox host does not answer.' : 'The sandbox host answered with 503.',
  );
}

function shown(repository: HostRepository, kept: SandboxPullRequest): PullRequest {
  const { number, title, body, headSha, baseBranch, author, mergeability, draft, state } = kept;
  return {
    number,
    title,
    body,
    headSha,
    baseBranch,
    author,
    mergeability,
    draft,
    url: `https://${repository.host}/${fullName(repository)}/pull/${number}`,
    state: state === 'missing' ? 'closed' : state,
  };
}

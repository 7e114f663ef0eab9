// A complete host that needs no account: repositories with real commits, pull requests, CI, branch protection, a merge
// call and webhooks. Pull requests and statuses are in the database, commits on disk. A pull request nobody told it
// about is made up on first sight, always the same for the same repository and number: open and mergeable onto the
// branch of the queue that asks.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { standingApprovals } from '#core/queue/approval.ts';
import type { PullRequest } from '#core/queue/model.ts';
import { fullName } from '#core/repository.ts';
import { branchRef, trialMergeRef } from '#git/ref.ts';
import { type Host, HostError, type HostRepository } from '../host.ts';
import { type Announce, createAnnouncer } from './announce.ts';
import { checkEvents, createCi } from './ci.ts';
import { goTogether } from './commit.ts';
import { createControl, type SandboxControl } from './control.ts';
import { createDisk, type Disk } from './disk.ts';
import { findCommit } from './git.ts';
import { madeUp } from './made-up.ts';
import { createMerger } from './merge.ts';
import { inspectSandbox } from './inspect.ts';
import { createPushNotice, pullRequestEvent } from './push.ts';
import {
  type Faults,
  permissionIn,
  requiredChecksOf,
  type SandboxSettings,
  settingsFrom,
} from './setting.ts';
import type { SandboxPullRequest, SandboxStore } from './store.ts';
import { openTestPullRequest } from './test-pull-request.ts';
import { updateTrialMerge } from './trial-merge.ts';
import { parseWebhook } from './webhook.ts';
import { createWords, ownLogin, type Words } from './word.ts';

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
  const noticePush = createPushNotice({ store, disk, ci, announce, clock });
  const { merge, markMerged } = createMerger({ store, disk, clock, announce, noticePush });
  const words = createWords({ store, announce, clock });

  /** The settings, if the host is to answer at all. */
  const settingsOf = async (repository: HostRepository): Promise<SandboxSettings> => {
    const settings = settingsFrom(await store.findSettings(repository));
    await requireAnswer(settings.faults, clock);
    return settings;
  };

  return {
    kind: 'sandbox',
    repositories: 'implicit',
    leavesMergeToTry: false,
    readPullRequest: pullRequestReader(options, disk, settingsOf),
    readApprovals: async (repository, number) => {
      await settingsOf(repository);
      const reviews = await store.listReviews(repository, number);
      return standingApprovals(
        reviews.flatMap(({ state, ...review }) =>
          state === 'commented' ? [] : [{ ...review, decision: state }],
        ),
      );
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
    trialMergeRef,
    parseWebhook,
    stopRuns: async (repository, dead) => {
      const isStopped = await ci.stop(repository, await settingsOf(repository), dead);
      return { kind: 'stopped', count: isStopped ? 1 : 0 };
    },
    ...conversationOf(options, { disk, announce, words, settingsOf }),
    control: createControl({ ...options, disk, announce, ci, noticePush, merge }),
  };
}

/** Pull requests that were not described are made up when they are first read. */
function pullRequestReader(
  { store, clock }: SandboxOptions,
  disk: Disk,
  settingsOf: (repository: HostRepository) => Promise<SandboxSettings>,
): Host['readPullRequest'] {
  return async (query) => {
    const { repository, number } = query;
    const found = await store.find(repository, number);
    if (found !== null) await requireAnswer(settingsFrom({ faults: found.faults ?? {} }).faults, clock);
    else await settingsOf(repository);
    const kept = found?.pullRequest ?? (await store.insert(repository, madeUp(query)));
    if (query.asOf !== undefined) await updateTrialMerge(await disk.ensure(repository), kept, clock.now());
    return kept.state === 'missing'
      ? null
      : shown(repository, await withMergeability(disk, repository, kept));
  };
}

type Parts = {
  readonly disk: Disk;
  readonly announce: Announce;
  readonly words: Words;
  readonly settingsOf: (repository: HostRepository) => Promise<SandboxSettings>;
};

type Conversation = Pick<
  Host,
  | 'closePullRequest'
  | 'headBranchOf'
  | 'findRepository'
  | 'openTestPullRequest'
  | 'writeComment'
  | 'writeCheck'
  | 'changeLabels'
  | 'permissionOf'
  | 'readLabel'
  | 'headSince'
  | 'readPerson'
  | 'readWords'
  | 'inspect'
  | 'readRules'
>;

/** What is told to people, and what they say. */
function conversationOf(options: SandboxOptions, parts: Parts): Conversation {
  const { store } = options;
  const { disk, announce, words, settingsOf } = parts;
  return {
    headBranchOf: () => Promise.resolve(null),
    closePullRequest: async (repository, number) => {
      const { faults } = await settingsOf(repository);
      if ((await store.find(repository, number))?.pullRequest.state !== 'open') return;
      await store.patch(repository, number, { state: 'closed' });
      await announce(repository, faults, [pullRequestEvent(repository, number)]);
    },
    // Every repository exists as soon as it is named.
    findRepository: (_organizationId, { host, owner, name }) => Promise.resolve({ host, owner, name }),
    openTestPullRequest: async (repository, wish) =>
      openTestPullRequest({ store, disk, announce }, repository, await settingsOf(repository), wish),
    writeComment: async (repository, number, comment) => {
      await settingsOf(repository);
      return words.writeComment(repository, number, comment);
    },
    // A status has no room for more than its state and an address.
    writeCheck: async (repository, sha, { name, state, url }) => {
      const { faults } = await settingsOf(repository);
      const checks = await store.saveCheck(repository, sha, { name, state, url });
      await announce(repository, faults, checkEvents(repository, sha, checks));
    },
    changeLabels: async (repository, number, change) => {
      await settingsOf(repository);
      await words.changeLabels(repository, number, change, ownLogin);
    },
    // Its people have no accounts.
    readPerson: () => Promise.resolve(null),
    permissionOf: async (repository, person) => permissionIn(await settingsOf(repository), person),
    readLabel: async (repository, number, label) => {
      await settingsOf(repository);
      return words.readLabel(repository, number, label);
    },
    headSince: async (repository, number, headSha) => {
      await settingsOf(repository);
      const kept = (await store.find(repository, number))?.pullRequest ?? null;
      if (kept === null) return new Date(0);
      return kept.headSha === headSha ? (kept.headSince ?? new Date(0)) : null;
    },
    readWords: async (repository, since, label) => {
      await settingsOf(repository);
      return words.readWords(repository, since, label);
    },
    inspect: async (repository, branch) =>
      inspectSandbox({ ...options, disk }, repository, await settingsOf(repository), branch),
    readRules: () => Promise.resolve([]),
  };
}

/** What a host that wants fewer questions asks for where nobody said how long. */
const pauseMs = 1_000;

async function requireAnswer({ answers, answersUntil }: Faults, clock: Clock): Promise<void> {
  const leftMs = answersUntil === null ? null : Date.parse(answersUntil) - clock.now().getTime();
  if (answers === 'ok' || (leftMs !== null && leftMs <= 0)) return;
  switch (answers) {
    case 'timeout':
      await sleep(silenceMs);
      throw new HostError('unavailable', 'The sandbox host does not answer.');
    case '5xx':
      throw new HostError('unavailable', 'The sandbox host answered with 503.');
    case 'rate_limited':
      throw new HostError('rate_limited', 'The sandbox host wants fewer questions.', {
        retryAfterMs: leftMs ?? pauseMs,
      });
    case 'forbidden':
      throw new HostError('forbidden', 'The sandbox host forbids us this.');
  }
}

/** Of one that was opened from a branch git is asked; of others it is as a script says. */
async function withMergeability(
  disk: Disk,
  repository: HostRepository,
  kept: SandboxPullRequest,
): Promise<SandboxPullRequest> {
  if (kept.branch === null || kept.state !== 'open' || kept.mergeability !== 'mergeable') return kept;
  const directory = await disk.ensure(repository);
  const tip = await findCommit(directory, branchRef(kept.baseBranch));
  const isKnown = tip !== null && (await findCommit(directory, kept.headSha)) !== null;
  if (!isKnown || (await goTogether(directory, tip, kept.headSha))) return kept;
  return { ...kept, mergeability: 'not_mergeable' };
}

function shown(repository: HostRepository, kept: SandboxPullRequest): PullRequest {
  const { number, title, body, headSha, baseBranch, author, fork, mergeability, draft, state } = kept;
  return {
    number,
    title,
    body,
    headSha,
    baseBranch,
    author,
    fork,
    mergeability,
    draft,
    url: `https://${repository.host}/${fullName(repository)}/pull/${number}`,
    state: state === 'missing' ? 'closed' : state,
  };
}

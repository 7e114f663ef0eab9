// A complete host that needs no account: repositories with real commits, pull requests, CI, branch
// protection, a merge call and webhooks. Pull requests and statuses are in the database, commits on disk. A
// pull request that was not created before exists as soon as the API names it, always the same for the same
// repository and number: open, and mergeable onto the branch that the request names. No other read of a pull
// request creates one.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { currentApprovals } from '#core/queue/rule/approval.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { Cell } from '#db/cell.ts';
import { listSandboxChecks, saveSandboxCheck } from '#db/sandbox/sandbox-ci-store.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import {
  findSandboxPullRequest,
  insertSandboxPullRequest,
  listSandboxReviews,
  patchSandboxPullRequest,
  readSandboxPullRequest,
} from '#db/sandbox/sandbox-store.ts';
import { branchRef, trialMergeRef } from '#git/ref.ts';
import { type Host, HostError, type HostRepository, type PullRequestQuery, toStatusState } from '../host.ts';
import { type Announce, createAnnouncer } from './announce.ts';
import { checkEvents, createCi } from './ci.ts';
import { goTogether } from './commit.ts';
import { createControl, type SandboxControl } from './control.ts';
import { createDisk, type Disk } from './disk.ts';
import { findCommit } from './git.ts';
import { madeUp } from './made-up.ts';
import { createMerger } from './merge.ts';
import { createIssues } from './issue.ts';
import { inspectSandbox } from './inspect.ts';
import { createPushNotice, type NoticePush, pullRequestEvent } from './push.ts';
import {
  type Faults,
  loadSettings,
  permissionIn,
  listRequiredChecks,
  type SandboxSettings,
  settingsFrom,
} from './setting.ts';
import { openOwnPullRequest } from './own-pull-request.ts';
import { proposeFiles } from './proposal.ts';
import { pullRequestUrl } from './pull-request.ts';
import { updateTrialMerge } from './trial-merge.ts';
import { parseWebhook } from './webhook.ts';
import { createCommentsAndLabels, ownLogin, type SandboxCommentsAndLabels } from './comment.ts';

export type SandboxOptions = {
  readonly cell: Cell;
  /** The folder of the repositories. */
  readonly folder: string;
  /** The URL of our API; null: events are recorded directly instead of sent as webhooks. */
  readonly publicUrl: string | null;
  /** Whether the operator lets repositories run scripts as CI. */
  readonly scripts: boolean;
  readonly clock: Clock;
  readonly log: Log;
};

export type SandboxHost = Host & {
  readonly kind: 'sandbox';
  /**
   * Creates a pull request that a request names, onto the branch that it names; null if it existed and was
   * removed.
   */
  readonly createNamedPullRequest: (query: PullRequestQuery, branch: string) => Promise<PullRequest | null>;
  readonly control: SandboxControl;
};

export const isSandboxHost = (host: Host | null): host is SandboxHost => host?.kind === 'sandbox';

/** How long a host that does not answer keeps its caller waiting. */
const silenceMs = 1_000;

export function createSandboxHost(options: SandboxOptions): SandboxHost {
  const { cell, clock } = options;
  const disk = createDisk(options.folder, cell);
  const announce = createAnnouncer(options);
  const ci = createCi({ cell, disk, announce, scripts: options.scripts });
  const noticePush = createPushNotice({ cell, disk, ci, announce, clock });
  const { merge, markMerged } = createMerger({ cell, disk, clock, announce, noticePush });
  const comments = createCommentsAndLabels({ cell, announce, clock });

  /** The settings, if the host answers at all. */
  const readSettings = async (repository: HostRepository): Promise<SandboxSettings> => {
    const settings = await loadSettings(cell, repository);
    await requireAnswer(settings.faults, clock);
    return settings;
  };

  return {
    kind: 'sandbox',
    leavesMergeToTry: false,
    ...pullRequestReaders(options, disk),
    readApprovals: async (repository, number) => {
      await readSettings(repository);
      const reviews = await listSandboxReviews(cell.reader, repository.id, number);
      return currentApprovals(
        reviews.flatMap(({ state, ...review }) =>
          state === 'commented' ? [] : [{ ...review, decision: state }],
        ),
      );
    },
    readChecks: async (repository, sha) => {
      const settings = await readSettings(repository);
      await ci.repair(repository, settings, sha);
      return listSandboxChecks(cell.reader, repository.id, sha);
    },
    readRequiredChecks: async (repository, branch) =>
      listRequiredChecks(await readSettings(repository), branch),
    remoteOf: async (repository) => {
      await readSettings(repository);
      return { url: await disk.ensure(repository) };
    },
    afterPush: async (repository, updates) => {
      await readSettings(repository);
      await noticePush(repository, updates);
    },
    // `markMerged` does it.
    showsPushedAsMerged: () => true,
    markMerged: async (repository, number, sha) => {
      await readSettings(repository);
      await markMerged(repository, number, sha);
    },
    merge: async (request) => {
      await readSettings(request.repository);
      return merge(request);
    },
    trialMergeRef,
    parseWebhook,
    // Every repository exists as soon as it is named.
    readAccess: () =>
      Promise.resolve({ version: 'Sandbox', account: ownLogin, missing: [], repositories: [], app: null }),
    // Its events need no webhook.
    ensureWebhook: () => Promise.resolve({ kind: 'unchanged' }),
    stopRuns: async (repository, dead) => {
      const isStopped = await ci.stop(repository, await readSettings(repository), dead);
      return { kind: 'stopped', count: isStopped ? 1 : 0 };
    },
    rerunFailedJobs: async (repository) => {
      await readSettings(repository);
      return { kind: 'cannot', reason: 'The sandbox runs all of CI for a commit, or nothing.' };
    },
    ...createConversation(options, { disk, announce, noticePush, comments, settingsOf: readSettings }),
    control: createControl({ ...options, disk, announce, ci, noticePush, merge }),
  };
}

function pullRequestReaders(
  { cell, clock }: SandboxOptions,
  disk: Disk,
): Pick<SandboxHost, 'readPullRequest' | 'createNamedPullRequest'> {
  const show = async (repository: HostRepository, kept: SandboxPullRequest): Promise<PullRequest | null> =>
    kept.state === 'missing' ? null : shown(repository, await withMergeability(disk, repository, kept));
  return {
    readPullRequest: async ({ repository, number, landing }) => {
      const { pullRequest, faults } = await readSandboxPullRequest(cell.reader, repository.id, number);
      await requireAnswer(settingsFrom({ faults: faults ?? {} }).faults, clock);
      if (pullRequest === null) return null;
      if (landing !== undefined)
        await updateTrialMerge(await disk.ensure(repository), pullRequest, clock.now());
      return show(repository, pullRequest);
    },
    createNamedPullRequest: async ({ repository, number }, branch) =>
      show(
        repository,
        await insertSandboxPullRequest(cell.db, repository.id, madeUp(repository, number, branch)),
      ),
  };
}

type Parts = {
  readonly disk: Disk;
  readonly announce: Announce;
  readonly comments: SandboxCommentsAndLabels;
  readonly noticePush: NoticePush;
  readonly settingsOf: (repository: HostRepository) => Promise<SandboxSettings>;
};

type Conversation = Pick<
  Host,
  | 'closePullRequest'
  | 'headBranchOf'
  | 'findRepository'
  | 'openTestPullRequest'
  | 'proposeFiles'
  | 'editorUrl'
  | 'writeComment'
  | 'writeIssue'
  | 'writeCheck'
  | 'changeLabels'
  | 'permissionOf'
  | 'readLabel'
  | 'headSince'
  | 'readPerson'
  | 'readCommentsAndLabels'
  | 'inspect'
  | 'readRules'
>;

/** Comments, checks and labels. */
function createConversation(options: SandboxOptions, parts: Parts): Conversation {
  const { cell } = options;
  const { disk, announce, comments: commentsAndLabels, settingsOf: readSettings } = parts;
  const writeIssue = createIssues(options);
  return {
    headBranchOf: () => Promise.resolve(null),
    closePullRequest: async (repository, number) => {
      const { faults } = await readSettings(repository);
      if ((await findSandboxPullRequest(cell.reader, repository.id, number))?.state !== 'open') return;
      await patchSandboxPullRequest(cell.db, repository.id, number, { state: 'closed' });
      await announce(repository, faults, [pullRequestEvent(repository, number)]);
    },
    // Every repository exists as soon as it is named.
    findRepository: (_organizationId, { host, owner, name }) => Promise.resolve({ host, owner, name }),
    openTestPullRequest: async (repository, testPullRequest) =>
      openOwnPullRequest({ cell, disk, announce }, repository, await readSettings(repository), {
        ...testPullRequest,
        draft: true,
      }),
    proposeFiles: async (repository, proposal) =>
      proposeFiles({ ...options, ...parts }, repository, await readSettings(repository), proposal),
    // The sandbox has no pages.
    editorUrl: () => Promise.resolve(null),
    writeComment: async (repository, number, comment) => {
      await readSettings(repository);
      return commentsAndLabels.writeComment(repository, number, comment);
    },
    writeIssue: async (repository, issue) => {
      await readSettings(repository);
      return writeIssue(repository, issue);
    },
    // A status has room only for its state and a URL.
    writeCheck: async (repository, sha, check) => {
      const { faults } = await readSettings(repository);
      const status = { name: check.name, state: toStatusState(check), url: check.url };
      const checks = await saveSandboxCheck(cell.db, repository.id, sha, status);
      await announce(repository, faults, checkEvents(repository, sha, checks));
    },
    changeLabels: async (repository, number, change) => {
      await readSettings(repository);
      await commentsAndLabels.changeLabels(repository, number, change, ownLogin);
    },
    // People of the sandbox have no accounts.
    readPerson: () => Promise.resolve(null),
    permissionOf: async (repository, person) => permissionIn(await readSettings(repository), person),
    readLabel: async (repository, number, label) => {
      await readSettings(repository);
      return commentsAndLabels.readLabel(repository, number, label);
    },
    headSince: async (repository, number, headSha) => {
      await readSettings(repository);
      const kept = await findSandboxPullRequest(cell.reader, repository.id, number);
      return kept?.headSha === headSha ? (kept.headSince ?? new Date(0)) : null;
    },
    readCommentsAndLabels: async (repository, since, label) => {
      await readSettings(repository);
      return commentsAndLabels.readCommentsAndLabels(repository, since, label);
    },
    inspect: async (repository, branch) =>
      inspectSandbox({ ...options, disk }, repository, await readSettings(repository), branch),
    readRules: () => Promise.resolve([]),
  };
}

/** The wait that a rate limited host asks for if the settings give no end. */
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
      throw new HostError('rate_limited', 'The sandbox host has rate limited Signalbox.', {
        retryAfterMs: leftMs ?? pauseMs,
      });
    case 'forbidden':
      throw new HostError('forbidden', 'The sandbox host forbids this.');
  }
}

/** Git decides for a pull request that was opened from a branch; for others a script sets it. */
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
    url: pullRequestUrl(repository, number),
    state: state === 'missing' ? 'closed' : state,
  };
}

// Pull requests of the sandbox, as scripts create and change them. Every change sends an event, as on any
// host.

import type { Clock } from '#base/clock.ts';
import { appError } from '#base/error.ts';
import { fullName } from '#core/repository.ts';
import type { Cell } from '#db/cell.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import {
  addSandboxReview,
  findSandboxPullRequest,
  insertSandboxPullRequest,
  patchSandboxPullRequest,
  type SandboxReview,
  saveSandboxPullRequest,
} from '#db/sandbox/sandbox-store.ts';
import { branchRef, remotePullRef } from '#git/ref.ts';
import type { HostRepository } from '../host.ts';
import type { Announce } from './announce.ts';
import type { Ci } from './ci.ts';
import { commitFiles, type FileChanges } from './commit.ts';
import type { Disk } from './disk.ts';
import { changeRefs, findCommit } from './git.ts';
import { changePath, changeText, headSha, madeUp, toGitPerson } from './made-up.ts';
import { pullRequestEvent } from './push.ts';
import { loadSettings } from './setting.ts';

/** A script's description of a pull request; the head in one of four ways, or made up. */
type SandboxPullRequestInput = {
  readonly facts: Partial<SandboxPullRequest>;
  /** A commit of these files on top of the base, or of `parentSha`. */
  readonly files?: FileChanges | undefined;
  readonly parentSha?: string | undefined;
  /** An existing branch. */
  readonly branch?: string | undefined;
};

type SandboxPushInput = { readonly sha?: string | undefined; readonly files?: FileChanges | undefined };

export type PullRequestControl = {
  readonly createPullRequest: (
    repository: HostRepository,
    number: number,
    input: SandboxPullRequestInput,
  ) => Promise<SandboxPullRequest>;
  readonly updatePullRequest: (
    repository: HostRepository,
    number: number,
    facts: Partial<SandboxPullRequest>,
  ) => Promise<SandboxPullRequest>;
  readonly pushPullRequest: (
    repository: HostRepository,
    number: number,
    input: SandboxPushInput,
  ) => Promise<SandboxPullRequest>;
  readonly reviewPullRequest: (
    repository: HostRepository,
    number: number,
    review: Omit<SandboxReview, 'commit'> & { readonly commit?: string | undefined },
  ) => Promise<void>;
  readonly removePullRequest: (repository: HostRepository, number: number) => Promise<void>;
  readonly requirePullRequest: (repository: HostRepository, number: number) => Promise<SandboxPullRequest>;
};

export type PullRequestOptions = {
  readonly cell: Cell;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly announce: Announce;
  readonly ci: Ci;
};

export const refusal = (message: string) => appError('SANDBOX_REFUSED', { public: message });

export function createPullRequestControl(options: PullRequestOptions): PullRequestControl {
  const { cell, announce, ci, clock } = options;

  /** After a change: CI of the new head where it runs for pull requests, then the webhook. */
  const announceChange = async (repository: HostRepository, saved: SandboxPullRequest, isPush: boolean) => {
    const settings = await loadSettings(cell, repository);
    if (isPush && settings.ciOn === 'all')
      await ci.start(repository, settings, { branch: remotePullRef(saved.number), sha: saved.headSha });
    const head = { sha: saved.headSha, at: (saved.headSince ?? new Date(0)).getTime() };
    const event = pullRequestEvent(repository, saved.number, isPush ? head : undefined);
    await announce(repository, settings.faults, [event]);
    return saved;
  };

  const requirePullRequest: PullRequestControl['requirePullRequest'] = async (repository, number) => {
    // A script names it: it exists from now on.
    const kept =
      (await findSandboxPullRequest(cell.reader, repository.id, number)) ??
      (await insertSandboxPullRequest(cell.db, repository.id, fresh(repository, number)));
    if (kept.state !== 'missing') return kept;
    throw appError('PULL_REQUEST_NOT_FOUND', {
      public: `Pull request #${number} of ${fullName(repository)} was removed. Create it again with /sandbox/v1/createPullRequest.`,
    });
  };

  const updatePullRequest: PullRequestControl['updatePullRequest'] = async (repository, number, facts) => {
    const kept = await requirePullRequest(repository, number);
    const isMoved = facts.headSha !== undefined && facts.headSha !== kept.headSha;
    const moved = isMoved ? { ...facts, headSince: clock.now() } : facts;
    const saved = await patchSandboxPullRequest(cell.db, repository.id, number, moved);
    return announceChange(repository, saved!, facts.headSha !== undefined);
  };

  return {
    requirePullRequest,
    updatePullRequest,
    createPullRequest: async (repository, number, input) => {
      const described = { ...fresh(repository, number), ...input.facts, branch: input.branch ?? null };
      const headSha = await createdHead(options, repository, described, input);
      // A second description is of an existing pull request: another head is a push.
      const before = await findSandboxPullRequest(cell.reader, repository.id, number);
      const isMoved = before !== null && before.headSha !== headSha;
      const headSince = isMoved ? clock.now() : (before?.headSince ?? null);
      return announceChange(
        repository,
        await saveSandboxPullRequest(cell.db, repository.id, { ...described, headSha, headSince }),
        true,
      );
    },
    pushPullRequest: async (repository, number, input) => {
      const kept = await requirePullRequest(repository, number);
      const pushed = await pushedHead(options, repository, kept, input);
      return updatePullRequest(repository, number, pushed);
    },
    reviewPullRequest: async (repository, number, { reviewer, state, commit }) => {
      const kept = await requirePullRequest(repository, number);
      await addSandboxReview(cell.db, repository.id, number, {
        reviewer,
        state,
        commit: commit ?? kept.headSha,
      });
      await announceChange(repository, kept, false);
    },
    removePullRequest: async (repository, number) => {
      const gone = { ...fresh(repository, number), state: 'missing' as const };
      await announceChange(repository, await saveSandboxPullRequest(cell.db, repository.id, gone), false);
    },
  };
}

export const pullRequestUrl = (repository: HostRepository, number: number): string =>
  `https://${repository.host}/${fullName(repository)}/pull/${number}`;

/** Null: the sandbox has none, or it was removed. */
export async function findPullRequest(
  cell: Cell,
  repository: HostRepository,
  number: number,
): Promise<SandboxPullRequest | null> {
  const kept = await findSandboxPullRequest(cell.reader, repository.id, number);
  return kept?.state === 'missing' ? null : kept;
}

/** A new pull request is open and mergeable onto main unless the script says otherwise. */
const fresh = (repository: HostRepository, number: number): SandboxPullRequest =>
  madeUp(repository, number, 'main');

/** The head that a script describes. */
async function createdHead(
  options: PullRequestOptions,
  repository: HostRepository,
  pullRequest: SandboxPullRequest,
  { files, parentSha, branch }: SandboxPullRequestInput,
): Promise<string> {
  const { disk } = options;
  if (branch !== undefined) return requireRevision(await disk.ensure(repository), branchRef(branch), branch);
  if (files === undefined) return pullRequest.headSha;
  const base = await disk.ensureBranch(repository, pullRequest.baseBranch);
  const directory = await disk.ensure(repository);
  const parent = parentSha === undefined ? base : await requireRevision(directory, parentSha, parentSha);
  if (parent === null) throw refusal(`There is no branch ${pullRequest.baseBranch}.`);
  return commitPullRequest(options, directory, pullRequest, parent, files);
}

type PushedRevision = Pick<SandboxPullRequest, 'headSha' | 'revision'>;

/** The head after a push: as given, as files on the head before, or the next revision of what was made up. */
async function pushedHead(
  options: PullRequestOptions,
  repository: HostRepository,
  kept: SandboxPullRequest,
  { sha, files }: SandboxPushInput,
): Promise<PushedRevision> {
  const { number } = kept;
  if (sha !== undefined) return { headSha: sha, revision: kept.revision };
  const revision = kept.revision + 1;
  const next = { headSha: headSha(repository, number, revision), revision };
  if (files === undefined && kept.headSha === headSha(repository, number, kept.revision)) return next;
  const directory = await options.disk.ensure(repository);
  if ((await findCommit(directory, kept.headSha)) === null) {
    if (files === undefined) return next;
    throw refusal(`The head ${kept.headSha} of #${number} is not a commit, so nothing can be built on it.`);
  }
  const changes = files ?? { [changePath(number)]: changeText(number, revision) };
  return { headSha: await commitPullRequest(options, directory, kept, kept.headSha, changes), revision };
}

/** A commit of a pull request's author; what it was opened from moves along. */
async function commitPullRequest(
  { clock }: PullRequestOptions,
  directory: string,
  { title, author, branch }: SandboxPullRequest,
  parent: string,
  files: FileChanges,
): Promise<string> {
  const sha = await commitFiles(directory, {
    parent,
    files,
    author: toGitPerson(author),
    message: title,
    at: clock.now(),
  });
  if (branch !== null) await changeRefs(directory, [{ ref: branchRef(branch), to: sha }]);
  return sha;
}

export async function requireRevision(directory: string, revision: string, shown: string): Promise<string> {
  const sha = await findCommit(directory, revision);
  if (sha === null) throw refusal(`The repository has no commit or branch ${shown}.`);
  return sha;
}

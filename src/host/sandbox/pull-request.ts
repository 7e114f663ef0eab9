// Pull requests of the sandbox, as a script makes and changes them. Every change is told, as by any host.

import type { Clock } from '#base/clock.ts';
import { appError } from '#base/error.ts';
import { fullName } from '#core/repository.ts';
import { branchRef, remotePullRef } from '#git/ref.ts';
import type { HostRepository } from '../host.ts';
import type { Announce } from './announce.ts';
import type { Ci } from './ci.ts';
import { commitFiles, type FileChanges } from './commit.ts';
import type { Disk } from './disk.ts';
import { changeRefs, findCommit } from './git.ts';
import { changePath, changeText, headSha, madeUp, personOf } from './made-up.ts';
import { pullRequestEvent } from './push.ts';
import { settingsFrom } from './setting.ts';
import type { SandboxPullRequest, SandboxReview, SandboxStore } from './store.ts';

/** What a script says of a pull request; the head in one of four ways, or made up. */
type PullRequestWish = {
  readonly facts: Partial<SandboxPullRequest>;
  /** A commit of these files on top of the base, or of `parentSha`. */
  readonly files?: FileChanges | undefined;
  readonly parentSha?: string | undefined;
  /** A branch that is there already. */
  readonly branch?: string | undefined;
};

type PushWish = { readonly sha?: string | undefined; readonly files?: FileChanges | undefined };

export type PullRequestControl = {
  readonly createPullRequest: (
    repository: HostRepository,
    number: number,
    wish: PullRequestWish,
  ) => Promise<SandboxPullRequest>;
  readonly updatePullRequest: (
    repository: HostRepository,
    number: number,
    facts: Partial<SandboxPullRequest>,
  ) => Promise<SandboxPullRequest>;
  readonly pushPullRequest: (
    repository: HostRepository,
    number: number,
    wish: PushWish,
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
  readonly store: SandboxStore;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly announce: Announce;
  readonly ci: Ci;
};

export const refusal = (message: string) => appError('SANDBOX_REFUSED', { public: message });

export function createPullRequestControl(options: PullRequestOptions): PullRequestControl {
  const { store, announce, ci, clock } = options;

  /** After a change: CI of the new head where it runs for pull requests, then the webhook. */
  const tell = async (repository: HostRepository, saved: SandboxPullRequest, isPush: boolean) => {
    const settings = settingsFrom(await store.findSettings(repository));
    if (isPush && settings.ciOn === 'all')
      await ci.start(repository, settings, { branch: remotePullRef(saved.number), sha: saved.headSha });
    const head = { sha: saved.headSha, at: (saved.headSince ?? new Date(0)).getTime() };
    const event = pullRequestEvent(repository, saved.number, isPush ? head : undefined);
    await announce(repository, settings.faults, [event]);
    return saved;
  };

  const requirePullRequest: PullRequestControl['requirePullRequest'] = async (repository, number) => {
    const kept = await findPullRequest(store, repository, number);
    if (kept !== null) return kept;
    throw appError('PULL_REQUEST_NOT_FOUND', {
      public: `Pull request #${number} of ${fullName(repository)} was removed. Make it again with /sandbox/v1/createPullRequest.`,
    });
  };

  const updatePullRequest: PullRequestControl['updatePullRequest'] = async (repository, number, facts) => {
    const kept = await requirePullRequest(repository, number);
    const isMoved = facts.headSha !== undefined && facts.headSha !== kept.headSha;
    const moved = isMoved ? { ...facts, headSince: clock.now() } : facts;
    const saved = await store.patch(repository, number, moved);
    return tell(repository, saved!, facts.headSha !== undefined);
  };

  return {
    requirePullRequest,
    updatePullRequest,
    createPullRequest: async (repository, number, wish) => {
      const described = { ...fresh(repository, number), ...wish.facts, branch: wish.branch ?? null };
      const headSha = await createdHead(options, repository, described, wish);
      // One that is described a second time has been there before: another head is a push.
      const before = (await store.find(repository, number))?.pullRequest;
      const isMoved = before !== undefined && before.headSha !== headSha;
      const headSince = isMoved ? clock.now() : (before?.headSince ?? null);
      return tell(repository, await store.save(repository, { ...described, headSha, headSince }), true);
    },
    pushPullRequest: async (repository, number, wish) => {
      const kept = await requirePullRequest(repository, number);
      const pushed = await pushedHead(options, repository, kept, wish);
      return updatePullRequest(repository, number, pushed);
    },
    reviewPullRequest: async (repository, number, { reviewer, state, commit }) => {
      const kept = await requirePullRequest(repository, number);
      await store.addReview(repository, number, { reviewer, state, commit: commit ?? kept.headSha });
      await tell(repository, kept, false);
    },
    removePullRequest: async (repository, number) => {
      const gone = { ...fresh(repository, number), state: 'missing' as const };
      await tell(repository, await store.save(repository, gone), false);
    },
  };
}

/** Null: the sandbox says that there is none. */
export async function findPullRequest(
  store: SandboxStore,
  repository: HostRepository,
  number: number,
): Promise<SandboxPullRequest | null> {
  const kept =
    (await store.find(repository, number))?.pullRequest ??
    (await store.insert(repository, fresh(repository, number)));
  return kept.state === 'missing' ? null : kept;
}

/** A new one is mergeable onto main unless told otherwise. */
const fresh = (repository: HostRepository, number: number): SandboxPullRequest =>
  madeUp({ repository, number, targetBranch: 'main' });

/** The head that a script's words make. */
async function createdHead(
  options: PullRequestOptions,
  repository: HostRepository,
  pullRequest: SandboxPullRequest,
  { files, parentSha, branch }: PullRequestWish,
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

type Pushed = Pick<SandboxPullRequest, 'headSha' | 'revision'>;

/** The head after a push: as given, as files on the head before, or the next revision of what was made up. */
async function pushedHead(
  options: PullRequestOptions,
  repository: HostRepository,
  kept: SandboxPullRequest,
  { sha, files }: PushWish,
): Promise<Pushed> {
  const { number } = kept;
  if (sha !== undefined) return { headSha: sha, revision: kept.revision };
  const revision = kept.revision + 1;
  const next = { headSha: headSha(repository, number, revision), revision };
  if (files === undefined && kept.headSha === headSha(repository, number, kept.revision)) return next;
  const directory = await options.disk.ensure(repository);
  if ((await findCommit(directory, kept.headSha)) === null) {
    if (files === undefined) return next;
    throw refusal(`The head ${kept.headSha} of #${number} is no commit: nothing can be put on it.`);
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
    author: personOf(author),
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

// What a test does to the site from behind the scenes: people, repositories, commits. Whatever people could do is done
// through the same functions as over HTTP, and told by the same webhooks.

import { join } from 'node:path';
import { runGit } from '#git/run.ts';
import { changeRefs } from '#host/sandbox/git.ts';
import { findCommit } from './known.ts';
import { newToken } from './auth.ts';
import { commitFiles, createBare, type Files } from './bare.ts';
import type { Access, Account, Installation, MergeMethod, Principal, Repository, Site } from './model.ts';
import { noticePush } from './push.ts';
import { newAccount } from './site.ts';

export function accountNamed(site: Site, login: string): Account {
  const account = site.accounts.get(login.toLowerCase());
  if (account === undefined) throw new Error(`There is nobody called ${login}.`);
  return account;
}

export const ensureAccount = (site: Site, login: string, type: Account['type']): Account =>
  site.accounts.get(login.toLowerCase()) ?? newAccount(site.nextId, site.accounts, login, type);

export function repositoryNamed(site: Site, fullName: string): Repository {
  const repository = site.repositories.get(fullName.toLowerCase());
  if (repository === undefined) throw new Error(`There is no repository ${fullName}.`);
  return repository;
}

export const personOf = (site: Site, login: string): Principal => ({
  kind: 'user',
  account: accountNamed(site, login),
});

export function installOn(site: Site, owner: string): Installation {
  const account = ensureAccount(site, owner, 'Organization');
  const known = site.installations.find((one) => one.account === account);
  if (known !== undefined) return known;
  const installation = { id: site.nextId(), app: site.app, account, createdAt: site.clock.now() };
  site.installations.push(installation);
  return installation;
}

export function uninstallFrom(site: Site, owner: string): void {
  const index = site.installations.findIndex(({ account }) => account === accountNamed(site, owner));
  if (index >= 0) site.installations.splice(index, 1);
}

export function newUser(site: Site, login: string, name: string): { login: string; token: string } {
  const account = newAccount(site.nextId, site.accounts, login, 'User', name);
  return { login, token: newToken(site, { kind: 'user', account }, 'ghp', null) };
}

export type NewRepository = {
  /** Default true. */
  readonly isPrivate?: boolean;
  /** Default `main`. */
  readonly defaultBranch?: string;
  /** The first commit. */
  readonly files?: Files;
  /** By login. */
  readonly access?: Readonly<Record<string, Access>>;
  readonly mergeMethods?: readonly MergeMethod[];
  readonly deleteBranchOnMerge?: boolean;
  /** Default `read`. */
  readonly workflowToken?: 'read' | 'write';
};

const firstFiles: Files = { 'README.md': '# A repository\n', 'ci.sh': '#!/bin/sh\nexit 0\n' };

function addRepository(
  site: Site,
  fullName: string,
  parent: Repository | null,
  options: NewRepository,
): Repository {
  const [login = '', name = ''] = fullName.split('/');
  const now = site.clock.now();
  const id = site.nextId();
  const repository: Repository = {
    id,
    owner: ensureAccount(site, login, 'Organization'),
    name,
    isPrivate: options.isPrivate ?? true,
    defaultBranch: options.defaultBranch ?? 'main',
    directory: join(site.root, `${id}.git`),
    parent,
    createdAt: now,
    pushedAt: now,
    mergeMethods: options.mergeMethods ?? ['merge', 'squash', 'rebase'],
    deleteBranchOnMerge: options.deleteBranchOnMerge ?? false,
    workflowToken: options.workflowToken ?? 'read',
    access: new Map(Object.entries(options.access ?? {}).map(([key, value]) => [key.toLowerCase(), value])),
    labels: new Map(),
    lastNumber: 0,
    pulls: new Map(),
    issues: new Map(),
    comments: new Map(),
    events: [],
    statuses: [],
    suites: [],
    runs: new Map(),
    met: new Set(),
    protections: [],
    rulesets: [],
    hooks: [],
    activities: [],
  };
  site.repositories.set(fullName.toLowerCase(), repository);
  return repository;
}

export async function newRepository(
  site: Site,
  fullName: string,
  options: NewRepository,
): Promise<Repository> {
  const repository = addRepository(site, fullName, null, options);
  const { directory, defaultBranch, owner } = repository;
  await createBare(directory, defaultBranch);
  const sha = await commitFiles(directory, {
    parent: null,
    files: options.files ?? firstFiles,
    author: owner,
    message: 'Begin',
    at: site.clock.now(),
  });
  await changeRefs(directory, [{ ref: `refs/heads/${defaultBranch}`, to: sha }]);
  return repository;
}

/** A fork has all branches of its parent. */
export async function forkRepository(site: Site, parent: Repository, owner: string): Promise<Repository> {
  const { isPrivate, defaultBranch, name } = parent;
  const fork = addRepository(site, `${owner}/${name}`, parent, { isPrivate, defaultBranch });
  await createBare(fork.directory, defaultBranch);
  const args = ['fetch', '--quiet', `file://${parent.directory}`, '+refs/heads/*:refs/heads/*'];
  await runGit({ directory: fork.directory }, { args });
  return fork;
}

export type NewCommit = {
  /** Default: the default branch. */
  readonly branch?: string;
  readonly files: Files;
  /** Default `Change <files>`. */
  readonly message?: string;
  /** A branch or a commit to begin the branch at; default: where the branch is, else the default branch. */
  readonly from?: string;
  /** Login; default: the owner. */
  readonly by?: string;
};

/** Commits and pushes, past all protection. */
export async function pushFiles(site: Site, repository: Repository, commit: NewCommit): Promise<string> {
  const { directory, defaultBranch, owner } = repository;
  const branch = commit.branch ?? defaultBranch;
  const account = commit.by === undefined ? owner : accountNamed(site, commit.by);
  const ref = `refs/heads/${branch}`;
  return site.inTurn(repository, async () => {
    const from = await findCommit(directory, ref);
    const start =
      commit.from === undefined
        ? (from ?? (await findCommit(directory, `refs/heads/${defaultBranch}`)))
        : ((await findCommit(directory, `refs/heads/${commit.from}`)) ??
          (await findCommit(directory, commit.from)));
    const to = await commitFiles(directory, {
      parent: start,
      files: commit.files,
      author: account,
      message: commit.message ?? `Change ${Object.keys(commit.files).join(', ')}`,
      at: site.clock.now(),
    });
    await moveBranch(site, repository, ref, from, to, { kind: 'user', account });
    return to;
  });
}

export async function setBranch(
  site: Site,
  repository: Repository,
  branch: string,
  to: string | null,
  principal: Principal,
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  await site.inTurn(repository, async () => {
    const from = await findCommit(repository.directory, ref);
    if (from !== to) await moveBranch(site, repository, ref, from, to, principal);
  });
}

async function moveBranch(
  site: Site,
  repository: Repository,
  ref: string,
  from: string | null,
  to: string | null,
  principal: Principal,
): Promise<void> {
  if (!(await changeRefs(repository.directory, [{ ref, from, to }])))
    throw new Error(`${ref} could not be moved.`);
  await noticePush(site, repository, [{ ref, from, to }], principal);
}

// Which queue and which pull request a command is about. What is not given is found: the repository in the variables of
// CI or in the git remote, the branch in the queues that the repository has, the pull request in what is checked out.

import { type Command, InvalidArgumentError } from 'commander';
import { ciEnvironmentOf } from '#config/ci.ts';
import { repositoryOfText } from '#config/remote-url.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import type { Api } from './api.ts';
import { readRepository } from './checkout.ts';
import { ServiceError } from './transport.ts';

export type QueuePlace = { readonly repo: RepositoryName; readonly targetBranch: string };

/** A pull request as it was typed: 7, #7, its address, which names its repository too, or . for what is checked out. */
export type TypedPullRequest = { readonly number: number | null; readonly repo: RepositoryName | null };

export function parseRepository(text: string): RepositoryName {
  const repository = repositoryOfText(text);
  if (repository === null)
    throw new InvalidArgumentError('It takes host/owner/name, for example github.com/acme/widgets.');
  return repository;
}

export function parsePullRequest(text: string): TypedPullRequest {
  if (text === '.') return { number: null, repo: null };
  const [, digits] = /^[#!]?([1-9]\d{0,9})$/.exec(text.trim()) ?? [];
  if (digits !== undefined) return { number: Number(digits), repo: null };
  const address = /^(https?:\/\/.+?)(?:\/-)?\/(?:pull|pulls|merge_requests)\/([1-9]\d{0,9})(?:[/?#].*)?$/is;
  const [, repository = '', number] = address.exec(text.trim()) ?? [];
  const repo = repositoryOfText(repository);
  if (number === undefined || repo === null)
    throw new InvalidArgumentError('It takes the number of a pull request, or its address.');
  return { number: Number(number), repo };
}

/** Adds `--repo`. */
export function withRepository(command: Command): Command {
  return command.option(
    '--repo <host/owner/name>',
    'the repository; else the one of CI or of the git remote',
    parseRepository,
  );
}

/** Adds `--repo` and `--branch`. */
export function withQueue(command: Command): Command {
  return withRepository(command).option(
    '--branch <name>',
    'the branch of the queue; else the only queue of the repository',
  );
}

export const repositoryText = ({ host, owner, name }: RepositoryName): string => `${host}/${owner}/${name}`;

export async function findRepository(
  { env, cwd }: Pick<CliContext, 'env' | 'cwd'>,
  { repo }: { readonly repo?: RepositoryName },
): Promise<RepositoryName> {
  const found = repo ?? ciEnvironmentOf(env, null).repository ?? (await readRepository(cwd));
  if (found === null)
    throw new CliError('The repository is not known here: give --repo host/owner/name.', 'usage');
  return found;
}

type Wishes = { readonly repo?: RepositoryName; readonly branch?: string };

/** `number` is of the pull request that is meant, where one is: of several queues, the one that holds it is taken. */
export async function findQueue(
  context: Pick<CliContext, 'env' | 'cwd'>,
  api: Api,
  options: Given['options'],
  number: number | null = null,
): Promise<QueuePlace> {
  const { branch, ...wishes } = options as Wishes;
  const repo = await findRepository(context, wishes);
  if (branch !== undefined) return { repo, targetBranch: branch };
  const branches = await branchesOf(api, repo);
  const [only] = branches;
  if (only !== undefined && branches.length === 1) return { repo, targetBranch: only };
  const holding = number === null ? null : await branchHolding(api, repo, number);
  if (holding !== null) return { repo, targetBranch: holding };
  const usual = branches.find((name) => name === 'main') ?? branches.find((name) => name === 'master');
  if (usual !== undefined && number === null) return { repo, targetBranch: usual };
  throw new CliError(
    branches.length === 0
      ? `${repositoryText(repo)} has no queue. Make one with: signalbox queue create --branch main`
      : `${repositoryText(repo)} has several queues: give --branch ${branches.slice(0, 10).join(' or --branch ')}.`,
    branches.length === 0 ? 'refused' : 'usage',
  );
}

const isSame = (one: RepositoryName, other: RepositoryName): boolean =>
  repositoryText(one).toLowerCase() === repositoryText(other).toLowerCase();

async function branchesOf(api: Api, repo: RepositoryName): Promise<readonly string[]> {
  try {
    const { queues } = await api.call('listQueues', { query: `${repo.owner}/${repo.name}`, take: 100 });
    return queues.filter((queue) => isSame(queue.repo, repo)).map(({ targetBranch }) => targetBranch);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'INSUFFICIENT_SCOPE')
      throw new CliError('The token may not read which queues there are: give --branch.', 'usage');
    throw error;
  }
}

/** Of the queue that it is in; else of the one that it was in last. */
async function branchHolding(api: Api, repo: RepositoryName, number: number): Promise<string | null> {
  const { pullRequests } = await api.call('searchPullRequests', { query: String(number), repo, take: 50 });
  const ended: ReadonlySet<string> = new Set(['merged', 'failed', 'cancelled']);
  const [found] = pullRequests
    .filter(({ prNumber }) => prNumber === number)
    .toSorted(
      (one, other) =>
        Number(ended.has(one.state)) - Number(ended.has(other.state)) ||
        other.stateChangedAt.localeCompare(one.stateChangedAt),
    );
  return found?.targetBranch ?? null;
}

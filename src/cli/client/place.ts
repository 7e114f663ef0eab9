// Which queue and which pull request a command is about. Missing options are detected: the repository from
// the variables of CI or the git remote, the branch from the repository's queues, the pull request from the
// checkout.

import { type Command, InvalidArgumentError } from 'commander';
import { detectCiEnvironment } from '#config/ci.ts';
import { repositoryOfText } from '#config/remote-url.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import type { Api } from './api.ts';
import { readRepository } from './checkout.ts';
import { ServiceError } from './transport.ts';

export type QueueReference = { readonly repo: RepositoryName; readonly targetBranch: string };

/** A pull request as typed: 7, #7, its URL, which names its repository too, or . for what is checked out. */
export type TypedPullRequest = { readonly number: number | null; readonly repo: RepositoryName | null };

export function parseRepository(text: string): RepositoryName {
  const repository = repositoryOfText(text);
  if (repository === null)
    throw new InvalidArgumentError(
      'It is not a repository. Use host/owner/name, for example github.com/acme/widgets.',
    );
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
    throw new InvalidArgumentError('It is not a pull request. Use its number or its URL.');
  return { number: Number(number), repo };
}

/** Adds `--repo`. */
export function withRepository(command: Command): Command {
  return command.option(
    '--repo <host/owner/name>',
    'repository (default: from CI or the git remote)',
    parseRepository,
  );
}

/** Adds `--repo` and `--branch`. */
export function withQueue(command: Command): Command {
  return withRepository(command).option(
    '--branch <name>',
    'target branch of the queue (default: the only queue of the repository)',
  );
}

export const repositoryText = ({ host, owner, name }: RepositoryName): string => `${host}/${owner}/${name}`;

export async function findRepository(
  { env, cwd }: Pick<CliContext, 'env' | 'cwd'>,
  { repo }: { readonly repo?: RepositoryName },
): Promise<RepositoryName> {
  const found = repo ?? detectCiEnvironment(env, null).repository ?? (await readRepository(cwd));
  if (found === null)
    throw new CliError('The repository is not known here. Use --repo host/owner/name.', 'usage');
  return found;
}

type QueueReferenceOptions = { readonly repo?: RepositoryName; readonly branch?: string };

/** `number`: the pull request, if one is named; of several queues, the one that holds it is used. */
export async function findQueue(
  context: Pick<CliContext, 'env' | 'cwd'>,
  api: Api,
  options: Given['options'],
  number: number | null = null,
): Promise<QueueReference> {
  const { branch, ...repositoryOptions } = options as QueueReferenceOptions;
  const repo = await findRepository(context, repositoryOptions);
  if (branch !== undefined) return { repo, targetBranch: branch };
  const branches = await listQueueBranches(api, repo);
  const [only] = branches;
  if (only !== undefined && branches.length === 1) return { repo, targetBranch: only };
  const holding = number === null ? null : await branchHolding(api, repo, number);
  if (holding !== null) return { repo, targetBranch: holding };
  const usual = branches.find((name) => name === 'main') ?? branches.find((name) => name === 'master');
  if (usual !== undefined && number === null) return { repo, targetBranch: usual };
  throw new CliError(
    branches.length === 0
      ? `${repositoryText(repo)} has no queue. Create one with: signalbox queue create --branch main`
      : `${repositoryText(repo)} has several queues. Use --branch ${branches.slice(0, 10).join(' or --branch ')}.`,
    branches.length === 0 ? 'refused' : 'usage',
  );
}

const isSame = (one: RepositoryName, other: RepositoryName): boolean =>
  repositoryText(one).toLowerCase() === repositoryText(other).toLowerCase();

async function listQueueBranches(api: Api, repo: RepositoryName): Promise<readonly string[]> {
  try {
    const { queues } = await api.call('listQueues', { query: `${repo.owner}/${repo.name}`, take: 100 });
    return queues.filter((queue) => isSame(queue.repo, repo)).map(({ targetBranch }) => targetBranch);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'INSUFFICIENT_SCOPE')
      throw new CliError('The token has no scope to list the queues. Use --branch.', 'usage');
    throw error;
  }
}

/** The branch of the queue that the pull request is in, or was in last. */
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

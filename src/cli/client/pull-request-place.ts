// Which pull request is checked out? CI names it; a checkout made from a pull request remembers it; a branch
// may be named after it; and the Git host publishes the head of every pull request as a ref, where the
// current commit is looked up.

import type { Command } from 'commander';
import { detectCiEnvironment } from '#config/ci.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import type { Api } from './api.ts';
import { git } from './checkout.ts';
import { readEvent } from './ci-event.ts';
import { findQueue, parsePullRequest, type QueueReference, type TypedPullRequest } from './place.ts';

export type PullRequestPlace = QueueReference & { readonly pr: { readonly number: number } };

/** Adds `[pr]`. */
export function withPullRequest(command: Command): Command {
  return command.argument(
    '[pr]',
    'number or URL of the pull request (default: from CI or the checkout)',
    parsePullRequest,
  );
}

export async function findPullRequest(
  context: Pick<CliContext, 'env' | 'cwd'>,
  api: Api,
  { args: [typed], options }: Given,
): Promise<PullRequestPlace> {
  const given = typed as TypedPullRequest | undefined;
  const number = given?.number ?? (await numberHere(context));
  const repo = (options['repo'] as RepositoryName | undefined) ?? given?.repo ?? undefined;
  const queueOptions = repo === undefined ? options : { ...options, repo };
  return { ...(await findQueue(context, api, queueOptions, number)), pr: { number } };
}

async function numberHere({ env, cwd }: Pick<CliContext, 'env' | 'cwd'>): Promise<number> {
  const detectedNumber = detectCiEnvironment(env, readEvent(env)).prNumber ?? (await numberOfBranch(cwd));
  if (detectedNumber !== null) return detectedNumber;
  const found = await numbersOfCommit(cwd);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new CliError(
    found.length === 0
      ? 'Which pull request? The checkout is not the head of one. Add its number.'
      : `Which pull request? The checkout is the head of several. Use ${found.slice(0, 10).join(' or ')}.`,
    'usage',
  );
}

async function numberOfBranch(cwd: string): Promise<number | null> {
  const branch = await git(cwd, 'symbolic-ref', '-q', '--short', 'HEAD');
  if (branch === null) return null;
  const upstream = (await git(cwd, 'config', '--get', `branch.${branch}.merge`)) ?? '';
  const [, digits] =
    /^refs\/(?:pull|merge-requests)\/([1-9]\d{0,9})\/head$/.exec(upstream) ??
    /^(?:pr|pull|mr)[-/]([1-9]\d{0,9})$/i.exec(branch) ??
    [];
  return digits === undefined ? null : Number(digits);
}

async function numbersOfCommit(cwd: string): Promise<readonly number[]> {
  const heads = new Set([
    await git(cwd, 'rev-parse', 'HEAD'),
    await git(cwd, 'rev-parse', '-q', '@{upstream}'),
  ]);
  const refs = await git(cwd, 'ls-remote', 'origin', 'refs/pull/*/head', 'refs/merge-requests/*/head');
  const numbers = (refs ?? '').split('\n').flatMap((line) => {
    const [sha = '', ref = ''] = line.split('\t');
    const [, digits] = /\/([1-9]\d{0,9})\/head$/.exec(ref) ?? [];
    return digits !== undefined && heads.has(sha) ? [Number(digits)] : [];
  });
  return [...new Set(numbers)];
}

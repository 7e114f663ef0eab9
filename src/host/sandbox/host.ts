// A complete host that needs no account: it holds pull requests and says of them what it was told to say. A pull
// request nobody told it about is made up on first sight, always the same for the same repository and number: open
// and mergeable onto the branch of the queue that asks.

import type { PullRequest } from '#core/queue/model.ts';
import { fullName } from '#core/repository.ts';
import { createHash } from 'node:crypto';
import type { Host, HostRepository, PullRequestQuery } from '../host.ts';
import { parseWebhook } from './webhook.ts';

/** A pull request as the sandbox keeps it; `missing`: it says that there is none. */
export type SandboxPullRequest = Omit<PullRequest, 'url' | 'state'> & {
  readonly state: PullRequest['state'] | 'missing';
};

/** Where the sandbox keeps its pull requests. */
export type SandboxStore = {
  readonly find: (repository: HostRepository, number: number) => Promise<SandboxPullRequest | null>;
  /** Keeps the given pull request unless one of that number is kept already; returns the kept one. */
  readonly insert: (
    repository: HostRepository,
    pullRequest: SandboxPullRequest,
  ) => Promise<SandboxPullRequest>;
};

export function createSandboxHost(store: SandboxStore): Host {
  return {
    kind: 'sandbox',
    repositories: 'implicit',
    readPullRequest: async (query) => {
      const { repository, number } = query;
      const kept = (await store.find(repository, number)) ?? (await store.insert(repository, madeUp(query)));
      return kept.state === 'missing' ? null : shown(repository, kept);
    },
    parseWebhook,
  };
}

function shown(repository: HostRepository, kept: SandboxPullRequest): PullRequest {
  const { state, ...pullRequest } = kept;
  return {
    ...pullRequest,
    url: `https://${repository.host}/${fullName(repository)}/pull/${kept.number}`,
    state: state === 'missing' ? 'closed' : state,
  };
}

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

const verbs = ['Add', 'Fix', 'Simplify', 'Speed up', 'Document', 'Rename', 'Remove', 'Test'];
const things = [
  'the parser',
  'retries',
  'the cache',
  'error messages',
  'pagination',
  'the scheduler',
  'time zones',
];
const authors = ['sandbox-amber', 'sandbox-birch', 'sandbox-cedar', 'sandbox-dune'];

/** The pull request of that number, as the sandbox makes it up. */
export function madeUp({ repository, number, targetBranch }: PullRequestQuery): SandboxPullRequest {
  const headSha = sha1(`${repository.host}/${fullName(repository)}#${number}`.toLowerCase());
  const pick = (list: readonly string[], offset: number) =>
    list[Number.parseInt(headSha.slice(offset, offset + 6), 16) % list.length]!;
  return {
    number,
    title: `${pick(verbs, 0)} ${pick(things, 6)}`,
    headSha,
    baseBranch: targetBranch,
    author: pick(authors, 12),
    mergeability: 'mergeable',
    draft: false,
    state: 'open',
  };
}

/** The head after a push that did not say which: follows from the head before, so that a script can repeat itself. */
export const nextHead = (headSha: string): string => sha1(`${headSha}+`);

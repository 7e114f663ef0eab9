// The latest answers of GitHub on pull requests, to save calls: a caller that has just read a pull request
// often reads its labels or merges it a moment later.

import { createTtlCache } from '#base/ttl-cache.ts';
import type { HostRepository } from '../../host.ts';
import type { GithubPullRequest } from '../schema.ts';

type PullRequestSnapshot = {
  readonly pull: GithubPullRequest;
  /** `performance.now()` before the request. */
  readonly askedAt: number;
};

export type LastRead = {
  readonly keep: (repository: HostRepository, pull: GithubPullRequest, askedAt: number) => void;
  /** Null: it was not read since `asOf` (`performance.now()`), or no instant is given. */
  readonly since: (
    repository: HostRepository,
    number: number,
    asOf: number | undefined,
  ) => GithubPullRequest | null;
};

/** Older answers are never used. */
const usedMs = 5_000;

/** `onRead` receives every answer. */
export function createLastRead(
  entriesMax: number,
  onRead: (repository: HostRepository, pull: GithubPullRequest) => void,
): LastRead {
  const kept = createTtlCache<PullRequestSnapshot>({ max: entriesMax });
  const pullRequestKey = ({ id }: HostRepository, number: number) => `${id} ${number}`;
  return {
    keep: (repository, pull, askedAt) => {
      onRead(repository, pull);
      const key = pullRequestKey(repository, pull.number);
      if ((kept.get(key)?.askedAt ?? 0) <= askedAt) kept.set(key, { pull, askedAt });
    },
    since: (repository, number, asOf) => {
      const known = kept.get(pullRequestKey(repository, number));
      if (known === undefined || asOf === undefined) return null;
      const isFresh = known.askedAt >= asOf && performance.now() - known.askedAt < usedMs;
      return isFresh ? known.pull : null;
    },
  };
}

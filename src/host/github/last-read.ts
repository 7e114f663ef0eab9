// Pull requests as GitHub answered last, so that one question of a caller costs one call: who has just read a pull request
// asks for its labels or has it merged a moment later.

import type { HostRepository } from '../host.ts';
import { createMemory } from './memory.ts';
import type { PullRequest } from './schema.ts';

type Read = {
  readonly pull: PullRequest;
  /** `performance.now()` before it was asked for. */
  readonly askedAt: number;
};

export type LastRead = {
  readonly keep: (repository: HostRepository, pull: PullRequest, askedAt: number) => void;
  /** Null: it was not read since `asOf` (`performance.now()`), or no instant is given. */
  readonly since: (
    repository: HostRepository,
    number: number,
    asOf: number | undefined,
  ) => PullRequest | null;
};

/** An answer that is older is never used. */
const usedMs = 5_000;

/** `onRead` is given every answer. */
export function createLastRead(
  entriesMax: number,
  onRead: (repository: HostRepository, pull: PullRequest) => void,
): LastRead {
  const kept = createMemory<Read>(entriesMax);
  const keyOf = ({ id }: HostRepository, number: number) => `${id} ${number}`;
  return {
    keep: (repository, pull, askedAt) => {
      onRead(repository, pull);
      const key = keyOf(repository, pull.number);
      if ((kept.get(key)?.askedAt ?? 0) <= askedAt) kept.set(key, { pull, askedAt });
    },
    since: (repository, number, asOf) => {
      const known = kept.get(keyOf(repository, number));
      if (known === undefined || asOf === undefined) return null;
      const isFresh = known.askedAt >= asOf && performance.now() - known.askedAt < usedMs;
      return isFresh ? known.pull : null;
    },
  };
}

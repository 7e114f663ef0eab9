// The mirrors of this process, one per repository, opened when first needed and kept while they are used.

import { join } from 'node:path';
import type { RepositoryId } from '#base/id.ts';
import { type Mirror, openMirror } from '#git/mirror.ts';
import type { GitRemote } from '#host/host.ts';

export type Mirrors = {
  /** The mirror of a repository; where its remote is, and what lets us in, is asked for before each use. */
  readonly open: (repositoryId: RepositoryId, remote: () => Promise<GitRemote>) => Promise<Mirror>;
  readonly close: () => Promise<void>;
};

/** Each open one may hold two processes. */
const openMax = 64;
/** Every use leaves some loose objects: after so many they are packed. */
const usesPerTidying = 500;

export function createMirrors(directory: string): Mirrors {
  // A Map keeps the order of insertion: the first is the one that was used the longest ago.
  const opened = new Map<RepositoryId, Promise<Mirror>>();
  const uses = new Map<RepositoryId, number>();
  const end = async (repositoryId: RepositoryId) => {
    const found = opened.get(repositoryId);
    opened.delete(repositoryId);
    const mirror = await found?.catch(() => undefined);
    await mirror?.close();
  };
  return {
    open: async (repositoryId, remote) => {
      const known = opened.get(repositoryId);
      const mirror = known ?? openMirror(join(directory, `${repositoryId}.git`), remote);
      opened.delete(repositoryId);
      opened.set(repositoryId, mirror);
      // One that could not be opened is tried again by whoever needs it next.
      if (known === undefined) mirror.catch(() => opened.delete(repositoryId));
      const [oldest] = opened.keys();
      if (opened.size > openMax && oldest !== undefined) await end(oldest);
      const count = (uses.get(repositoryId) ?? 0) + 1;
      uses.set(repositoryId, count % usesPerTidying);
      // Nobody waits for it, and one that fails is made up for by the next.
      if (count === usesPerTidying) mirror.then((open) => open.tidy()).catch(() => undefined);
      return mirror;
    },
    close: async () => {
      await Promise.all([...opened.keys()].map(end));
    },
  };
}

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

/** Every use leaves some loose objects: after so many they are packed. */
const usesPerTidying = 500;

export function createMirrors(directory: string): Mirrors {
  // Kept for as long as the process lives: an idle one holds no process of its own, and some kilobytes.
  const opened = new Map<RepositoryId, Promise<Mirror>>();
  const uses = new Map<RepositoryId, number>();
  return {
    open: async (repositoryId, remote) => {
      const known = opened.get(repositoryId);
      const mirror = known ?? openMirror(join(directory, `${repositoryId}.git`), remote);
      opened.set(repositoryId, mirror);
      // One that could not be opened is tried again by whoever needs it next.
      if (known === undefined) mirror.catch(() => opened.delete(repositoryId));
      const count = (uses.get(repositoryId) ?? 0) + 1;
      uses.set(repositoryId, count % usesPerTidying);
      // Nobody waits for it, and one that fails is made up for by the next.
      if (count === usesPerTidying) mirror.then((open) => open.tidy()).catch(() => undefined);
      return mirror;
    },
    close: async () => {
      await Promise.all(
        [...opened.values()].map(async (opening) => {
          const mirror = await opening.catch(() => undefined);
          await mirror?.close();
        }),
      );
    },
  };
}

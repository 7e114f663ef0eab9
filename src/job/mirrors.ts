// The mirrors of this process, opened when first needed and kept while they are used. A mirror is known by its repository
// and by the address of the remote: where a repository is served from another address, it gets another mirror, so that
// nothing is ever fetched from, or pushed to, the address of before.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryId } from '#base/id.ts';
import { type Mirror, openMirror } from '#git/mirror.ts';
import { type GitRemote, HostError } from '#host/host.ts';

export type Mirrors = {
  /** The mirror of a repository; where its remote is, and what lets us in, is asked for before each use. */
  readonly open: (repositoryId: RepositoryId, remote: () => Promise<GitRemote>) => Promise<Mirror>;
  readonly close: () => Promise<void>;
};

/** Every use leaves some loose objects: after so many they are packed. */
const usesPerTidying = 500;

/** A job waits for the first fetch of its repository as long as this; then it is put off, and the fetch continues. */
const firstFetchWaitMs = 10_000;

type Kept = {
  readonly mirror: Promise<Mirror>;
  /** As it was given last: it has the credentials of now. */
  remote: () => Promise<GitRemote>;
  uses: number;
};

export type MirrorsOptions = {
  /** Further variables of git's environment, such as those of a proxy. */
  readonly environment?: Readonly<Record<string, string>>;
};

export function createMirrors(directory: string, options: MirrorsOptions = {}): Mirrors {
  // Kept for as long as the process lives: an idle one holds no process of its own, and some kilobytes.
  const opened = new Map<string, Kept>();
  return {
    open: async (repositoryId, remote) => {
      const { url } = await remote();
      const key = `${repositoryId} ${url}`;
      const kept = opened.get(key) ?? openKept({ directory, ...options }, repositoryId, url, remote);
      kept.remote = remote;
      if (!opened.has(key)) {
        opened.set(key, kept);
        // One that could not be opened is tried again with the next use.
        kept.mirror.catch(() => opened.delete(key));
      }
      kept.uses += 1;
      // Nothing waits for it, and one that fails is made up for by the next.
      if (kept.uses % usesPerTidying === 0) kept.mirror.then((open) => open.tidy()).catch(() => undefined);
      return kept.mirror;
    },
    close: async () => {
      await Promise.all(
        [...opened.values()].map(async (kept) => {
          const mirror = await kept.mirror.catch(() => undefined);
          await mirror?.close();
        }),
      );
    },
  };
}

function openKept(
  { directory, ...options }: MirrorsOptions & { readonly directory: string },
  repositoryId: RepositoryId,
  url: string,
  remote: () => Promise<GitRemote>,
): Kept {
  const path = pathOf(directory, repositoryId, url);
  const current = async () => {
    const now = await kept.remote();
    if (now.url !== url) throw new HostError('unavailable', 'The repository has moved to another address.');
    return now;
  };
  const open = async () => {
    await adoptFormer(join(directory, `${repositoryId}.git`), path);
    return openMirror(path, current, { firstFetchWaitMs, ...options });
  };
  const kept: Kept = { mirror: Promise.resolve().then(open), remote, uses: 0 };
  return kept;
}

const pathOf = (directory: string, repositoryId: RepositoryId, url: string): string =>
  join(directory, `${repositoryId}-${createHash('sha256').update(url).digest('hex').slice(0, 16)}.git`);

/**
 * Earlier releases named a mirror by its repository alone. The objects in it are right whatever they were fetched from,
 * and its references are written with each fetch, so it is renamed rather than fetched again.
 */
async function adoptFormer(former: string, path: string): Promise<void> {
  if (!existsSync(path) && existsSync(former)) await rename(former, path).catch(() => undefined);
}

// The mirrors of this process, opened when first needed and kept while they are used. A mirror is identified
// by its repository and the URL of the remote: a repository that is served from another URL gets another
// mirror, so that nothing is ever fetched from, or pushed to, the previous URL.
//
// Mirrors are also kept within a disk budget and tidied (mirror-upkeep.ts).

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RepositoryId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import type { FetchProgress, FirstFetchPace } from '#git/mirror/first-fetch.ts';
import { type Mirror, openMirror } from '#git/mirror/mirror.ts';
import { type GitRemote, HostError } from '#host/host.ts';
import { setMark } from './mirror-disk.ts';
import {
  discardMirror,
  forget,
  type OpenMirror,
  maintainMirrors,
  makeRoom,
  type Opened,
} from './mirror-upkeep.ts';

export type Mirrors = {
  /**
   * The mirror of a repository. Its remote, with the credentials, is read before each use. The mirror counts
   * as in use until `leave` was called as often as `open`.
   */
  readonly open: (repositoryId: RepositoryId, remote: () => Promise<GitRemote>) => Promise<Mirror>;
  readonly leave: (repositoryId: RepositoryId) => void;
  /**
   * Removes the mirrors of a repository even if they are in use: current uses fail, and the next use fetches
   * again.
   */
  readonly discard: (repositoryId: RepositoryId) => Promise<void>;
  /** Removes the least recently used mirror that is not in use, whatever the budget is. */
  readonly makeRoom: () => Promise<void>;
  /**
   * Tidies mirrors that were not tidied for a day, and removes what exceeds the budget. Also runs every ten
   * minutes.
   */
  readonly maintain: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Reports about mirrors, for people and for other workers. */
export type MirrorReports = {
  readonly fetching: (repositoryId: RepositoryId, progress: FetchProgress) => void;
  readonly ready: (repositoryId: RepositoryId) => void;
  readonly removed: (repositoryId: RepositoryId) => void;
};

export type MirrorsOptions = {
  /** Further variables of git's environment, such as those of a proxy. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Most bytes of all mirrors; absent: a share of the volume. */
  readonly budgetBytes?: number | null;
  readonly firstFetchPace?: FirstFetchPace;
  /** False: new mirrors have every file. */
  readonly isPartial?: false;
  readonly log?: Log;
  readonly reports?: MirrorReports;
  /** Whether another worker has the repository. Its jobs are then left to that worker for a while. */
  readonly isElsewhere?: (repositoryId: RepositoryId) => Promise<boolean>;
};

/**
 * How long a job waits for the first fetch of its repository; then the job is delayed, and the fetch
 * continues.
 */
const firstFetchWaitMs = 10_000;
const maintainMs = 600_000;
/** The resolution of the time of the last use. */
const usedStepMs = 30_000;

export function createMirrors(directory: string, options: MirrorsOptions = {}): Mirrors {
  const opened: Opened = { kept: new Map(), removing: new Map() };
  let maintaining: Promise<void> = Promise.resolve();
  let isClosed = false;
  const maintain = () => {
    const turn = maintaining.then(() => (isClosed ? undefined : maintainMirrors(directory, opened, options)));
    maintaining = turn.catch(() => undefined);
    return turn;
  };
  const maintainLater = () => {
    maintain().catch((error: unknown) => options.log?.warn({ err: error }, 'could not maintain mirrors'));
  };
  const timer = setInterval(maintainLater, maintainMs);
  timer.unref();
  const reports: MirrorReports = {
    fetching: (id, progress) => options.reports?.fetching(id, progress),
    // The fetched data may exceed the budget.
    ready: (id) => {
      options.reports?.ready(id);
      maintainLater();
    },
    removed: (id) => options.reports?.removed(id),
  };

  return {
    open: async (repositoryId, remote) => {
      const { url } = await remote();
      const path = buildMirrorPath(directory, repositoryId, url);
      const known = opened.kept.get(path);
      // A mirror can be deleted from the disk at any time.
      if (known !== undefined && known.users === 0 && !existsSync(path)) await forget(opened, known);
      await opened.removing.get(path);
      const kept =
        opened.kept.get(path) ?? openKept({ ...options, path, reports }, repositoryId, url, remote);
      kept.remote = remote;
      if (!opened.kept.has(path)) {
        opened.kept.set(path, kept);
        // A mirror that could not be opened is opened again with the next use.
        kept.mirror.catch(() => opened.kept.delete(path));
      }
      kept.users += 1;
      const mirror = await kept.mirror;
      await markUse(kept);
      return mirror;
    },
    leave: (repositoryId) => {
      const kept = [...opened.kept.values()].find(
        (each) => each.repositoryId === repositoryId && each.users > 0,
      );
      if (kept !== undefined) kept.users -= 1;
    },
    discard: async (repositoryId) => {
      const all = [...opened.kept.values()].filter((each) => each.repositoryId === repositoryId);
      for (const kept of all) await discardMirror(opened, kept.path, reports);
    },
    makeRoom: () => makeRoom(directory, opened, options),
    maintain,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      for (const kept of opened.kept.values()) {
        const mirror = await kept.mirror.catch(() => undefined);
        await mirror?.close();
      }
      await maintaining;
    },
  };
}

async function markUse(kept: OpenMirror): Promise<void> {
  if (Date.now() - kept.markedAt < usedStepMs) return;
  kept.markedAt = Date.now();
  await setMark(kept.path, 'signalbox-used');
}

function openKept(
  options: MirrorsOptions & { readonly path: string },
  repositoryId: RepositoryId,
  url: string,
  remote: () => Promise<GitRemote>,
): OpenMirror {
  const { path, environment = {}, firstFetchPace, log, reports } = options;
  const current = async () => {
    const now = await kept.remote();
    if (now.url !== url) throw new HostError('unavailable', 'The repository has moved to another URL.');
    return now;
  };
  const progress = loggedProgress(repositoryId, log, reports);
  const open = async () => {
    await adoptFormer(join(dirname(path), `${repositoryId}.git`), path);
    const whole = () => reports?.ready(repositoryId);
    const pace = firstFetchPace === undefined ? {} : { firstFetchPace };
    const partial = options.isPartial === undefined ? {} : { isPartial: options.isPartial };
    const onFirstFetch = { progress, whole };
    const mirror = await openMirror(path, current, {
      environment,
      firstFetchWaitMs,
      onFirstFetch,
      mayFetchFirst: leftToOthers(repositoryId, options),
      ...pace,
      ...partial,
    });
    kept.isFetching = mirror.isFetching;
    if (await mirror.isWhole()) whole();
    return mirror;
  };
  const kept: OpenMirror = {
    repositoryId,
    path,
    mirror: Promise.resolve().then(open),
    remote,
    users: 0,
    isFetching: () => false,
    markedAt: 0,
  };
  return kept;
}

/** A worker that keeps getting the jobs of a repository for this long fetches it, though another worker has it. */
const leftMs = 20_000;
/** Jobs that are further apart than this do not show that the other worker is too busy. */
const apartMs = 60_000;

/** False while the jobs of the repository are left to a worker that has it. */
function leftToOthers(repositoryId: RepositoryId, { isElsewhere }: MirrorsOptions): () => Promise<boolean> {
  let since = 0;
  let before = 0;
  return async () => {
    if (isElsewhere === undefined || !(await isElsewhere(repositoryId))) return true;
    const now = Date.now();
    if (now - before > apartMs) since = now;
    before = now;
    return now - since > leftMs;
  };
}

const logEveryMs = 10_000;
const reportEveryMs = 1_000;

/** Limits the rate: progress arrives several times a second. */
function loggedProgress(
  repositoryId: RepositoryId,
  log: Log | undefined,
  reports: MirrorReports | undefined,
) {
  let loggedAt = 0;
  let reportedAt = 0;
  return (progress: FetchProgress): void => {
    const now = Date.now();
    if (now - reportedAt >= reportEveryMs) {
      reportedAt = now;
      reports?.fetching(repositoryId, progress);
    }
    if (now - loggedAt < logEveryMs) return;
    loggedAt = now;
    log?.info({ repository: repositoryId, ...progress }, 'fetching a repository for the first time');
  };
}

const buildMirrorPath = (directory: string, repositoryId: RepositoryId, url: string): string =>
  join(directory, `${repositoryId}-${createHash('sha256').update(url).digest('hex').slice(0, 16)}.git`);

/**
 * Earlier releases named a mirror by its repository alone. The objects in it are right whatever they were fetched from,
 * and its references are written with each fetch, so it is renamed rather than fetched again. Its former name leads to it:
 * a worker of the earlier release may use the same folder until it is replaced.
 */
async function adoptFormer(former: string, path: string): Promise<void> {
  if (existsSync(path) || !existsSync(former)) return;
  try {
    await rename(former, path);
    await symlink(basename(path), former);
  } catch {
    // Another worker did it, or it is fetched again.
  }
}

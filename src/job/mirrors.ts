// The mirrors of this process, opened when first needed and kept while they are used. A mirror is known by its repository
// and by the address of the remote: where a repository is served from another address, it gets another mirror, so that
// nothing is ever fetched from, or pushed to, the address of before.
//
// Beside what jobs do with them, mirrors are kept within a budget of disk space and tidied (mirror-upkeep.ts).

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RepositoryId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import type { FetchProgress, FirstFetchPace } from '#git/first-fetch.ts';
import { type Mirror, openMirror } from '#git/mirror.ts';
import { type GitRemote, HostError } from '#host/host.ts';
import { setMark } from './mirror-disk.ts';
import { discardMirror, forget, type Kept, maintainMirrors, makeRoom, type Opened } from './mirror-upkeep.ts';

export type Mirrors = {
  /**
   * The mirror of a repository; where its remote is, and what lets us in, is asked for before each use. It is in use until
   * `leave` was called as often.
   */
  readonly open: (repositoryId: RepositoryId, remote: () => Promise<GitRemote>) => Promise<Mirror>;
  readonly leave: (repositoryId: RepositoryId) => void;
  /** Removes the mirrors of a repository though they are in use: what uses them now fails, and the next use fetches again. */
  readonly discard: (repositoryId: RepositoryId) => Promise<void>;
  /** Removes the mirror that was used least recently and is not in use, whatever the budget is. */
  readonly makeRoom: () => Promise<void>;
  /** Tidies what was not tidied for a day, and removes what exceeds the budget. Done every ten minutes without a call. */
  readonly maintain: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** What is reported of mirrors, for people and for other workers. */
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
  /** Whether another worker has the repository. Its jobs are then left to that one for a while. */
  readonly isElsewhere?: (repositoryId: RepositoryId) => Promise<boolean>;
};

/** A job waits for the first fetch of its repository as long as this; then it is put off, and the fetch continues. */
const firstFetchWaitMs = 10_000;
const maintainMs = 600_000;
/** How exact the time of the last use is. */
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
    // What has just come may exceed the budget.
    ready: (id) => {
      options.reports?.ready(id);
      maintainLater();
    },
    removed: (id) => options.reports?.removed(id),
  };

  return {
    open: async (repositoryId, remote) => {
      const { url } = await remote();
      const path = pathOf(directory, repositoryId, url);
      const known = opened.kept.get(path);
      // It may have been deleted under us: a mirror can be deleted at any time.
      if (known !== undefined && known.users === 0 && !existsSync(path)) await forget(opened, known);
      await opened.removing.get(path);
      const kept =
        opened.kept.get(path) ?? openKept({ ...options, path, reports }, repositoryId, url, remote);
      kept.remote = remote;
      if (!opened.kept.has(path)) {
        opened.kept.set(path, kept);
        // One that could not be opened is tried again with the next use.
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

async function markUse(kept: Kept): Promise<void> {
  if (Date.now() - kept.markedAt < usedStepMs) return;
  kept.markedAt = Date.now();
  await setMark(kept.path, 'signalbox-used');
}

function openKept(
  options: MirrorsOptions & { readonly path: string },
  repositoryId: RepositoryId,
  url: string,
  remote: () => Promise<GitRemote>,
): Kept {
  const { path, environment = {}, firstFetchPace, log, reports } = options;
  const current = async () => {
    const now = await kept.remote();
    if (now.url !== url) throw new HostError('unavailable', 'The repository has moved to another address.');
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
  const kept: Kept = {
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
/** Jobs that are further apart than this are no sign that the other worker is too busy. */
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

/** Progress comes several times a second. */
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

const pathOf = (directory: string, repositoryId: RepositoryId, url: string): string =>
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

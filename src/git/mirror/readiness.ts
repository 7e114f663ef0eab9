// Whether a mirror is whole (first-fetch.ts), and the one fetch that makes it so. That fetch belongs to the
// mirror and not to the caller that needed it first: a caller waits for a while and then has to retry, so
// that a large repository does not block every job of a worker. It ends with the mirror.

import { setTimeout as sleep } from 'node:timers/promises';
import { GitError } from '../error.ts';
import { fetchArgs } from './fetch-args.ts';
import { refspecs } from './fetch.ts';
import { type FetchProgress, fetchWhole, type FirstFetchPace, isShallow } from './first-fetch.ts';
import { lockFirstFetch } from './first-fetch-lock.ts';
import { baseRef, branchRef } from '../ref.ts';
import { type GitSettings, runGit } from '../run.ts';

export type ReadinessOptions = {
  /** Settings with current credentials. */
  readonly online: () => Promise<GitSettings>;
  readonly local: GitSettings;
  readonly stallMs: number;
  readonly pace: FirstFetchPace;
  /** How long a caller waits for the first fetch before it has to retry. */
  readonly waitMs: number;
  /** Called before a first fetch; false: another worker has the repository, and the caller has to retry. */
  readonly mayBegin: () => Promise<boolean>;
  readonly onProgress: (progress: FetchProgress) => void;
  /** The first fetch is complete; not called for a mirror that was whole already. */
  readonly onWhole: () => void;
};

export type MirrorReadiness = {
  /** Returns when the mirror is whole, which is final. Throws `fetching` if that exceeds the wait. */
  readonly ensure: (branch: string) => Promise<void>;
  /** Without fetching anything. */
  readonly isWhole: () => Promise<boolean>;
  /** Whether the first fetch is running. */
  readonly isFetching: () => boolean;
  /** Throws `fetching` while a part of the history is missing. */
  readonly assertWhole: () => void;
  readonly close: () => Promise<void>;
};

const lockPollMs = 200;

export function createReadiness(options: ReadinessOptions): MirrorReadiness {
  const { local, waitMs } = options;
  const closing = new AbortController();
  let isWhole = false;
  let running: Promise<void> | null = null;
  let progress: FetchProgress = { percent: null, bytes: 0 };
  const report = (next: FetchProgress) => {
    progress = next;
    options.onProgress(next);
  };
  const stillFetching = () =>
    new GitError('fetching', `Fetching the repository for the first time: ${formatProgress(progress)}.`);

  const begin = (branch: string): Promise<void> => {
    running ??= runFirstFetch(options, branch, closing.signal, report).finally(() => {
      running = null;
    });
    // If no caller waits for it, the next caller sees its failure.
    running.catch(() => undefined);
    return running;
  };

  const checkHistory = async () => (isWhole ||= await hasHistory(local));

  return {
    isWhole: checkHistory,
    isFetching: () => running !== null,
    ensure: async (branch) => {
      if (await checkHistory()) return;
      if (running === null && !(await options.mayBegin()))
        throw new GitError('fetching', 'Another worker fetches this repository.');
      const isInTime = await within(begin(branch), waitMs);
      if (!isInTime) throw stillFetching();
    },
    assertWhole: () => {
      if (!isWhole && isShallow(local.directory)) throw stillFetching();
    },
    close: async () => {
      closing.abort();
      await running?.catch(() => undefined);
    },
  };
}

const formatProgress = ({ percent, bytes }: FetchProgress): string =>
  percent === null ? `${Math.round(bytes / 1_048_576)} MiB so far` : `${percent} %`;

async function hasHistory(settings: GitSettings): Promise<boolean> {
  if (isShallow(settings.directory)) return false;
  const args = ['for-each-ref', '--count=1', 'refs/signalbox/base/'];
  return (await runGit(settings, { args })).stdout.length > 0;
}

/** False if it takes longer. */
async function within(promise: Promise<void>, waitMs: number): Promise<boolean> {
  if (waitMs === Number.POSITIVE_INFINITY) return promise.then(() => true);
  const late = new AbortController();
  const timeout = sleep(waitMs, false, { signal: late.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    late.abort();
  }
}

async function runFirstFetch(
  { online, local, stallMs, pace, onWhole }: ReadinessOptions,
  branch: string,
  signal: AbortSignal,
  onProgress: (progress: FetchProgress) => void,
): Promise<void> {
  let lock = await lockFirstFetch(local.directory);
  // Another process fetches. When it has ended, the mirror is whole, or this process takes over.
  for (; lock === null; lock = await lockFirstFetch(local.directory))
    await sleep(lockPollMs, undefined, { signal });
  try {
    if (await hasHistory(local)) return;
    const settings = await online();
    const args = fetchArgs(settings.isPromised === true);
    const input = refspecs(new Map([[branchRef(branch), baseRef(branch)]]));
    await fetchWhole({ settings, args, input, stallMs, pace, signal, onProgress });
    onWhole();
  } catch (error) {
    // The branch does not exist: the next fetch reports that, and which branches do.
    if (!(error instanceof GitError) || error.kind !== 'missing') throw error;
  } finally {
    await lock.release();
  }
}

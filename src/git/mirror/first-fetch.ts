// The first fetch of a repository, which may be large and the link slow. It has no fixed end: it continues while bytes come.
//
// Definitions. A mirror is whole when it has the history of a branch from its tip to its first commit. A stage is a fetch of
// a part of the history; git records where the history ends for now in the file `shallow` of the repository.
//
// 1. git keeps nothing of a fetch that is interrupted: a pack is complete or it is deleted. So only what was fetched by a
//    fetch that ended is kept, and an interruption must not lose more than a stage (git docs, "git-fetch": --depth and
//    --deepen; the pack of each of them is complete, and the next begins where it ended).
// 2. Most repositories come within seconds in one fetch, which is the cheapest for the Git host: it can send what it has
//    packed already. So that is tried first. As soon as its progress says that it takes longer than `patienceMs`, it is
//    ended, and the history is fetched in stages, newest first.
// 3. A stage is made so long that it takes about `stageMs`. That is the most that an interruption costs, but for the first
//    stage: the newest commit comes with all that it needs. In a partial clone that is its folders, without the files.
// 4. While a mirror is not whole nothing is read from it: two commits without their common ancestor would merge to
//    something else.
//
// Example. 2 GB at 5 MB/s would take 7 minutes. After 30 s the fetch is ended; the newest commit comes in 10 s, then 16
// commits in 1 s, 64 in 3 s, 256 in 12 s, 960 in 45 s, and so on. The worker is restarted in the middle of the eighth stage. The next
// one finds `shallow`, and continues with the eighth stage.

import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Received, receivedIn } from './progress.ts';
import { type GitSettings, runGit } from '../run.ts';

export type FirstFetchPace = {
  /** Longest expected time for fetching the whole repository at once. */
  readonly patienceMs: number;
  /** How long the progress of that fetch is observed before it is used for the estimate. */
  readonly observeMs: number;
  /** About how long a stage takes. */
  readonly stageMs: number;
};

export const defaultPace: FirstFetchPace = { patienceMs: 120_000, observeMs: 30_000, stageMs: 45_000 };

/** The progress of a first fetch. */
export type FetchProgress = {
  /** Of the objects of the repository; null: unknown yet. */
  readonly percent: number | null;
  /** Received since this process started the first fetch, including interrupted fetches. */
  readonly bytes: number;
};

export type FirstFetch = {
  readonly settings: GitSettings;
  /** `git fetch` with everything but the depth, the refspecs as its input. */
  readonly args: readonly string[];
  readonly input: string;
  /** Longest time without progress. */
  readonly stallMs: number;
  readonly pace: FirstFetchPace;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FetchProgress) => void;
};

const firstStep = 16;
const shallowFile = (directory: string) => join(directory, 'shallow');
/** How many objects the whole repository has, for the progress of stages. */
const totalFile = (directory: string) => join(directory, 'first-fetch-objects');

export const isShallow = (directory: string): boolean => existsSync(shallowFile(directory));

/** Returns when the mirror is whole. What was complete before it throws is kept. */
export async function fetchWhole(first: FirstFetch): Promise<void> {
  const { directory } = first.settings;
  // A process that was killed could not remove them.
  await removeLeftovers(directory);
  try {
    await fetchInParts(first, createWatch(first));
    await rm(totalFile(directory), { force: true });
  } finally {
    await removeLeftovers(directory);
  }
}

async function fetchInParts(first: FirstFetch, watch: FetchProgressTracker): Promise<void> {
  const { directory } = first.settings;
  if (!isShallow(directory)) {
    if (await fetchAtOnce(first, watch)) return;
    await removeLeftovers(directory);
    await fetchStage(first, watch, '--depth=1');
  }
  for (let step = firstStep; isShallow(directory);) {
    const tookMs = await fetchStage(first, watch, `--deepen=${step}`);
    // At most four times as much as before: the history may be denser there.
    const factor = Math.min(4, Math.max(0.25, first.pace.stageMs / Math.max(1, tookMs)));
    step = Math.max(1, Math.round(step * factor));
  }
}

/** False if it would take too long and was interrupted. */
async function fetchAtOnce(first: FirstFetch, watch: FetchProgressTracker): Promise<boolean> {
  const { patienceMs, observeMs: observationMs } = first.pace;
  const startedAt = performance.now();
  const tooLong = new AbortController();
  const checkPace = ({ received, total, bytes }: Received): void => {
    watch.report({ received, total, bytes });
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < observationMs || received === total) return;
    if ((elapsedMs * total) / Math.max(1, received) > patienceMs) tooLong.abort();
  };
  // A Git host that has sent nothing by then is still counting the objects of a very large repository.
  const silent = setTimeout(() => tooLong.abort(), patienceMs);
  const onFirst = (received: Received) => {
    clearTimeout(silent);
    checkPace(received);
  };
  try {
    await runFetch(first, [], AbortSignal.any([first.signal, tooLong.signal]), onFirst);
    return true;
  } catch (error) {
    if (!tooLong.signal.aborted || first.signal.aborted) throw error;
    watch.endFetch();
    if (watch.total() !== null) await writeFile(totalFile(first.settings.directory), String(watch.total()));
    return false;
  } finally {
    clearTimeout(silent);
  }
}

/** Returns how long it took. */
async function fetchStage(first: FirstFetch, watch: FetchProgressTracker, depth: string): Promise<number> {
  const startedAt = performance.now();
  await watch.beginStage();
  await runFetch(first, [depth], first.signal, watch.report);
  watch.endFetch();
  return performance.now() - startedAt;
}

async function runFetch(
  { settings, args, input, stallMs }: FirstFetch,
  depth: readonly string[],
  signal: AbortSignal,
  onReceived: (received: Received) => void,
): Promise<void> {
  const [command, ...rest] = args;
  const onStderr = (text: string) => {
    const received = receivedIn(text);
    if (received !== null) onReceived(received);
  };
  const call = { args: [command!, ...depth, ...rest], input, stallMs, signal, onStderr };
  // Always as a pack: git reports the bytes of a pack that it keeps, but not of one that it unpacks.
  await runGit({ ...settings, config: [['fetch.unpackLimit', '1']] }, call);
}

type FetchProgressTracker = {
  readonly report: (received: Received) => void;
  readonly beginStage: () => Promise<void>;
  readonly endFetch: () => void;
  readonly total: () => number | null;
};

/** Computes the progress of the whole from the reports of single fetches. */
function createWatch({ settings, onProgress }: FirstFetch): FetchProgressTracker {
  let total: number | null = null;
  let objectsBefore = 0;
  let bytesBefore = 0;
  let bytesNow = 0;
  return {
    report: ({ received, total: totalNow, bytes }) => {
      bytesNow = Math.max(bytesNow, bytes);
      if (objectsBefore === 0 && total === null) total = totalNow;
      const share = total === null || total === 0 ? null : (objectsBefore + received) / total;
      const percent = share === null ? null : Math.min(99, Math.floor(share * 100));
      onProgress({ percent, bytes: bytesBefore + bytesNow });
    },
    beginStage: async () => {
      objectsBefore = await packedObjects(settings);
      const text = await readFile(totalFile(settings.directory), 'utf8').catch(() => '');
      total = text === '' ? null : Number(text);
      // A stage is never the whole repository, so its report is no total.
      if (objectsBefore === 0 && total === null) objectsBefore = Number.EPSILON;
    },
    endFetch: () => {
      bytesBefore += bytesNow;
      bytesNow = 0;
    },
    total: () => total,
  };
}

async function packedObjects(settings: GitSettings): Promise<number> {
  const { stdout } = await runGit(settings, { args: ['count-objects', '-v'] });
  return Number(/^in-pack: (\d+)$/m.exec(stdout.toString())?.[1] ?? 0);
}

/** Removes what a killed fetch left: half a pack and the lock on `shallow`. No other fetch is running. */
async function removeLeftovers(directory: string): Promise<void> {
  await rm(`${shallowFile(directory)}.lock`, { force: true });
  const packs = join(directory, 'objects', 'pack');
  const names = await readdir(packs).catch(() => []);
  for (const name of names) if (name.startsWith('tmp_')) await rm(join(packs, name), { force: true });
}

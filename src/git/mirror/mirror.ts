// A mirror: the bare repository in which Signalbox keeps the parts that it needs of one repository of a host,
// and all operations on it. It has no work tree and no branches of its own; fetched references are under
// refs/signalbox/.
//
// A mirror can be deleted at any time while it is not open: everything in it can be fetched or built again.
// Several processes may have the same mirror open.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { assert } from '#base/assert.ts';
import { hourMs } from '#base/duration.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { changedPaths } from '../changed-path.ts';
import { type Fetched, fetchInto, type FetchRequest } from './fetch.ts';
import { GitError } from '../error.ts';
import { defaultPace, type FetchProgress, type FirstFetchPace } from './first-fetch.ts';
import { listRemote } from './list-remote.ts';
import { type MergeResult, openMerger } from './merge.ts';
import { type Commit, writeLooseCommit } from '../object.ts';
import { type PushOptions, type PushResult, pushTo, type PushRefUpdate } from './push.ts';
import { fetchObjects } from './promised.ts';
import { dropPulls, pullNumbers } from './pull-ref.ts';
import { openReader, type GitObjectReader } from '../read.ts';
import { createReadiness } from './readiness.ts';
import { assertSha } from '../ref.ts';
import { assertRemote, boundedWork, type GitSettings, type Remote, runGit } from '../run.ts';

/** A function if the credential expires: it is called before each fetch, push and listing. */
export type RemoteSource = Remote | (() => Promise<Remote>);

export type MirrorOptions = {
  /**
   * Fetch files only when something reads them; only for a mirror that does not exist yet. A remote that does not allow it
   * (`uploadpack.allowFilter`) sends everything. GitHub allows it (GitHub docs, "Analyze Git traffic": "Use partial clones"),
   * and so does Gitea unless `DISABLE_PARTIAL_CLONE` is set (Gitea modules/git/config.go). Default: for a remote over http(s).
   */
  readonly isPartial?: boolean;
  /** The object format of the remote; only for a mirror that does not exist yet. Default sha1. */
  readonly objectFormat?: 'sha1' | 'sha256';
  /** Longest time for one push or listing, and of a fetch without progress if it is below 120,000. Default 300,000. */
  readonly timeoutMs?: number;
  /** How long a call waits for the first fetch before it throws `fetching`. Default: until it ends. */
  readonly firstFetchWaitMs?: number;
  readonly firstFetchPace?: FirstFetchPace;
  /** Called before the first fetch; false: `fetching` is thrown instead. Default: always true. */
  readonly mayFetchFirst?: () => Promise<boolean>;
  readonly onFirstFetch?: {
    readonly progress: (progress: FetchProgress) => void;
    readonly whole: () => void;
  };
  /** Further variables of git's environment, such as PATH or HTTPS_PROXY. */
  readonly environment?: Readonly<Record<string, string>>;
};

export type Mirror = {
  /** Where it is on disk. */
  readonly directory: string;
  readonly fetch: (request: FetchRequest) => Promise<Fetched>;
  /** Whether the first fetch of the repository is complete. Fetches nothing. */
  readonly isWhole: () => Promise<boolean>;
  /** Whether that first fetch is running. */
  readonly isFetching: () => boolean;
  /** The references of the remote that match a pattern: a whole name, or one with a `*`. */
  readonly remoteRefs: (patterns: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  readonly push: (updates: readonly PushRefUpdate[], options?: PushOptions) => Promise<PushResult>;
  readonly contains: (ancestor: string, descendant: string) => Promise<boolean>;
  readonly commit: (sha: string) => Promise<Commit>;
  readonly treeOf: (sha: string) => Promise<string>;
  readonly parentsOf: (sha: string) => Promise<readonly string[]>;
  /**
   * The commits of head that base does not have, parents before children, without merges: as `git rebase` takes them.
   * Throws `too_much` if one is larger than 1 MiB, or if there are more than 10,000.
   */
  readonly commitsBetween: (base: string, head: string) => Promise<readonly Commit[]>;
  /**
   * The commits of a branch from head back to base, without base, newest first: the first parent of each. Null: base is not
   * an ancestor of head. At most `max`.
   */
  readonly firstParents: (base: string, head: string, max: number) => Promise<readonly string[] | null>;
  /** The text of a file in a commit; null if there is none. Throws if it is larger than 1 MiB. */
  readonly readFile: (sha: string, path: string) => Promise<string | null>;
  /** The files that differ between two trees, among those that git's globs name. */
  readonly changedPaths: (
    before: string,
    after: string,
    globs: readonly string[],
  ) => Promise<readonly string[]>;
  readonly merge: (ours: string, theirs: string) => Promise<MergeResult>;
  /** Writes a commit object and returns its name. */
  readonly writeCommit: (bytes: Buffer) => Promise<string>;
  /** The numbers of the pull requests with references in the mirror. */
  readonly pullNumbers: () => Promise<readonly number[]>;
  /** Removes the references of pull requests, so that a later `tidy` can remove their objects. */
  readonly dropPulls: (numbers: readonly number[]) => Promise<void>;
  /** Packs objects and drops old candidates. Takes minutes on a large repository; run it about daily. */
  readonly tidy: () => Promise<void>;
  /** The processes that serve reads and merges now, for supervision and tests. */
  readonly processes: () => { readonly reader: number | undefined; readonly merger: number | undefined };
  readonly close: () => Promise<void>;
};

const fileBytesMax = 1024 * 1024;
/** Limits for the commits of a pull request: anyone may open one, and it must not fill the memory. */
const commitBytesMax = 1024 * 1024;
const commitsMax = 10_000;
/** Every run compares the steps of all its members, and runs share most of them. */
const comparedMax = 10_000;
/** How long unreferenced objects are kept: longer than any candidate is cached. */
const keptDays = 30;
const tidyTimeoutMs = hourMs;

/** No garbage collection during a merge: no reference holds the objects that it has just written. */
const ownConfig = `[gc]
\tauto = 0
[maintenance]
\tauto = false
[core]
\tlogAllRefUpdates = false
`;
/** A section of Signalbox, which git ignores: it selects the settings of git calls (run.ts, `isPromised`). */
const partialConfig = `[signalbox]
\tpartial = true
`;
/** A fetch that is silent for this long has failed. */
const stallMaxMs = 120_000;

export async function openMirror(
  path: string,
  remote: RemoteSource,
  options: MirrorOptions = {},
): Promise<Mirror> {
  const { timeoutMs = 300_000, environment = {} } = options;
  const directory = resolve(path);
  const current = async () => {
    const now = typeof remote === 'function' ? await remote() : remote;
    assertRemote(now);
    return { directory, remote: now, environment };
  };
  const first = await current();
  // Local operations need no credential, and fetch nothing.
  const local: GitSettings = { ...first, remote: { url: first.remote.url } };
  if (!existsSync(join(directory, 'HEAD'))) await makeMirror(local, options);
  const isPromised = (await readFile(join(directory, 'config'), 'utf8')).includes(partialConfig);
  const online = async () => ({ ...(await current()), isPromised });
  const isSha1 = (await oneLine(local, ['rev-parse', '--show-object-format'])) === 'sha1';
  const stallMs = Math.min(timeoutMs, stallMaxMs);
  const readiness = createReadiness({
    online,
    local,
    stallMs,
    pace: options.firstFetchPace ?? defaultPace,
    waitMs: options.firstFetchWaitMs ?? Number.POSITIVE_INFINITY,
    mayBegin: options.mayFetchFirst ?? (() => Promise.resolve(true)),
    onProgress: (progress) => options.onFirstFetch?.progress(progress),
    onWhole: () => options.onFirstFetch?.whole(),
  });
  const reader = openReader(local);
  const merger = isPromised ? openMerger({ ...first, isPromised }, { online }) : openMerger(local);
  const compared = createTtlCache<readonly string[]>({ max: comparedMax });
  const fetchFile = (sha: string) => online().then((settings) => fetchObjects(settings, [sha], stallMs));

  return {
    directory,
    isWhole: readiness.isWhole,
    isFetching: readiness.isFetching,
    fetch: async (request) => {
      await readiness.ensure(request.branch);
      return fetchInto({ settings: await online(), reader, timeoutMs, stallMs }, request);
    },
    remoteRefs: async (patterns) => listRemote(await online(), patterns, timeoutMs),
    push: async (updates, pushOptions = {}) => pushTo(await online(), updates, pushOptions, timeoutMs),
    ...guarded(createMirrorReads(local, reader, isPromised ? fetchFile : null), readiness.assertWhole),
    changedPaths: (before, after, globs) =>
      compared.load([before, after, ...globs].join('\0'), () => changedPaths(local, before, after, globs)),
    merge: async (ours, theirs) => {
      assertSha(ours);
      assertSha(theirs);
      readiness.assertWhole();
      return merger.merge(ours, theirs);
    },
    writeCommit: async (bytes) => {
      if (isSha1) return writeLooseCommit(directory, bytes);
      return oneLine(local, ['hash-object', '-t', 'commit', '-w', '--stdin'], bytes);
    },
    pullNumbers: () => pullNumbers(local),
    dropPulls: (numbers) => dropPulls(local, numbers),
    tidy: async () => {
      const args = ['gc', '--quiet', '--cruft', `--prune=${keptDays}.days.ago`];
      await runGit({ ...local, isPromised }, { args, timeoutMs: tidyTimeoutMs });
    },
    processes: () => ({ reader: reader.pid(), merger: merger.pid() }),
    close: async () => {
      await Promise.all([readiness.close(), reader.close(), merger.close()]);
    },
  };
}

type Reads = Pick<
  Mirror,
  'contains' | 'commit' | 'treeOf' | 'parentsOf' | 'commitsBetween' | 'firstParents' | 'readFile'
>;

/** Rejects reads while a part of the history is missing. */
function guarded(reads: Reads, assertWhole: () => void): Reads {
  const guard =
    <Args extends readonly unknown[], Result>(read: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      assertWhole();
      return read(...args);
    };
  return {
    contains: guard(reads.contains),
    commit: guard(reads.commit),
    treeOf: guard(reads.treeOf),
    parentsOf: guard(reads.parentsOf),
    commitsBetween: guard(reads.commitsBetween),
    firstParents: guard(reads.firstParents),
    readFile: guard(reads.readFile),
  };
}

/** `fetchFile`: fetches a file that the mirror lacks; null: the mirror has all files. */
function createMirrorReads(
  settings: GitSettings,
  reader: GitObjectReader,
  fetchFile: ((sha: string) => Promise<void>) | null,
): Reads {
  return {
    contains: (ancestor, descendant) => isAncestor(settings, ancestor, descendant),
    commit: reader.commit,
    treeOf: async (sha) => (await reader.commit(sha)).tree,
    parentsOf: async (sha) => (await reader.commit(sha)).parents,
    commitsBetween: async (base, head) => {
      assertSha(base);
      assertSha(head);
      const args = ['rev-list', `--max-count=${commitsMax + 1}`, '--topo-order', '--no-merges', '--reverse'];
      const { stdout } = await runGit(settings, { args: [...args, head, `^${base}`], ...boundedWork });
      const shas = stdout.toString('latin1').split('\n').filter(Boolean);
      if (shas.length > commitsMax) throw new GitError('too_much', `More than ${commitsMax} commits.`);
      return Promise.all(shas.map((sha) => boundedCommit(reader, sha)));
    },
    firstParents: async (base, head, max) => {
      if (!(await isAncestor(settings, base, head))) return null;
      const args = ['rev-list', '--first-parent', `--max-count=${max}`, head, `^${base}`];
      const { stdout } = await runGit(settings, { args, ...boundedWork });
      return stdout.toString('latin1').split('\n').filter(Boolean);
    },
    readFile: async (sha, path) => {
      assertSha(sha);
      assert(!/^\.{0,2}\/|[\n\0]/.test(path), 'a path starts at the root of the repository');
      const name = `${sha}:${path}`;
      let info = await reader.info(name);
      const promised = info === null && fetchFile !== null ? await namedObject(settings, name) : null;
      if (promised !== null) {
        await fetchFile!(promised);
        info = await reader.info(name);
      }
      if (info?.type !== 'blob') return null;
      if (info.size > fileBytesMax) throw new GitError('failed', `${path} is larger than 1 MiB.`);
      return (await reader.contents(name))?.bytes.toString('utf8') ?? null;
    },
  };
}

/** The hash that a name resolves to, even if the object is missing; null if it resolves to nothing. */
async function namedObject(settings: GitSettings, name: string): Promise<string | null> {
  const args = ['rev-parse', '--quiet', '--verify', name];
  const { stdout, exitCode } = await runGit(settings, { args, exitCodes: [0, 1, 128] });
  return exitCode === 0 ? stdout.toString('latin1').trim() : null;
}

async function boundedCommit(reader: GitObjectReader, sha: string): Promise<Commit> {
  const info = await reader.info(sha);
  if (info !== null && info.size > commitBytesMax)
    throw new GitError('too_much', `The commit ${sha} has ${info.size} bytes.`);
  return reader.commit(sha);
}

export async function isAncestor(
  settings: GitSettings,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  assertSha(ancestor);
  assertSha(descendant);
  const args = ['merge-base', '--is-ancestor', ancestor, descendant];
  return (await runGit(settings, { args, exitCodes: [0, 1] })).exitCode === 0;
}

async function oneLine(settings: GitSettings, args: readonly string[], input?: Buffer): Promise<string> {
  const { stdout } = await runGit(settings, { args, ...(input === undefined ? {} : { input }) });
  return stdout.toString('utf8').trim();
}

/** Created aside and renamed, so that a mirror is whole or absent. A second process uses the first's. */
async function makeMirror(settings: GitSettings, options: MirrorOptions): Promise<void> {
  const { objectFormat = 'sha1', isPartial = /^https?:/i.test(settings.remote?.url ?? '') } = options;
  const directory = `${settings.directory}.${randomUUID()}`;
  const aside: GitSettings = { ...settings, directory };
  await mkdir(dirname(directory), { recursive: true });
  await runGit(aside, {
    args: ['init', '--bare', '--quiet', '--template=', `--object-format=${objectFormat}`, directory],
  });
  await appendFile(join(directory, 'config'), isPartial ? ownConfig + partialConfig : ownConfig);
  try {
    await removeRemains(settings.directory);
    await rename(directory, settings.directory);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    if (!existsSync(join(settings.directory, 'HEAD'))) throw error;
  }
}

/**
 * A process that was still writing an object while its mirror was removed leaves a folder that is not a
 * repository. Renamed first: another process may be putting its mirror there.
 */
async function removeRemains(directory: string): Promise<void> {
  if (!existsSync(directory) || existsSync(join(directory, 'HEAD'))) return;
  const aside = `${directory}.${randomUUID()}.removed`;
  await rename(directory, aside);
  await rm(aside, { recursive: true, force: true });
}
